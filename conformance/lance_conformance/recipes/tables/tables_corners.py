"""Cases of tables in corners: files of which not every field counts."""

from __future__ import annotations

import pyarrow as pa
from lanceref.proto.table_pb2 import DataFile, Manifest

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.messages import data_file, manifest
from lance_conformance.recipes.model import Negative, Positive
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.tables.datasets import table_case
from lance_conformance.recipes.tables.edits import table_fault
from lance_conformance.recipes.tables.files_0_1 import LEGACY

_PAIRS = pa.table({"a": pa.array([3, 1, 2], pa.int32()), "b": pa.array([7, 9, 8], pa.int32())})


def _pairs(uri: str) -> pa.Table:
    write(_PAIRS, uri, **LEGACY)
    return _PAIRS.select(["b"])


def _first_gone(message: Manifest) -> None:
    """Take the first field out of the table, and say that its column counts no longer."""
    del message.fields[0]
    message.fragments[0].files[0].fields[0] = -2


_STRUCTS = pa.table(
    {"s": pa.array([{"x": 1}, {"x": 2}], pa.struct([("x", pa.int32())])), "b": pa.array([7, 9])}
)


def _structs(uri: str) -> pa.Table:
    write(_STRUCTS, uri, data_storage_version="2.0")
    return _STRUCTS


def _without_struct(message: DataFile) -> None:
    """Forget the struct, and keep its child."""
    del message.fields[0]
    del message.column_indices[0]


POSITIVES: tuple[Positive, ...] = (
    table_case(
        "fragments/struct-2-0",
        "a 2.0 file with a struct, which has a column",
        ("L.file.schema.num-columns",),
        dataset(_structs),
        ("struct-2-0",),
        version="2.0",
        types=("struct", "int64"),
    ),
    Positive(
        id="file/0.1/container/first-gone",
        title="a file whose first column counts no longer",
        clauses=("L.legacy.page-table.first-id",),
        make=reworked(dataset(_pairs), manifest(_first_gone)),
        version="0.1",
        types=("int32",),
        features=("container-first-gone",),
        kind="read-dataset",
        reachable=False,
    ),
)
"""Every positive case of a table in a corner."""

NEGATIVES: tuple[Negative, ...] = (
    table_fault("table/any/fragments/struct-2-0", "struct-gone",
                "a struct of 2.0 without its column, whose child has one",
                "L.file.schema.num-columns", data_file(_without_struct)),
)  # fmt: skip
"""Every fault of a table in a corner."""
