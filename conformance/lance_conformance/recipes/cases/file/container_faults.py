"""Faults of the container and the schema, one each."""

from __future__ import annotations

from google.protobuf.any_pb2 import Any as AnyMessage
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.file_pb2 import FileDescriptor

from lance_conformance.recipes.constructors import fault, faults, lint
from lance_conformance.recipes.edits import byte, column_edit, descriptor, field, zeros
from lance_conformance.recipes.model import Recipe, Resize, SpanPatch


def _footer(word: str, new: int) -> SpanPatch:
    return SpanPatch(("footer", word), new)


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


def _add_field(message: FileDescriptor) -> None:
    message.schema.fields.add(name="z", id=2, parent_id=-1, logical_type="int8")


CASES: tuple[Recipe, ...] = (
    *faults("file/2.1/container/two-columns",
        fault("empty", "a file of no bytes", "L.file.footer.size", Resize(keep=0), stage="open"),
        fault("short", "the last 39 bytes are missing", "L.file.footer.magic", Resize(keep=-39),
            stage="open"),
        fault("version-unknown", "version 2, 4", "L.file.footer.version", _footer("minor", 4),
            stage="open"),
        fault("version-relabelled", "a 2.1 file that says 2, 3", "L.file.pages.type-url",
            _footer("minor", 3), stage="metadata"),
        fault("column-metadata-start", "column metadata starts beyond the file",
            "L.file.footer.column-metadata-start", _footer("column_metadata_start", 2 ** 62),
            stage="open"),
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
            SpanPatch(("GBO[[]0].position",), 2 ** 63), stage="metadata"),
        fault("column-truncated", "the last byte of a column's metadata is cut off",
            "L.file.columns.message", SpanPatch(("CMO[[]1].size",),
            lambda old: bytes([old[0] - 1]) + old[1:]), stage="metadata"),
        fault("descriptor-garbage", "the descriptor starts with an end group",
            "L.file.globals.descriptor", SpanPatch(("tag and length of schema",), b"\xff\xff"),
            stage="metadata"),
        fault("length", "the descriptor counts one row more", "L.file.descriptor.length",
            descriptor({"length": lambda old: old + 1}), stage="metadata"),
        fault("logical-type", "a letter of the type is wrong", "L.file.schema.logical-type",
            SpanPatch(("logical_type",), lambda old: old.replace(b"int32", b"jnt32")),
            stage="metadata"),
        fault("parent-late", "a parent after its child", "L.file.schema.parent-first",
            field(0, parent_id=1), stage="metadata"),
        fault("duplicate-id", "two fields of one id", "L.file.schema.unique-ids", field(1, id=0),
            stage="metadata"),
        fault("duplicate-name", "two top-level fields of one name", "L.file.schema.top-level-names",
            field(1, name="a"), stage="metadata"),
        fault("children", "a list without an item", "L.file.schema.children",
            field(0, logical_type="list"), stage="metadata"),
        fault("too-few-columns", "three leaves and two columns", "L.file.schema.num-columns",
            descriptor(_add_field), stage="metadata"),
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
            byte("bytes", at=0, new=0x80))),
    *faults("file/2.0/container/footer-2-0",
        fault("cut-head", "39 bytes are left", "L.file.footer.size", Resize(keep=39), stage="open"),
        fault("trailing-byte", "a byte after the magic", "L.file.footer.magic",
            Resize(append=b"\x00"), stage="open"),
        fault("version-legacy", "version 0, 2: the file is no 0.1 file", "L.file.footer.version",
            _footer("minor", 2), stage="open"),
        fault("num-global-buffers-huge", "2**31 + 1 global buffers: one bit flipped",
            "L.file.footer.num-global-buffers", _footer("num_global_buffers", 2 ** 31 + 1),
            stage="open"),
        lint("version-2-0", "a 2.0 file whose footer says 2, 0", "L.file.footer.version-2-0",
            Resize(keep=-8, append=b"\x02\x00\x00\x00LANC")),
        lint("priority", "a first row in a 2.0 page", "L.file.pages.priority",
            column_edit({"pages.0.priority": 7}))),
    *faults("file/2.1/container/nested-schema",
        fault("magic", "the magic is LANX", "L.file.footer.magic",
            SpanPatch(("footer", "magic"), b"LANX"), stage="open"),
        fault("cmo-size", "column metadata of 2**63 bytes", "L.file.cmo.entry",
            SpanPatch(("CMO[[]0].size",), 2 ** 63), stage="metadata"),
        fault("parent-missing", "a parent that is not there", "L.file.schema.parent-first",
            field(1, parent_id=9), stage="metadata"),
        fault("negative-id", "a field id of -7", "L.file.schema.unique-ids", field(3, id=-7),
            stage="metadata"),
        fault("dotted-name", "a top-level name with a dot", "L.file.schema.top-level-names",
            field(0, name="s.t"), stage="metadata"),
        fault("encoding-garbage", "an encoding that does not parse", "L.file.pages.encoding",
            column_edit(_garbage), stage="metadata")),
    *faults("file/2.0/container/padding",
        fault("num-columns-fewer", "one column of two", "L.file.footer.cmo-start",
            _footer("num_columns", 0), stage="open"),
        fault("extents-pair", "two offsets and one size", "L.file.pages.extents-pair",
            column_edit({"pages.0.buffer_sizes": lambda old: old[:-1]}), stage="metadata"),
        fault("encoding-missing", "a page without an encoding", "L.file.pages.encoding",
            column_edit({"pages.0.encoding": None}), stage="metadata"),
        fault("encoding-type", "an encoding of an unknown type", "L.file.pages.type-url",
            column_edit(_page_type), stage="metadata"),
        lint("padding", "zeros between the buffers", "L.file.padding.value",
            SpanPatch(("padding",), zeros))),
    *faults("file/2.1/container/user-global-buffers",
        fault("gbo-user-buffer", "a user buffer beyond the file", "L.file.gbo.entry",
            SpanPatch(("GBO[[]1].size",), 2 ** 20), stage="metadata"),
        fault("gbo-misaligned", "a user buffer at an odd place", "L.file.alignment.buffers",
            SpanPatch(("GBO[[]2].position",), lambda old: bytes([old[0] + 8]) + old[1:]),
            stage="metadata"),
        fault("no-schema", "a descriptor without a schema", "L.file.globals.descriptor",
            descriptor({"schema": None}), stage="metadata")),
    *faults("file/2.1/container/extension-name",
        lint("extension-name", "the extension name is only in the metadata",
            "L.file.schema.extension-name", descriptor({"schema.fields.0.extension_name": None}))),
)  # fmt: skip
