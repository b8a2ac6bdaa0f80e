"""Negative cases of the container and the schema: one fault each."""

from __future__ import annotations

from dataclasses import replace

from google.protobuf.any_pb2 import Any as AnyMessage
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.file_pb2 import FileDescriptor

from lance_conformance.recipes.messages import column, descriptor, field
from lance_conformance.recipes.model import (
    Change,
    Negative,
    Resize,
    SpanPatch,
)
from lance_conformance.recipes.tables.edits import table_fault

TWO = "file/2.1/container/two-columns"
OLD = "file/2.0/container/footer-2-0"
BUFFERS = "file/2.1/container/user-global-buffers"
NESTED = "file/2.1/container/nested-schema"
PADDED = "file/2.0/container/padding"


def _case(
    slug: str,
    title: str,
    clause: str,
    parent: str,
    change: Change,
    stage: str = "open",
    kind: str = "negative-file",
) -> Negative:
    return replace(table_fault(parent, slug, title, clause, change, stage=stage, kind=kind))


def _footer(word: str, new: int) -> SpanPatch:
    return SpanPatch(("footer", word), new)


def _drop_size(message: ColumnMetadata) -> None:
    del message.pages[0].buffer_sizes[-1]


def _beyond(message: ColumnMetadata) -> None:
    message.pages[0].buffer_offsets[0] = 2**40


def _misalign(message: ColumnMetadata) -> None:
    message.pages[0].buffer_offsets[0] += 8


def _indirect(message: ColumnMetadata) -> None:
    message.pages[0].encoding.indirect.buffer_location = 0


def _no_encoding(message: ColumnMetadata) -> None:
    message.pages[0].ClearField("encoding")


def _huge_page(message: ColumnMetadata) -> None:
    message.pages[0].length = 2**62


def _page_type(message: ColumnMetadata) -> None:
    direct = message.pages[0].encoding.direct
    packed = AnyMessage.FromString(direct.encoding)
    packed.type_url = packed.type_url + "X"
    direct.encoding = packed.SerializeToString()


def _garbage(message: ColumnMetadata) -> None:
    direct = message.pages[0].encoding.direct
    packed = AnyMessage.FromString(direct.encoding)
    packed.value = b"\xff\xff"
    direct.encoding = packed.SerializeToString()


def _column_type(message: ColumnMetadata) -> None:
    message.encoding.none.SetInParent()


def _priority(message: ColumnMetadata) -> None:
    message.pages[0].priority = 7


def _no_schema(message: FileDescriptor) -> None:
    message.ClearField("schema")


def _length(message: FileDescriptor) -> None:
    message.length += 1


def _add_field(message: FileDescriptor) -> None:
    message.schema.fields.add(name="z", id=2, parent_id=-1, logical_type="int8")


_FOOTER = (
    _case("empty", "a file of no bytes", "L.file.footer.size", TWO, Resize(keep=0)),
    _case("short", "the last 39 bytes are missing", "L.file.footer.magic", TWO, Resize(keep=-39)),
    _case("cut-head", "39 bytes are left", "L.file.footer.size", OLD, Resize(keep=39)),
    _case("trailing-byte", "a byte after the magic", "L.file.footer.magic", OLD,
          Resize(append=b"\0")),
    _case("magic", "the magic is LANX", "L.file.footer.magic", NESTED,
          SpanPatch(("footer", "magic"), b"LANX")),
    _case("version-unknown", "version 2, 4", "L.file.footer.version", TWO, _footer("minor", 4)),
    _case("version-legacy", "version 0, 2: the file is no 0.1 file", "L.file.footer.version", OLD,
          _footer("minor", 2)),
    _case("version-relabelled", "a 2.1 file that says 2, 3", "L.file.pages.type-url", TWO,
          _footer("minor", 3), "metadata"),
    _case("column-metadata-start", "column metadata starts beyond the file",
          "L.file.footer.column-metadata-start", TWO, _footer("column_metadata_start", 2**62)),
    _case("cmo-start", "the column table starts at 2**62", "L.file.footer.cmo-start", TWO,
          _footer("cmo_start", 2**62)),
    _case("gbo-start", "the buffer table starts at 2**62", "L.file.footer.gbo-start", TWO,
          _footer("gbo_start", 2**62)),
    _case("num-columns-huge", "2**32 - 1 columns", "L.file.footer.num-columns", TWO,
          _footer("num_columns", 2**32 - 1)),
    _case("num-columns-fewer", "one column of two", "L.file.footer.cmo-start", PADDED,
          _footer("num_columns", 0)),
    _case("num-global-buffers-none", "no global buffer", "L.file.footer.num-global-buffers", TWO,
          _footer("num_global_buffers", 0)),
    _case("num-global-buffers-huge", "2**31 + 1 global buffers: one bit flipped",
          "L.file.footer.num-global-buffers", OLD, _footer("num_global_buffers", 2**31 + 1)),
)  # fmt: skip

_TABLES = (
    _case("cmo-position", "column metadata before its area", "L.file.cmo.entry", TWO,
          SpanPatch(("CMO[[]0].position",), 0), "metadata"),
    _case("cmo-size", "column metadata of 2**63 bytes", "L.file.cmo.entry", NESTED,
          SpanPatch(("CMO[[]0].size",), 2**63), "metadata"),
    _case("gbo-position", "the descriptor beyond the file", "L.file.gbo.entry", TWO,
          SpanPatch(("GBO[[]0].position",), 2**63), "metadata"),
    _case("gbo-user-buffer", "a user buffer beyond the file", "L.file.gbo.entry", BUFFERS,
          SpanPatch(("GBO[[]1].size",), 2**20), "metadata"),
    _case("gbo-misaligned", "a user buffer at an odd place", "L.file.alignment.buffers", BUFFERS,
          SpanPatch(("GBO[[]2].position",), lambda old: bytes([old[0] + 8]) + old[1:]),
          "metadata"),
    _case("column-truncated", "the last byte of a column's metadata is cut off",
          "L.file.columns.message", TWO,
          SpanPatch(("CMO[[]1].size",), lambda old: bytes([old[0] - 1]) + old[1:]), "metadata"),
    _case("descriptor-garbage", "the descriptor starts with an end group",
          "L.file.globals.descriptor", TWO,
          SpanPatch(("tag and length of schema",), b"\xff\xff"), "metadata"),
    _case("no-schema", "a descriptor without a schema", "L.file.globals.descriptor", BUFFERS,
          descriptor(_no_schema), "metadata"),
    _case("length", "the descriptor counts one row more", "L.file.descriptor.length", TWO,
          descriptor(_length), "metadata"),
)  # fmt: skip

_SCHEMA = (
    _case("logical-type", "a letter of the type is wrong", "L.file.schema.logical-type", TWO,
          SpanPatch(("logical_type",), lambda old: old.replace(b"int32", b"jnt32")), "metadata"),
    _case("parent-missing", "a parent that is not there", "L.file.schema.parent-first", NESTED,
          field(1, parent_id=9), "metadata"),
    _case("parent-late", "a parent after its child", "L.file.schema.parent-first", TWO,
          field(0, parent_id=1), "metadata"),
    _case("duplicate-id", "two fields of one id", "L.file.schema.unique-ids", TWO,
          field(1, id=0), "metadata"),
    _case("negative-id", "a field id of -7", "L.file.schema.unique-ids", NESTED,
          field(3, id=-7), "metadata"),
    _case("duplicate-name", "two top-level fields of one name", "L.file.schema.top-level-names",
          TWO, field(1, name="a"), "metadata"),
    _case("dotted-name", "a top-level name with a dot", "L.file.schema.top-level-names", NESTED,
          field(0, name="s.t"), "metadata"),
    _case("children", "a list without an item", "L.file.schema.children", TWO,
          field(0, logical_type="list"), "metadata"),
    _case("too-few-columns", "three leaves and two columns", "L.file.schema.num-columns", TWO,
          descriptor(_add_field), "metadata"),
)  # fmt: skip


_PAGES = (
    _case("extents-pair", "two offsets and one size", "L.file.pages.extents-pair", PADDED,
          column(_drop_size), "metadata"),
    _case("extent", "a page buffer beyond the data", "L.file.pages.extent", TWO,
          column(_beyond), "metadata"),
    _case("misaligned", "a page buffer at an odd place", "L.file.alignment.buffers", TWO,
          column(_misalign), "metadata"),
    _case("encoding-indirect", "an encoding stored elsewhere", "L.file.pages.encoding", TWO,
          column(_indirect), "metadata"),
    _case("encoding-missing", "a page without an encoding", "L.file.pages.encoding", PADDED,
          column(_no_encoding), "metadata"),
    _case("encoding-garbage", "an encoding that does not parse", "L.file.pages.encoding", NESTED,
          column(_garbage), "metadata"),
    _case("encoding-type", "an encoding of an unknown type", "L.file.pages.type-url", PADDED,
          column(_page_type), "metadata"),
    _case("column-encoding", "a column without an encoding", "L.file.columns.encoding", TWO,
          column(_column_type), "metadata"),
    _case("page-length", "a page of 2**62 rows", "L.file.pages.length", TWO, column(_huge_page),
          "metadata"),
)  # fmt: skip

_LINTS = (
    _case("padding", "zeros between the buffers", "L.file.padding.value", PADDED,
          SpanPatch(("padding",), lambda old: bytes(len(old))), kind="lint"),
    _case("version-2-0", "a 2.0 file whose footer says 2, 0", "L.file.footer.version-2-0", OLD,
          Resize(keep=-8, append=b"\2\0\0\0LANC"), kind="lint"),
    _case("priority", "a first row in a 2.0 page", "L.file.pages.priority", OLD,
          column(_priority), kind="lint"),
    _case("extension-name", "the extension name is only in the metadata",
          "L.file.schema.extension-name", "file/2.1/container/extension-name",
          descriptor(lambda m: m.schema.fields[0].ClearField("extension_name")),
          kind="lint"),
)  # fmt: skip


NEGATIVES: tuple[Negative, ...] = (*_FOOTER, *_TABLES, *_SCHEMA, *_PAGES, *_LINTS)
"""Every negative case of the container."""
