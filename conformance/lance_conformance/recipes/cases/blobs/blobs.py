"""Cases of blobs: descriptors, payloads, files of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.blobs.descriptors import INLINE, MANAGED, PREPARED
from lanceref.file.schema import BLOB_EXTENSION, EXTENSION_KEY
from lanceref.proto.encodings_v2_1_pb2 import REPDEF_NULLABLE_ITEM, RepDefLayer
from pylanceref.file import LanceFileReader

from lance_conformance.recipes.constructors import case, cases, fault, lint
from lance_conformance.recipes.edits import byte, descriptor, field, page
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.model import DATA, Input, Maker, Recipe, Remove, SpanPatch
from lance_conformance.recipes.oracle_files import column, dataset, file, stored
from lance_conformance.recipes.pages import column_encoding

_FIELD = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
_VALUES = [b"abc", None, b"", b"z" * 70]
_STRUCT = pa.field("s", pa.struct([_FIELD, pa.field("k", pa.int32())]))
_STRUCTS = [{"b": b"abc", "k": 1}, None, {"b": None, "k": None}]
_PAGES = tuple(f"L.page.blob.{name}" for name in ("column", "inner", "null", "payload"))


def _table(field: pa.Field, rows: Sequence[object]) -> pa.Table:
    return pa.table([pa.array(rows, field.type)], schema=pa.schema([field]))


_STORAGE = pa.struct([("data", pa.large_binary()), ("uri", pa.utf8()), ("position", pa.uint64()),
        ("size", pa.uint64())])  # fmt: skip

_THRESHOLDS = {"ARROW:extension:name": "lance.blob.v2",
    "lance-encoding:blob-inline-size-threshold": "3",
    "lance-encoding:blob-dedicated-size-threshold": "10"}  # fmt: skip

_SECOND = [b"abc", b"abcdef", b"0123456789abc", None, b"", b"ghijkl"]
"""Inline, packed, dedicated, null, empty, packed."""


_KINDS = stored(_table(pa.field("b", _STORAGE, metadata=_THRESHOLDS),
        [None if one is None else {"data": one} for one in _SECOND]),
    holds=pa.table({"b": pa.array(_SECOND, pa.large_binary())}), version="2.2")  # fmt: skip


def _prepared(rows: Sequence[dict[str, object] | None]) -> pa.Table:
    """Return a table of blobs that are stored before their rows, in objects of the table."""
    field = pa.field("b", PREPARED, metadata={EXTENSION_KEY: BLOB_EXTENSION})
    schema = pa.schema([field], metadata={"lance.blob.managed": "true"})
    return pa.Table.from_arrays([pa.array(rows, PREPARED)], schema=schema)


def _object(uri: str, start: int, size: int) -> dict[str, object]:
    return {"kind": MANAGED, "uri": uri, "position": start, "blob_size": size}


def _managed(uri: str) -> pa.Table:
    """Blobs in an object of the table, which a row of each data file shares."""
    Path(uri, "_blobs").mkdir(parents=True)
    Path(uri, "_blobs", "shared.blob").write_bytes(bytes(range(20)))
    shared = [_object("_blobs/shared.blob", *span) for span in ((2, 3), (10, 10), (0, 0))]
    rows = _prepared([*shared, None, {"kind": INLINE, "data": b"abc"}])
    for mode in ("create", "append"):
        pylanceref.write_dataset(rows, uri, mode=mode, data_storage_version="2.2")
    values = [bytes(range(2, 5)), bytes(range(10, 20)), b"", None, b"abc"]
    found = pa.table({"b": pa.array(values * 2, pa.large_binary())})
    return found.replace_schema_metadata(rows.schema.metadata)


def _row(new: bytes, at: int) -> SpanPatch:
    return SpanPatch(("column 0 page 0", "packed rows"), new, at=at)


_BLOB = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
_PAIRS = pa.list_(pa.struct([_BLOB.with_name("b")]), 2)


def _blob_pairs() -> Maker:
    rows = [[{"b": bytes([65 + at]) * at}, {"b": b"z" * (5 - at)}] for at in range(4)]
    table = pa.table([pa.array(rows, _PAIRS)], schema=pa.schema([pa.field("c", _PAIRS)]))
    return lambda: Input(file(table, "2.2")().files, table.take([2]))


def _described() -> Input:
    """Take the data file of a table of blobs by itself, and its last descriptors."""
    (data,) = (data for name, data in _KINDS().files.items() if name.endswith(".lance"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, DATA)
        path.write_bytes(data)
        rows = LanceFileReader(path).take_rows([2, 3]).to_table()
    return Input({DATA: data}, rows)


def _objects(uri: str, *paths: str, rows: Sequence[dict[str, object]]) -> pa.Table:
    """Write five bytes at each path, and rows of the three in the middle of them, or of none."""
    for path in paths:
        Path(uri, path).parent.mkdir(parents=True, exist_ok=True)
        Path(uri, path).write_bytes(b"_abc_")
    table = _prepared(rows)
    pylanceref.write_dataset(table, uri, data_storage_version="2.2")
    values = [b"abc" if row["blob_size"] else b"" for row in rows]
    found = pa.table({"b": pa.array(values, pa.large_binary())})
    return found.replace_schema_metadata(table.schema.metadata)


def _folder(name: bytes) -> SpanPatch:
    """Name another folder in the path of the object."""
    return SpanPatch(("column 0 page 0", "value"), lambda old: old.replace(b"aa", name),
        target="data/*.lance")  # fmt: skip


CASES: tuple[Recipe, ...] = (
    case("file/2.1/blob/top", "a blob, a null, an empty blob, a longer blob",
        _PAGES, _table(_FIELD, list(_VALUES))),
    fault("level", "a null of a definition level that the layers do not have", "L.page.blob.null",
        _row(b"\x02", 18)),
    fault("repetition", "a null with a repetition level and no list", "L.page.blob.null",
        _row(b"\x01", 16)),
    fault("payload", "a blob far after the end of the file", "L.page.blob.payload", _row(b"@", 55)),
    fault("inner", "descriptors that can be null", "L.page.blob.inner",
        page({"blob_layout.inner_layout.mini_block_layout.layers.0": REPDEF_NULLABLE_ITEM})),
    fault("column", "a blob page for a field that is not one of blobs", "L.page.blob.column",
        descriptor({"schema.fields.0.metadata.lance-encoding:blob": None})),
    fault("lists", "blobs below a list", "L.page.layers.path",
        page({"blob_layout.layers": lambda old: [*old, RepDefLayer.REPDEF_NULLABLE_LIST]})),
    fault("numbers", "blobs in a column of numbers", "L.page.blob.column",
        field(0, logical_type="int32")),
    case("file/2.1/blob/struct", "blobs in structs, which can be null",
        _PAGES, _table(_STRUCT, [*_STRUCTS, {"b": b"", "k": 2}])),
    case("file/2.1/blob/layers", "pages with nulls in no layer, in both, in that of blobs",
        _PAGES, file(_table(_STRUCT, [_STRUCTS[0], *_STRUCTS, *_STRUCTS[::-2]]), "2.1", batches=3)),
    case("file/2.2/blob/top", "a blob page with a wide chunk table",
        _PAGES, _table(_FIELD, list(_VALUES))),
    fault("payload", "a blob that ends after the data", "L.page.blob.payload",
        byte("field b", "packed rows", at=9, new=0xFF)),
    case("file/2.0/blob/bytes", "blobs: bytes, null, empty, more bytes, outside of the page",
        ("L.array.blob.column", "L.array.blob.null", "L.array.blob.payload"),
        column(pa.array([b"abc", None, b"", b"z" * 70], pa.large_binary()), blob="true")),
    fault("same-place", "a second blob where the first is", "L.array.blob.order",
        byte("field c", "rows", at=48, new=0)),
    fault("one-byte", "a second blob, of one byte, where the first is", "L.array.blob.order",
        SpanPatch(("field c", "rows"), words(0, 1), at=48)),
    fault("values", "blobs described as plain values", "L.array.blob.column",
        column_encoding("values"), flags="WrongKind"),
    fault("null", "a blob of no bytes at position 2", "L.array.blob.null",
        byte("field c", "rows", at=32, new=2), flags="NullWhereNone"),
    fault("order", "a first blob after the last", "L.array.blob.order",
        byte("field c", "rows", at=0, new=100), flags="OffsetsNotMonotonic"),
    fault("payload", "a blob of 2**40 bytes", "L.array.blob.payload",
        byte("field c", "rows", at=13, new=1), flags="BlobSizeHuge"),
    fault("type", "blobs in a column of strings", "L.array.blob.column",
        field(0, logical_type="string"), flags="WidthMismatch"),
    case("file/2.2/blob/pairs", "one row of two blobs each",
        ("L.page.layout.scale", "L.page.blob.payload"), _blob_pairs(), args={"rows": [2]}),
    case("file/2.0/blob/one", "a single blob, of bytes that padding has", "L.array.blob.column",
        pa.table([pa.array([b"HHH"], pa.large_binary())], schema=pa.schema([_BLOB]))),
    fault("payload", "the first blob, of 2**40 bytes", "L.array.blob.payload",
        byte("field c", "rows", at=13, new=1)),
    case("file/2.2/blob/pairs-ranges", "rows of two blobs each, one after the other",
        ("L.page.layout.scale", "L.page.blob.payload"), pa.table(
            [pa.array([[{"b": bytes([65 + at]) * at}, {"b": b"y" * (7 - at)}] for at in range(6)],
                    _PAIRS)], schema=pa.schema([pa.field("c", _PAIRS)]))),
    *cases("file/{2.1,2.2}/blob/never-null", "blobs of which none is null", "L.page.blob.payload",
        column(pa.array([b"ab", b"", b"c" * 9], pa.large_binary()), blob="true")),
    case("file/2.2/blob/described", "descriptors of blobs, as the data file has them",
        "L.blob.kind", _described, args={"rows": ["2", "3"]}),
    lint("kind-next", "a blob of the kind after the last", "L.blob.kind",
        SpanPatch(("column 0 page 0", "value"), b"\x06")),
    lint("range", "a blob in the data file that ends after it", "L.blob.range",
        SpanPatch(("column 0 page 0", "value"), b"\x01", at=14)),
    case("file/2.2/blob/described-nothing", "an empty blob at a position after the file",
        "L.blob.range",
        edited(_described, SpanPatch(("column 0 page 0", "value"), b"\x01", nth=3, at=6)),
        args={"rows": ["2", "3"]}),
    case("table/any/blob/first-kind", "blobs in the data file", "L.page.blob.payload",
        stored(_table(_FIELD, list(_VALUES)))),
    case("table/any/blob/first-kind-2-0", "blobs in a data file of 2.0, one of them null",
        "L.array.blob.null", stored(_table(_FIELD, list(_VALUES)), version="2.0")),
    case("table/any/blob/second-kind",
        "blobs in the data file, in a shared file and in a file of their own",
        ("L.blob.kind", "L.blob.range", "L.blob.sidecar"),
        _KINDS),
    fault("second-kind-kind", "a blob of an unknown kind", "L.blob.kind",
        SpanPatch(("column 0 page 0", "value"), b"\x07", nth=1, target="data/*.lance")),
    fault("second-kind-range", "a blob longer than the file it shares", "L.blob.range",
        SpanPatch(("column 0 page 0", "value"), b"\x17", nth=1, at=9, target="data/*.lance")),
    fault("second-kind-sidecar", "the shared file is missing", "L.blob.sidecar",
        Remove("data/*/1000*.blob")),
    case("table/any/blob/managed", "blobs in an object of the table that two data files share",
        "L.blob.managed", dataset(_managed, by="reference")),
    fault("managed-object", "the shared object of the table is missing", "L.blob.managed",
        Remove("_blobs/shared.blob")),
    case("table/any/blob/managed-nothing", "a blob of no byte, whose object is not there",
        "L.blob.range", dataset(
            lambda uri: _objects(uri, "_blobs/some.blob", rows=[_object("_blobs/some.blob", 1, 3),
                    _object("_blobs/none.blob", 0, 0)]), by="reference")),
    fault("managed-first", "a first blob longer than its object", "L.blob.range",
        SpanPatch(("column 0 page 0", "value"), b"\x09", at=9, target="data/*.lance")),
    fault("managed-base", "a blob of a base that is not there", "L.table.base.resolves",
        SpanPatch(("column 0 page 0", "value"), b"\x05", target="data/*.lance")),
    case("table/any/blob/managed-below", "a blob in an object of a folder below", "L.blob.managed",
        dataset(lambda uri: _objects(uri, "_blobs/aa/some.blob", "_blobs/some.blob", "some.blob",
                rows=[_object("_blobs/aa/some.blob", 1, 3)]), by="reference")),
    fault("managed-same", "a path of which one name is a point", "L.blob.managed", _folder(b"./")),
    fault("managed-above", "a path of which one name is two points", "L.blob.managed",
        _folder(b"..")),
)  # fmt: skip
