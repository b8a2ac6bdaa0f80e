"""Positive cases of whole tables for clauses that the plain cases do not show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.tables.datasets import table_case

_TWO = pa.table({"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])})


def _two_types(uri: str) -> pa.Table:
    write(_TWO, uri, data_storage_version="2.1")
    return _TWO


def _compressed_deletions(uri: str) -> pa.Table:
    """Delete five rows of 50, and compress the file that lists them."""
    rows = pa.table({"a": pa.array(range(50), pa.int64())})
    write(rows, uri, data_storage_version="2.1").delete("a >= 10 and a < 15")
    (path,) = Path(uri, "_deletions").iterdir()
    listed = pa.ipc.open_file(path.read_bytes()).read_all()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, listed.schema, options=options) as writer,
    ):
        writer.write_table(listed)
    return pa.table({"a": pa.array([*range(10), *range(15, 50)], pa.int64())})


POSITIVES: tuple[Positive, ...] = (
    table_case(
        "manifest/two-types",
        "a number and a string, each named by the manifest and the file",
        ("L.table.datafile.path", "L.table.datafile.type", "L.table.base.unique"),
        dataset(_two_types),
    ),
    table_case(
        "deletions/arrow-zstd",
        "a deletion file whose Arrow body is compressed",
        ("L.table.deletions.arrow-magic", "L.table.limits.deletions"),
        lambda: replace(dataset(_compressed_deletions)(), made_by="hand"),
        reachable=False,
    ),
)
"""Every rare positive case of tables."""
