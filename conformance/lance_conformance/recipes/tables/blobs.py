"""Cases of blob columns: descriptors, and the bytes they lead to in and beside the data file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.proto.encodings_v2_1_pb2 import REPDEF_NULLABLE_ITEM, PageLayout
from lanceref.proto.file_pb2 import FileDescriptor
from pylanceref.blob import BlobDescriptorArrayBuilder

from lance_conformance.recipes.messages import descriptor, page
from lance_conformance.recipes.model import (
    Change,
    Negative,
    Positive,
    Remove,
    SpanPatch,
)
from lance_conformance.recipes.oracle_made import dataset, file, write

_KEY = "lance-encoding:blob"

_FIELD = pa.field("b", pa.large_binary(), metadata={_KEY: "true"})

_VALUES = [b"abc", None, b"", b"z" * 70]

_STRUCT = pa.field("s", pa.struct([_FIELD, pa.field("k", pa.int32())]))

_STRUCTS = [{"b": b"abc", "k": 1}, None, {"b": None, "k": None}, {"b": b"", "k": 2}]


def _table(field: pa.Field, rows: Sequence[object]) -> pa.Table:
    return pa.table([pa.array(rows, field.type)], schema=pa.schema([field]))


def _first_kind(uri: str) -> pa.Table:
    table = _table(_FIELD, list(_VALUES))
    write(table, uri, data_storage_version="2.1")
    return table


_STORAGE = pa.struct(
    [
        ("data", pa.large_binary()),
        ("uri", pa.utf8()),
        ("position", pa.uint64()),
        ("size", pa.uint64()),
    ]
)

_THRESHOLDS = {
    "ARROW:extension:name": "lance.blob.v2",
    "lance-encoding:blob-inline-size-threshold": "3",
    "lance-encoding:blob-dedicated-size-threshold": "10",
}

_SECOND = [b"abc", b"abcdef", b"0123456789abc", None, b"", b"ghijkl"]
"""Inline, packed, dedicated, null, empty, packed."""


def second_kind(uri: str) -> pa.Table:
    rows = [None if one is None else {"data": one} for one in _SECOND]
    field = pa.field("b", _STORAGE, metadata=_THRESHOLDS)
    write(_table(field, rows), uri, data_storage_version="2.2")
    return pa.table({"b": pa.array(_SECOND, pa.large_binary())})


def _managed(uri: str) -> pa.Table:
    """Blobs in an object of the table, which a row of each data file shares."""
    Path(uri, "_blobs").mkdir(parents=True)
    Path(uri, "_blobs", "shared.blob").write_bytes(bytes(range(20)))
    builder = BlobDescriptorArrayBuilder("b")
    for start, size in ((2, 3), (10, 10), (0, 0)):
        builder.append_managed("_blobs/shared.blob", start, size)
    builder.append_null()
    builder.append_inline(b"abc")
    schema = pa.schema([builder.field], metadata={"lance.blob.managed": "true"})
    rows = pa.Table.from_arrays([builder.finish()], schema=schema)
    for mode in ("create", "append"):
        pylanceref.write_dataset(rows, uri, mode=mode, data_storage_version="2.2")
    values = [bytes(range(2, 5)), bytes(range(10, 20)), b"", None, b"abc"]
    found = pa.table({"b": pa.array(values * 2, pa.large_binary())})
    return found.replace_schema_metadata(schema.metadata)


def _file(version: str, slug: str, title: str, table: pa.Table) -> Positive:
    return Positive(
        id=f"file/{version}/blob/{slug}",
        title=title,
        clauses=(
            "L.page.blob.column",
            "L.page.blob.inner",
            "L.page.blob.null",
            "L.page.blob.payload",
        ),
        make=file(table, version),
        version=version,
    )


def _dataset(
    slug: str, title: str, version: str, clauses: tuple[str, ...], steps: Callable[[str], pa.Table]
) -> Positive:
    return Positive(
        id=f"table/any/blob/{slug}",
        title=title,
        clauses=clauses,
        make=dataset(steps),
        version=version,
        kind="read-dataset",
    )


POSITIVES = (
    _file(
        "2.1", "top", "a blob, a null, an empty blob, a longer blob", _table(_FIELD, list(_VALUES))
    ),
    _file("2.1", "struct", "blobs in structs, which can be null", _table(_STRUCT, list(_STRUCTS))),
    _file("2.2", "top", "a blob page with a wide chunk table", _table(_FIELD, list(_VALUES))),
    _dataset("first-kind", "blobs in the data file", "2.1", ("L.page.blob.payload",), _first_kind),
    _dataset(
        "second-kind",
        "blobs in the data file, in a shared file and in a file of their own",
        "2.2",
        ("L.blob.kind", "L.blob.range", "L.blob.sidecar"),
        second_kind,
    ),
    replace(
        _dataset(
            "managed",
            "blobs in an object of the table that two data files share",
            "2.2",
            ("L.blob.managed",),
            _managed,
        ),
        make=lambda: replace(dataset(_managed)(), made_by="reference"),
    ),
)


def _fault(parent: str, slug: str, title: str, clause: str, change: Change) -> Negative:
    area, version, topic, name = parent.split("/")
    return Negative(
        id=f"{area}/{version}/{topic}/neg-{name}-{slug}",
        title=title,
        clause=clause,
        parent=parent,
        change=change,
        meaning=title,
        kind="negative-file" if area == "file" else "negative-dataset",
    )


def _null_inside(message: PageLayout) -> None:
    inner = message.blob_layout.inner_layout
    inner.mini_block_layout.layers[0] = REPDEF_NULLABLE_ITEM


def _no_blob(message: FileDescriptor) -> None:
    del message.schema.fields[0].metadata[_KEY]


def _row(new: bytes, at: int) -> SpanPatch:
    return SpanPatch(("column 0 page 0", "packed rows"), new, at=at)


_TOP = "file/2.1/blob/top"
_SECOND_KIND = "table/any/blob/second-kind"
_DATA = "data/*.lance"

NEGATIVES = (
    _fault(
        _TOP,
        "level",
        "a null of a definition level that the layers do not have",
        "L.page.blob.null",
        _row(b"\2", 18),
    ),
    _fault(
        _TOP,
        "repetition",
        "a null with a repetition level and no list",
        "L.page.blob.null",
        _row(b"\1", 16),
    ),
    _fault(
        _TOP,
        "payload",
        "a blob far after the end of the file",
        "L.page.blob.payload",
        _row(b"\x40", 55),
    ),
    _fault(
        _TOP,
        "inner",
        "descriptors that can be null",
        "L.page.blob.inner",
        page(_null_inside),
    ),
    _fault(
        _TOP,
        "column",
        "a blob page for a field that is not one of blobs",
        "L.page.blob.column",
        descriptor(_no_blob),
    ),
    _fault(
        _SECOND_KIND,
        "kind",
        "a blob of an unknown kind",
        "L.blob.kind",
        SpanPatch(("column 0 page 0", "value"), b"\7", nth=1, target=_DATA),
    ),
    _fault(
        _SECOND_KIND,
        "range",
        "a blob longer than the file it shares",
        "L.blob.range",
        SpanPatch(("column 0 page 0", "value"), b"\x17", nth=1, at=9, target=_DATA),
    ),
    _fault(
        _SECOND_KIND,
        "sidecar",
        "the shared file is missing",
        "L.blob.sidecar",
        Remove("data/*/1000*.blob"),
    ),
    _fault(
        "table/any/blob/managed",
        "object",
        "the shared object of the table is missing",
        "L.blob.managed",
        Remove("_blobs/shared.blob"),
    ),
)
