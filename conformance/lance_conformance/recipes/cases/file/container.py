"""Cases of the container: footer, tables, descriptor, schema, pages."""

from __future__ import annotations

import pyarrow as pa
from google.protobuf.any_pb2 import Any as AnyMessage

from lance_conformance.recipes import edits
from lance_conformance.recipes.columns import take
from lance_conformance.recipes.constructors import case, cases, fault, faults, lint
from lance_conformance.recipes.edits import add, byte, column_edit, descriptor, field, inside
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.model import Input, MessageEdit, Recipe, Resize, SpanPatch
from lance_conformance.recipes.oracle_files import column, file

_ROWS = pa.array([1, None, 3], pa.int32())
_TWO = pa.table({"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])})

_NESTED = pa.table({"lists": pa.array([[1, 2], None, [3]], pa.list_(pa.int32())),
        "texts": pa.array(["a", None, "c"]), "numbers": pa.array([1, None, 3], pa.int32()),
        "vectors": pa.array([[1.0, 2.0]] * 3, pa.list_(pa.float32(), 2)),
        "keys": pa.array(["x", "y", "x"]).dictionary_encode(),
        "structs": pa.array([{"a": 1, "b": [True]}, {"a": 2, "b": []}, {"a": 3, "b": None}]),
        "flags": pa.array([True, None, False])})  # fmt: skip

_LATER = bytes.fromhex(
    "c53e 01020304"  # 1000: four bytes
    "c93e 0102030405060708"  # 1001: eight bytes
    "d23e 03616263"  # 1002: three bytes after their number
    "d83e ffffffffffffffffff01"  # 1003: the longest number
)
"""Fields that no descriptor has, of every wire type."""

_UNEVEN = {"widths": pa.array([i % 4 if i < 200 else i * 7919 for i in range(299)], pa.int32()),
    "nulls": pa.array([None if i // 100 == i % 3 == 1 else i for i in range(299)], pa.int32()),
    "lists": pa.array([[i] * (i % 4) or ([] if i < 100 else None) for i in range(299)],
        pa.list_(pa.int16())),
    "chunks": pa.array([f"{i * 7919}" * (15 if i // 100 == 1 else 1) for i in range(299)]),
    "keys": pa.array([f"{i // 100} {i % 5}" for i in range(299)])}  # fmt: skip


def _key(kind: str) -> pa.Field:
    """Return a field that is a key of the table which nobody enforces."""
    word = f"lance-schema:unenforced-{kind}-key"
    return pa.field("k", pa.int64(), False, {word: "true", f"{word}:position": "1"})


def _footer(word: str, new: int) -> SpanPatch:
    return SpanPatch(("footer", word), new)


def _more(parent: int) -> dict[str, object]:
    """Return a third field, of numbers, with its parent."""
    values = {"name": "z", "id": 2, "parent_id": parent, "logical_type": "int8"}
    return {f"schema.fields.2.{path}": value for path, value in values.items()}


def _encoding(path: str, value: object) -> MessageEdit:
    """Change the message around the encoding of the first page."""
    change = inside(AnyMessage, {path: value})
    return column_edit({"pages.0.encoding.direct.encoding": change})


CASES: tuple[Recipe, ...] = (
    case("file/2.0/container/footer-2-0", "the footer of a 2.0 file says 0, 3",
        ("L.file.footer.version-2-0", "L.file.footer.magic", "L.file.footer.size"), _ROWS),
    case("file/2.1/container/footer-2-1", "the footer of a 2.1 file says 2, 1",
        ("L.file.footer.version", "L.file.footer.num-columns", "L.file.footer.num-global-buffers"),
        _ROWS),
    case("file/2.1/container/two-columns",
        "two columns: metadata in column order, tables and footer after them", ("L.file.cmo.entry",
            "L.file.columns.order", "L.file.columns.message", "L.file.schema.num-columns"), _TWO),
    case("file/2.2/container/starts", "column metadata, tables and footer touch",
        ("L.file.footer.column-metadata-start", "L.file.footer.cmo-start",
            "L.file.footer.gbo-start"), _TWO),
    case("file/2.1/container/user-global-buffers",
        "two global buffers of the application before the descriptor",
        ("L.file.gbo.entry", "L.file.globals.descriptor", "L.file.alignment.buffers"),
        file(column(_ROWS), "2.1", global_buffers=(b"one", bytes(range(100))))),
    case("file/2.1/container/schema-metadata", "metadata of the schema",
        "L.file.globals.descriptor",
        file(column(_ROWS), "2.1", schema_metadata={"team": "conformance"})),
    case("file/2.1/container/extension-name",
        "an extension type: its name lies in the field and in its metadata",
        ("L.file.schema.extension-name", "L.file.schema.logical-type"),
        pa.Table.from_arrays([pa.array([bytes(16), None], pa.binary(16))], schema=pa.schema(
                [pa.field("u", pa.binary(16), metadata={"ARROW:extension:name": "arrow.uuid"})]))),
    case("file/2.1/container/unknown-fields",
        "a descriptor with fields of later writers: numbers and bytes",
        ("L.wire.unknown-field", "L.wire.message"), edited(file(column(_ROWS), "2.1"),
            descriptor(lambda message: message.MergeFromString(_LATER)))),
    case("file/2.1/container/no-rows", "no rows: columns without pages",
        ("L.file.descriptor.length", "L.file.columns.encoding"), pa.array([], pa.int32())),
    case("file/2.1/container/nested-schema", "parents before children, one column a leaf",
        ("L.file.schema.parent-first", "L.file.schema.unique-ids", "L.file.schema.children",
            "L.file.schema.top-level-names"),
        pa.table({"s": pa.array([{"x": 1, "y": {"z": "a"}}])})),
    case("file/2.0/container/padding", "buffers start at multiples of 64, with H between them",
        ("L.file.padding.value", "L.file.buffers.overlap", "L.file.pages.extent",
            "L.file.pages.extents-pair", "L.file.pages.encoding", "L.file.pages.type-url"),
        pa.array(["a", None, "bc"])),
    case("file/2.1/container/field-ids", "field ids that are not positions",
        "L.file.schema.unique-ids",
        pa.Table.from_arrays([pa.array([1], pa.int32()), pa.array([2], pa.int32())],
            schema=pa.schema([pa.field("a", pa.int32(), metadata={"lance:field_id": "7"}),
                    pa.field("b", pa.int32(), metadata={"lance:field_id": "3"})]))),
    case("file/2.1/container/primary-key", "a field that is the primary key",
        "L.file.globals.descriptor", pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, None])],
            schema=pa.schema([_key("primary"), pa.field("v", pa.int64())]))),
    case("file/2.1/container/clustering-key", "a field that rows are clustered by",
        "L.file.globals.descriptor",
        pa.Table.from_arrays([pa.array([1, 2])], schema=pa.schema([_key("clustering")]))),
    *cases("file/{2.0,2.1}/container/no-columns", "a file without columns, and so without rows",
        ("L.file.footer.column-metadata-start", "L.file.footer.num-columns"), pa.table({})),
    case("file/2.0/pages/int64", "six pages of one column",
        ("L.file.pages.length", "L.file.pages.priority"),
        file(column(pa.array(range(1800), pa.int64())), "2.0", batches=6, data_cache_bytes=1024)),
    *cases("file/{2.0,2.1,2.3}/pages/no-rows", "a take of no rows, from a column of each kind",
        "L.file.pages.length", args={"rows": []},
        of=lambda version: lambda: Input(file(_NESTED, version)().files, _NESTED.slice(0, 0))),
    *(case(f"file/{version}/pages/int32", "four pages, the first rows as priority",
            ("L.file.pages.priority", "L.file.pages.length"),
            file(column(pa.array(range(2000), pa.int32())), version, batches=4,
                data_cache_bytes=1024)) for version in ("2.1", "2.2")),
    *(case(f"file/2.1/pages/{name}", "rows of three pages that are not described alike",
            "L.file.pages.priority",
            take(array, "2.1", 1, 99, 100, 199, 200, 298, batches=3, data_cache_bytes=1))
        for name, array in _UNEVEN.items()),
    case("file/2.1/pages/lists-all", "three pages that are not described alike, one by one",
        "L.file.pages.priority",
        file(column(_UNEVEN["lists"]), "2.1", batches=3, data_cache_bytes=1)),
    *(case(f"file/{version}/pages/any-order", "rows of four pages, the last first and one twice",
            "L.file.pages.priority", take(pa.array(range(40), pa.int16()), version, 39, 3, 17, 3, 0,
                batches=4, data_cache_bytes=1)) for version in ("2.0", "2.1", "2.2")),
    *faults("file/2.2/pages/int32", fault("rows", "a page of one row less",
            "L.page.miniblock.num-items", column_edit({"pages.0.length": lambda old: old - 1}))),
    *faults("file/2.1/container/two-columns",
        fault("empty", "a file of no bytes", "L.file.footer.size", Resize(keep=0), stage="open"),
        fault("short", "the last 39 bytes are missing", "L.file.footer.magic", Resize(keep=-39),
            stage="open"), fault("version-unknown", "version 2, 4", "L.file.footer.version",
            _footer("minor", 4), stage="open"),
        fault("version-relabelled", "a 2.1 file that says 2, 3", "L.file.pages.type-url",
            _footer("minor", 3), stage="metadata"), fault("column-metadata-start",
            "column metadata starts beyond the file", "L.file.footer.column-metadata-start",
            _footer("column_metadata_start", 2 ** 62), stage="open"),
        fault("cmo-start", "the column table starts at 2**62", "L.file.footer.cmo-start",
            _footer("cmo_start", 2 ** 62), stage="open"),
        fault("gbo-start", "the buffer table starts at 2**62", "L.file.footer.gbo-start",
            _footer("gbo_start", 2 ** 62), stage="open"),
        fault("num-columns-huge", "2**32 - 1 columns", "L.file.footer.num-columns",
            _footer("num_columns", 2 ** 32 - 1), stage="open"),
        fault("num-global-buffers-none", "no global buffer", "L.file.footer.num-global-buffers",
            _footer("num_global_buffers", 0), stage="open"),
        fault("cmo-position", "column metadata before its area", "L.file.cmo.entry",
            SpanPatch(("CMO[[]0].position",), 0), stage="metadata"),
        fault("gbo-position", "the descriptor beyond the file", "L.file.gbo.entry",
            SpanPatch(("GBO[[]0].position",), 2 ** 63), stage="metadata"), fault("column-truncated",
            "the last byte of a column's metadata is cut off", "L.file.columns.message",
            add("CMO[[]1].size", by=-1), stage="metadata"), fault("descriptor-garbage",
            "the descriptor starts with an end group", "L.file.globals.descriptor",
            SpanPatch(("tag and length of schema",), b"\xff\xff"), stage="metadata"),
        fault("length", "the descriptor counts one row more", "L.file.descriptor.length",
            descriptor({"length": lambda old: old + 1}), stage="metadata"),
        fault("logical-type", "a letter of the type is wrong", "L.file.schema.logical-type",
            SpanPatch(("logical_type",), lambda old: old.replace(b"int32", b"jnt32")),
            stage="metadata"), fault("part-first", "a part of a descriptor before any field",
            "L.file.schema.num-columns", field(0, id=-1), also="L.file.schema.unique-ids"),
        fault("parent-late", "a parent after its child",
            "L.file.schema.parent-first", field(0, parent_id=1), stage="metadata"),
        fault("duplicate-id", "two fields of one id", "L.file.schema.unique-ids", field(1, id=0),
            stage="metadata"), fault("duplicate-name", "two top-level fields of one name",
            "L.file.schema.top-level-names", field(1, name="a"), stage="metadata"),
        fault("children", "a list without an item", "L.file.schema.children",
            field(0, logical_type="list"), stage="metadata"),
        fault("too-few-columns", "three leaves and two columns", "L.file.schema.num-columns",
            descriptor(_more(-1)), stage="metadata"),
        fault("extent", "a page buffer beyond the data", "L.file.pages.extent",
            column_edit({"pages.0.buffer_offsets.0": 2 ** 40}), stage="metadata"),
        fault("misaligned", "a page buffer at an odd place", "L.file.alignment.buffers",
            column_edit({"pages.0.buffer_offsets.0": lambda old: old + 8}), stage="metadata"),
        fault("encoding-indirect", "an encoding stored elsewhere", "L.file.pages.encoding",
            column_edit({"pages.0.encoding.indirect.buffer_location": 0}), stage="metadata"),
        fault("column-encoding", "a column without an encoding", "L.file.columns.encoding",
            column_edit({"encoding.none": {}}), stage="metadata"),
        fault("page-length", "a page of 2**62 rows", "L.file.pages.length",
            column_edit({"pages.0.length": 2 ** 62}), stage="metadata"),
        fault("two-columns-utf8", "a byte 80 in a text of nothing above it", "L.page.leaf.utf8",
            byte("bytes", at=0, new=0x80)),
        fault("two-columns-late", "a first offset one byte after the table",
            "L.codec.variable.offsets", add("field b", "offsets")),
        fault("leaf-child", "a field without a column below one of numbers",
            "L.file.schema.children", descriptor(_more(0)))),
    *faults("file/2.0/container/footer-2-0",
        fault("cut-head", "39 bytes are left", "L.file.footer.size", Resize(keep=39), stage="open"),
        fault("trailing-byte", "a byte after the magic", "L.file.footer.magic",
            Resize(append=b"\x00"), stage="open"),
        fault("version-legacy", "version 0, 2: the file is no 0.1 file", "L.file.footer.version",
            _footer("minor", 2), stage="open"), fault("num-global-buffers-huge",
            "2**31 + 1 global buffers: one bit flipped", "L.file.footer.num-global-buffers",
            _footer("num_global_buffers", 2 ** 31 + 1), stage="open"),
        lint("version-2-0", "a 2.0 file whose footer says 2, 0", "L.file.footer.version-2-0",
            Resize(keep=-8, append=b"\x02\x00\x00\x00LANC")),
        lint("priority", "a first row in a 2.0 page", "L.file.pages.priority",
            column_edit({"pages.0.priority": 7}))),
    *faults("file/2.1/container/nested-schema", fault("magic", "the magic is LANX",
            "L.file.footer.magic", SpanPatch(("footer", "magic"), b"LANX"), stage="open"),
        fault("cmo-size", "column metadata of 2**63 bytes", "L.file.cmo.entry",
            SpanPatch(("CMO[[]0].size",), 2 ** 63), stage="metadata"),
        fault("parent-missing", "a parent that is not there", "L.file.schema.parent-first",
            field(1, parent_id=9), stage="metadata"), fault("negative-id", "a field id of -7",
            "L.file.schema.unique-ids", field(3, id=-7), stage="metadata"),
        fault("dotted-name", "a top-level name with a dot", "L.file.schema.top-level-names",
            field(0, name="s.t"), stage="metadata"),
        fault("encoding-garbage", "an encoding that does not parse", "L.file.pages.encoding",
            _encoding("value", b"\xff\xff"), stage="metadata")),
    *faults("file/2.0/container/padding", fault("num-columns-fewer", "one column of two",
            "L.file.footer.cmo-start", _footer("num_columns", 0), stage="open"),
        fault("extents-pair", "two offsets and one size", "L.file.pages.extents-pair",
            column_edit({"pages.0.buffer_sizes": lambda old: old[:-1]}), stage="metadata"),
        fault("encoding-missing", "a page without an encoding", "L.file.pages.encoding",
            column_edit({"pages.0.encoding": None}), stage="metadata"),
        fault("encoding-type", "an encoding of an unknown type", "L.file.pages.type-url",
            _encoding("type_url", lambda old: f"{old}X"), stage="metadata"),
        lint("padding", "zeros between the buffers", "L.file.padding.value",
            SpanPatch(("padding",), edits.zeros))),
    *faults("file/2.1/container/user-global-buffers",
        fault("gbo-user-buffer", "a user buffer beyond the file", "L.file.gbo.entry",
            SpanPatch(("GBO[[]1].size",), 2 ** 20), stage="metadata"),
        fault("gbo-misaligned", "a user buffer at an odd place", "L.file.alignment.buffers",
            add("GBO[[]2].position", by=8), stage="metadata"),
        fault("no-schema", "a descriptor without a schema", "L.file.globals.descriptor",
            descriptor({"schema": None}), stage="metadata")),
    *faults("file/2.1/container/extension-name",
        lint("extension-name", "the extension name is only in the metadata",
            "L.file.schema.extension-name", descriptor({"schema.fields.0.extension_name": None}))),
)  # fmt: skip
