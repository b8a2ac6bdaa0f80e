"""Tables with indices, and what both ways of reading them find."""

from __future__ import annotations

from pathlib import Path

import lanceref
import pyarrow as pa


def write(table: pa.Table, root: Path, **options) -> lanceref.LanceDataset:
    """Write a table to a new folder."""
    return lanceref.write_dataset(table, root / "t", **options)


def ids(dataset, condition: str, **scan) -> list[int]:
    """Return the row ids that a filter finds."""
    return dataset.to_table(filter=condition, columns=[], with_row_id=True, **scan)[
        "_rowid"
    ].to_pylist()


def asked(dataset: lanceref.LanceDataset, condition: str) -> bool:
    """Return whether a filter asks an index."""
    return "ScalarIndexQuery" in dataset.scanner(filter=condition).explain_plan()


def assert_same(dataset: lanceref.LanceDataset, conditions) -> None:
    """Every filter must ask an index and find what a scan without one finds."""
    for condition in conditions:
        assert asked(dataset, condition), condition
        found = ids(dataset, condition)
        assert found == ids(dataset, condition, use_scalar_index=False), condition


def index_reads(dataset: lanceref.LanceDataset, condition: str) -> int:
    """Return the bytes that a fresh look through the index reads."""
    opened = lanceref.dataset(dataset.uri)
    opened.io_stats_incremental()
    opened.to_table(filter=condition, columns=[], with_row_id=True)
    return opened.io_stats_incremental().read_bytes
