"""The 0.1 part of the differential campaign: whole tables, and files byte for byte.

0.1 files come only from `write_dataset`. They lose nulls, so what the oracle reads back decides,
not what was written; where the oracle cannot read what it wrote, only the bytes are compared.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref.file.arrow_schema import schema_of
from lanceref.file_0_1.writer import LegacyWriter
from lanceref.proto import table_pb2
from lanceref.storage.local_file import LocalSink
from lanceref.validate import validate
from lanceref_testing import Sample

from lance_conformance.oracle import lance
from lance_conformance.random_files.readings import dataset_differences
from lance_conformance.random_files.settled import settled

GROUP_ROWS = (7, 64, 1024, 3000)
"""Rows of a batch."""


def legacy_differences(sample: Sample, path: Path, seed: int) -> tuple[str | None, list[str]]:
    """Let the oracle write a sample as a table at `path`; return why it did not, or what differs.

    Differences: rows, ranges and columns of the reference's reading against the oracle's, findings
    of a deep validation, and the first byte that the reference would write otherwise.
    """
    rows = Random(seed).choice(GROUP_ROWS)
    table = settled(sample.table)
    try:
        lance().write_dataset(
            table, str(path), data_storage_version="legacy", max_rows_per_group=rows
        )
    except (OSError, ValueError, RuntimeError) as error:
        return str(error)[:200], []
    if not table.num_rows:
        return None, []
    told = [f"validate: {finding.message}" for finding in validate(path, deep=True)]
    told += _byte_differences(table, path, rows)
    theirs = _read_back(path)
    if theirs is not None:
        told += dataset_differences(path, theirs, Random(seed))
    return None, told


def _byte_differences(table: pa.Table, path: Path, rows: int) -> list[str]:
    """Write the table with the reference, signed as the oracle signs, and compare the files."""
    (data,) = (path / "data").iterdir()
    ours, theirs = path / "ours.lance", data.read_bytes()
    signature = table_pb2.Manifest.WriterVersion(library="lance", version=lance().__version__)
    try:
        sink = LocalSink(str(ours))
        writer = LegacyWriter(sink, schema_of(table.schema), rows, writer=signature)
        for batch in table.to_batches():
            writer.write_batch(batch)
        writer.finish()
        sink.close()
    except LanceError as error:
        return [f"not written: {type(error).__name__}: {error}"]
    written = ours.read_bytes()
    if written == theirs:
        return []
    shorter = min(len(written), len(theirs))
    at = next((i for i in range(shorter) if written[i] != theirs[i]), shorter)
    return [f"the file differs at byte {at} of {len(theirs)}"]


def _read_back(path: Path) -> pa.Table | None:
    """Return what the oracle reads, None when it cannot (D.legacy.written-not-read)."""
    try:
        read = lance().dataset(str(path)).to_table()
    except (OSError, ValueError, RuntimeError):
        return None
    assert isinstance(read, pa.Table)
    return read
