"""Cases of strings, symbols and dictionaries of 2.0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.data_file.data_file import open_file
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.storage import BytesSource

from lance_conformance.recipes import columns, edits
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import assign, byte
from lance_conformance.recipes.handmade_files import Page, edited, one_page, with_pages, words
from lance_conformance.recipes.model import DATA, Input, Maker, Recipe, SpanPatch
from lance_conformance.recipes.oracle_files import column, file
from lance_conformance.recipes.pages import flat_page


def _owning_strings() -> pa.Array:
    """A null that owns two bytes: "a", null over "xx", "b"."""
    validity, offsets = (b"\x05", words(0, 1, 3, 4, width=4))
    buffers = [pa.py_buffer(part) for part in (validity, offsets, b"axxb")]
    return pa.Array.from_buffers(pa.string(), 3, buffers)


_TEXTS = pa.array(["foo", "", None, "zwölf"])
_LISTED = pa.table({"n": pa.array([1, 2, 3, 4], pa.int32()), "s": _TEXTS})
_BYTES = pa.array([b"foo", b"", None, b"\xff"], pa.large_binary())
_TEXTS_LEAST = pa.array(["alpha beta " * 9, "alpha", None, "beta " * 20])

_NULLABLE = {"nullable.some_nulls.validity": flat_page(1),
    "nullable.some_nulls.values.binary.indices.nullable.no_nulls.values": flat_page(64, 1),
    "nullable.some_nulls.values.binary.bytes": flat_page(8, 2),
    "nullable.some_nulls.values.binary.null_adjustment": 4}  # fmt: skip
"""Strings that a bitmap makes null, not their ends."""


def _early(table: pa.Table, at: int, texts: pa.Array) -> Maker:
    """Store a column of texts as lists of bytes, of which the schema says that they are text."""
    lists = pa.large_list if pa.types.is_large_binary(texts.type) else pa.list_
    rows = [None if one is None else list(one) for one in texts.cast(pa.large_binary()).to_pylist()]
    stored_table = table.set_column(at, table.field(at).name, pa.array(rows, lists(pa.uint8())))
    fields = {f"schema.fields.{at}.logical_type": str(texts.type), f"schema.fields.{at + 1}": None}
    make = edited(file(stored_table, "2.0"), edits.descriptor(fields))
    return lambda: replace(make(), table=table)


_FRAMED = column(_TEXTS_LEAST, compression="zstd")


def _again(change: Callable[[ArrayEncoding, bytes, bytes], tuple[bytes, bytes]]) -> Maker:
    """Lay the page of compressed strings out anew, with other ends or bytes."""

    def make() -> Input:
        parsed = open_file(BytesSource(file(_FRAMED, "2.0")().files[DATA]), Context("written"))
        (page,) = parsed.columns[0].pages
        ends, body = (bytes(parsed.bytes.source.read(*extent)) for extent in page.extents)
        assert isinstance(page.encoding, ArrayEncoding)
        buffers = change(page.encoding, ends, body)
        return with_pages(_FRAMED, "2.0", {0: [Page(page.encoding, page.num_rows, buffers)]})()

    return make


def _packed_ends(encoding: ArrayEncoding, ends: bytes, body: bytes) -> tuple[bytes, bytes]:
    """Put the ends of the strings in a frame too."""
    encoding.binary.indices.nullable.no_nulls.values.flat.compression.scheme = "zstd"
    return words(len(ends)) + bytes(pa.Codec("zstd").compress(ends, asbytes=True)), body


CASES: tuple[Recipe, ...] = (
    case("file/2.0/binary/string", "strings from empty to non-ASCII, with a null",
        ("L.array.ends.order", "L.array.ends.null-adjustment", "L.array.binary.utf8"),
        pa.array(columns.STRINGS)),
    fault("ends-fall", "string ends that fall", "L.array.ends.order",
        byte("field c", "page 0", "*ends*", at=16, new=0)),
    fault("ends-bound", "a string end beyond the bytes", "L.array.ends.bound",
        assign("binary.null_adjustment", 2 ** 40)),
    fault("indices-width", "ends of 32 bits", "L.array.ends.width",
        assign("binary.indices.nullable.no_nulls.values.flat.bits_per_value", 32)),
    fault("bytes-width", "string bytes of 16 bits", "L.array.binary.bytes-width",
        assign("binary.bytes.flat.bits_per_value", 16)),
    fault("utf8", "a byte that is not UTF-8", "L.array.binary.utf8",
        byte("field c", "page 0", "*bytes*", at=0, new=0xFF)),
    lint("spare-byte", "one byte of padding counted to the bytes of the strings",
        "L.array.binary.bytes-end", edits.resize(-1, 1)),
    fault("low", "a null adjustment below the ends", "L.array.ends.bound",
        edits.page({"binary.null_adjustment": 1}), also="L.array.ends.null-adjustment"),
    case("file/2.0/binary/large-string", "the same strings with 64-bit Arrow offsets",
        ("L.array.ends.order", "L.array.ends.width"), pa.array(columns.STRINGS, pa.large_string())),
    fault("end", "a string end one after the bytes", "L.array.ends.bound",
        byte("field c", "page 0", "*ends*", at=-8, new=0xFE)),
    case("file/2.0/binary/binary", "bytes that are not UTF-8", "L.array.ends.order",
        pa.array([b"", b"\xff\xfe", None, b"\x00"], pa.binary())),
    fault("bytes", "bytes of no kind", "L.array.encoding.tag", edits.clear("binary.bytes.flat")),
    fault("adjustment", "ends above the null adjustment", "L.array.ends.null-adjustment",
        assign("binary.null_adjustment", 3)),
    case("file/2.0/binary/all-null", "only null strings: ends that all lie beyond the adjustment",
        "L.array.binary.null-adjustment-value", pa.array([None, None], pa.string())),
    fault("no-bytes", "strings described as lists, without a column of bytes",
        "L.file.schema.num-columns", edits.page({"list": {}})),
    case("file/2.0/binary/zstd", "string bytes in a zstd frame after their length",
        "L.array.flat.compressed-block",
        column(pa.array([f"the same words again and again {i}" for i in range(120)]),
            compression="zstd")),
    fault("size", "a zstd size one byte too large", "L.array.flat.compressed-size",
        byte("field c", "page 0", "uncompressed size", at=0, new=1)),
    fault("scheme", "an unknown compression", "L.array.flat.compression",
        assign("binary.bytes.flat.compression.scheme", "lzma")),
    lint("adjustment", "another null adjustment than last end + 1",
        "L.array.binary.null-adjustment-value", assign("binary.null_adjustment", 10 ** 6)),
    fault("frame", "a zstd frame with another magic", "L.array.flat.compressed-block",
        byte("field c", "bytes", at=0, new=0), flags="FrameBroken"),
    fault("huge", "a zstd size of 2**62", "L.array.flat.compressed-size",
        byte("field c", "page 0", "uncompressed size", at=7, new=0x40), flags="FrameSizeHuge"),
    case("file/2.0/binary/lz4", "string bytes in an lz4 block after their length",
        "L.array.flat.compressed-block",
        column(pa.array([f"the same words again and again {i}" for i in range(120)]),
            compression="lz4")),
    fault("size", "an lz4 size of 2**31", "L.array.flat.compressed-size",
        byte("field c", "page 0", "uncompressed size", at=3, new=0x7F)),
    fault("short", "an lz4 size one byte too large", "L.array.flat.compressed-size", SpanPatch(
            ("field c", "uncompressed size"), lambda old: bytes([(old[0] + 1) % 256]) + old[1:]),
        flags="BufferTooShort"),
    case("file/2.0/binary/zstd-level", "string bytes compressed at level 9",
        ("L.array.flat.compressed-block", "L.array.flat.compression"),
        column(pa.array([f"a line of words {i}" for i in range(120)]), compression="zstd",
            compression_level="9")),
    case("file/2.0/binary/large-binary", "bytes with 64-bit Arrow offsets",
        ("L.array.binary.type", "L.array.ends.order"),
        pa.array([b"", b"\xff\xfe", None, b"\x00"], pa.large_binary())),
    fault("type", "string ends in a column of numbers", "L.array.binary.type",
        edits.field(0, logical_type="int32"), flags="WrongKind"),
    fault("first", "a first end after the last", "L.array.ends.bound",
        byte("field c", "page 0", "*ends*", at=0, new=0x7F)),
    case("file/2.0/binary/null-with-bytes", "a null string that owns bytes",
        ("L.array.ends.order", "L.array.ends.null-adjustment"), _owning_strings()),
    case("file/2.0/binary/two-buffers",
        "strings without a null: ends in one buffer, bytes in another",
        ("L.array.buffer.shared", "L.array.buffer.named"), pa.array(["ab", "c"])),
    fault("shared", "bytes said to lie where the ends do", "L.array.buffer.shared",
        assign("binary.bytes.flat.buffer.buffer_index", 0), flags="WrongKind"),
    case("file/2.0/binary/equal-strings", "strings of three bytes each, without ends",
        "L.array.fixed-size-binary.width",
        one_page(pa.array(["abc", "def", "ghi"]), "2.0", edits.build(ArrayEncoding,
                {"fixed_size_binary.byte_width": 3, "fixed_size_binary.bytes": flat_page(8)}),
            b"abcdefghi")),
    fault("width", "strings of no bytes", "L.array.fixed-size-binary.width",
        assign("fixed_size_binary.byte_width", 0), flags="WidthMismatch"),
    case("file/2.0/binary/bitmap", "strings below a bitmap of nulls", "L.array.encoding.tag",
        one_page(pa.array(["a", None, "bc"]), "2.0", edits.build(ArrayEncoding, _NULLABLE), b"\x05",
            words(1, 1, 3), b"abc")),
    lint("spare-buffer", "a buffer that strings below a bitmap do not have", "L.array.buffer.named",
        edits.spare_buffer()),
    case("file/2.0/binary/early",
        "text stored as lists of bytes, as 0.13 did, after a column of numbers",
        "L.array.binary.early", _early(_LISTED, 1, _TEXTS), reachable=True),
    fault("first", "a first text that is not UTF-8", "L.array.binary.utf8",
        byte("field s", "values", at=0, new=0xFF)),
    case("file/2.0/binary/zstd-empty", "a null after compressed strings of no bytes",
        "L.array.ends.null-adjustment", column(pa.array(["", "", None]), compression="zstd")),
    fault("size", "a byte, where there is none", "L.array.flat.compressed-size",
        byte("field c", "uncompressed size", at=0, new=1)),
    case("file/2.0/binary/far", "two texts far apart", "L.array.ends.order", columns.take(
            pa.array([None if i % 8 == 5 else f"text {i}" * (i % 4) for i in range(columns.COUNT)]),
            "2.0", 2, 77)),
    case("file/2.0/binary/zstd-bare", "string bytes in a zstd frame without their length",
        "L.array.flat.compressed-block", _again(lambda _, ends, body: (ends, body[8:]))),
    case("file/2.0/binary/early-large", "large byte strings stored as lists of bytes",
        "L.array.binary.early", _early(column(_BYTES), 0, _BYTES), reachable=True),
    case("file/2.0/binary/zstd-ends", "ends of strings in a zstd frame, as their bytes are",
        ("L.array.flat.compressed-block", "L.array.ends.width"), _again(_packed_ends)),
    case("file/2.0/fsst/off",
        "fsst asked for a small page: a table that says off, bytes as they are",
        "L.array.fsst.inner", column(pa.array(columns.STRINGS), compression="fsst")),
    case("file/2.0/fsst/on", "fsst codes with their symbol table", "L.array.fsst.inner",
        column(columns.URLS, compression="fsst")),
    fault("table", "a symbol table with another magic", "L.codec.fsst.table",
        assign("fsst.symbol_table", edits.set_byte(4, 0))),
    fault("inner", "codes that are not stored as binary", "L.array.fsst.inner",
        edits.page({"fsst.binary.flat.bits_per_value": 8}), flags="WrongKind"),
    case("file/2.0/dictionary/automatic",
        "few distinct strings: u8 keys counted from 1, 0 for null",
        ("L.array.dictionary.key-range", "L.array.dictionary.num-items"),
        pa.concat_arrays([columns.CATEGORIES, pa.array([None], pa.string())])),
    fault("key", "a key beyond the dictionary", "L.array.dictionary.key-range",
        byte("field c", "page 0", "*", at=3, new=250)),
    fault("items", "fewer items than the dictionary has", "L.array.flat.size",
        assign("dictionary.num_dictionary_items", 3), flags="CountMismatch"),
    fault("no-items", "a dictionary of no kind", "L.array.encoding.tag",
        edits.clear("dictionary.items.binary")),
    fault("one-item", "a dictionary of one item, of several", "L.array.flat.size",
        edits.page({"dictionary.num_dictionary_items": 1}), also="L.array.dictionary.num-items"),
    fault("key-next", "a key of the item after the last", "L.array.dictionary.key-range",
        byte("field c", "page 0", "*", at=3, new=8)),
    case("file/2.0/dictionary/arrow", "an Arrow dictionary: keys from 0, null as an extra item",
        ("L.array.dictionary.key-width", "L.array.dictionary.key-range"), columns.DICTIONARY),
    fault("key-width", "16-bit keys in an int8 dictionary", "L.array.dictionary.key-width",
        assign("dictionary.indices.nullable.no_nulls.values.flat.bits_per_value", 16)),
    fault("key", "a key beyond the dictionary", "L.array.dictionary.key-range",
        byte("field c", "page 0", "*", at=0, new=100)),
    fault("null", "a null item where no row may be null", "L.array.nullable.field",
        edits.field(0, nullable=False)),
)  # fmt: skip
