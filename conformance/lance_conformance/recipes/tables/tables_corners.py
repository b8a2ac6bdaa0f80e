"""Cases of tables in corners: files of which not every field counts, faults one check sees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.proto.table_pb2 import DataFile, Manifest
from pylanceref.blob import BlobDescriptorArrayBuilder

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.messages import data_file, fragment, manifest, setting
from lance_conformance.recipes.model import Negative, Positive
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.tables.datasets import table_case
from lance_conformance.recipes.tables.edits import table_fault
from lance_conformance.recipes.tables.files_0_1 import LEGACY

_SECOND = "_versions/18446744073709551613.manifest"
"""The manifest of the second version."""

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


_ONE = pa.table({"a": pa.array([7, 9, 8], pa.int32())})


def _plain(uri: str) -> pa.Table:
    write(_ONE, uri, data_storage_version="2.1")
    return _ONE


def _weekly(message: Manifest) -> None:
    message.writer_version.version = "weekly.build"


def _unflagged(message: Manifest) -> None:
    message.reader_feature_flags &= ~256
    message.writer_feature_flags &= ~256


def _no_bytes(uri: str) -> pa.Table:
    """A blob of an object, and one of no byte, for which no object is there."""
    Path(uri, "_blobs").mkdir(parents=True)
    Path(uri, "_blobs", "some.blob").write_bytes(b"_abc_")
    builder = BlobDescriptorArrayBuilder("b")
    builder.append_managed("_blobs/some.blob", 1, 3)
    builder.append_managed("_blobs/none.blob", 0, 0)
    schema = pa.schema([builder.field], metadata={"lance.blob.managed": "true"})
    rows = pa.Table.from_arrays([builder.finish()], schema=schema)
    pylanceref.write_dataset(rows, uri, data_storage_version="2.2")
    found = pa.table({"b": pa.array([b"abc", b""], pa.large_binary())})
    return found.replace_schema_metadata(schema.metadata)


POSITIVES: tuple[Positive, ...] = (
    replace(
        table_case(
            "blob/managed-nothing",
            "a blob of no byte, whose object is not there",
            ("L.blob.range",),
            dataset(_no_bytes),
            version="2.2",
        ),
        make=lambda: replace(dataset(_no_bytes)(), made_by="reference"),
    ),
    table_case(
        "manifest/weekly",
        "a manifest of a writer whose version is no number",
        ("L.table.datafile.once", "L.table.fragments.ids"),
        reworked(dataset(_plain), manifest(_weekly)),
        reachable=False,
    ),
    table_case(
        "fragments/struct-2-0",
        "a 2.0 file with a struct, which has a column",
        ("L.file.schema.num-columns",),
        dataset(_structs),
        version="2.0",
    ),
    Positive(
        id="file/0.1/container/first-gone",
        title="a file whose first column counts no longer",
        clauses=("L.legacy.page-table.first-id",),
        make=reworked(dataset(_pairs), manifest(_first_gone)),
        version="0.1",
        kind="read-dataset",
        reachable=False,
    ),
)
"""Every positive case of a table in a corner."""

NEGATIVES: tuple[Negative, ...] = (
    table_fault("table/any/fragments/struct-2-0", "struct-gone",
                "a struct of 2.0 without its column, whose child has one",
                "L.file.schema.num-columns", data_file(_without_struct)),
    table_fault("table/any/deletions/arrow", "rows-deleted",
                "more rows than the file has, of which some are deleted", "L.table.fragments.rows",
                fragment(setting(physical_rows=11), _SECOND)),
    table_fault("table/any/fragments/mixed-versions", "mixed-unflagged",
                "files of 2.1 and 2.2 without the flag for several versions",
                "L.table.datafile.version", manifest(_unflagged, _SECOND)),
)  # fmt: skip
"""Every fault of a table in a corner."""
