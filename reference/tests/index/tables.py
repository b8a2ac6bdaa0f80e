"""Tables with indices, and what both ways of reading them find."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pylanceref

QUESTIONS = int(os.environ.get("LANCEREF_QUESTIONS", "60"))
"""How many conditions are asked in each step of an index; `nox -s indices` asks more."""


def write(table: pa.Table, root: Path, **options) -> pylanceref.LanceDataset:
    """Write a table to a new folder."""
    return pylanceref.write_dataset(table, root / "t", **options)


def ids(dataset, condition: str, **scan) -> list[int]:
    """Return the row ids that a filter finds."""
    return dataset.to_table(filter=condition, columns=[], with_row_id=True, **scan)[
        "_rowid"
    ].to_pylist()


def asked(dataset: pylanceref.LanceDataset, condition: str) -> bool:
    """Return whether a filter asks an index."""
    return "ScalarIndexQuery" in dataset.scanner(filter=condition).explain_plan()


def scanned(dataset, conditions: Sequence[str]) -> list[list[int]]:
    """Return of each condition the row ids for which it is true, from one look at all rows."""
    columns = {f"holds{number}": condition for number, condition in enumerate(conditions)}
    table = dataset.to_table(columns=columns, with_row_id=True)
    rows = table["_rowid"]
    found = [table[name] for name in columns]  # a match is a list of groups, null without one
    masks = [one if pa.types.is_boolean(one.type) else one.is_valid() for one in found]
    return [rows.filter(mask).to_pylist() for mask in masks]


def assert_found(dataset: pylanceref.LanceDataset, conditions: Iterable[str]) -> None:
    """Every filter must find the rows for which it is true; the first also without an index."""
    asking = list(conditions)
    for condition, expected in zip(asking, scanned(dataset, asking), strict=True):
        assert ids(dataset, condition) == expected, condition
    assert ids(dataset, asking[0], use_scalar_index=False) == ids(dataset, asking[0])


def index_reads(dataset: pylanceref.LanceDataset, condition: str) -> int:
    """Return the bytes that a fresh look through the index reads."""
    opened = pylanceref.dataset(dataset.uri)
    opened.io_stats_incremental()
    opened.to_table(filter=condition, columns=[], with_row_id=True)
    return opened.io_stats_incremental().read_bytes
