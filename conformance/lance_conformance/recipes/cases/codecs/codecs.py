"""Cases of codecs: numbers, strings, vectors and packed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from lanceref.codecs.variable import symbol_table
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

from lance_conformance.recipes import blocks, columns, edits, pages
from lance_conformance.recipes.cases.pages import edge_pages
from lance_conformance.recipes.constructors import case, cases, fault, faults, lint
from lance_conformance.recipes.edits import add, assign, byte, clear, field, page
from lance_conformance.recipes.handmade_files import Page, of_pages, with_pages
from lance_conformance.recipes.model import Maker, Recipe, SpanPatch
from lance_conformance.recipes.oracle_files import column

_PACKED_RUNS = f"{edits.V}.rle.values.out_of_line_bitpacking"


def _blocks(bits: int, widths: Sequence[int]) -> Maker:
    """One chunk of two values for each width."""
    values = (blocks.inline(pages.pair(width), bits)[1] for width in widths)
    chunks = [pages.Chunk(2, (packed,)) for packed in values]
    made = pages.chunked("2.2", blocks.inline([0], bits)[0], chunks)
    return of_pages(pages.array_blocks(bits, widths), "2.2", made)


def _fewer_symbols(table: bytes) -> bytes:
    """Keep the first ten symbols of a table."""
    lengths_at = 8 + 8 * table[0]
    remaining = b"\n" + table[1:88] + table[lengths_at : lengths_at + 10]
    return remaining.ljust(len(table), b"\x00")


_CODES = (b"\xff\xff\x00", b"\x01", b"\xff\xff\xff\x01", b"\x00\x00\x00\x00", b"")
"""An escaped 255 before a symbol and before an escape, single symbols, nothing."""

_CODED = [b"\xffsymbol", b"s", b"\xff\x01", b"symbol" * 4, b""]


_OTHERWISE = edits.build(CompressiveEncoding, {"fsst.values": edge_pages.STRINGS,
        "fsst.symbol_table": symbol_table([b"other", b"t"], is_on=True)})  # fmt: skip
"""Strings coded by other symbols."""


def _codes(
    values: Sequence[bytes], first_row: int = 0, coded: CompressiveEncoding = edge_pages.CODED
) -> Page:
    """Lay out coded strings as one chunk."""
    made = pages.chunked("2.1", coded, [edge_pages.held(values)])
    return replace(made, first_row=first_row)


_KINDS = pa.struct([("kind", pa.uint8()), ("position", pa.uint64()), ("size", pa.uint64())])
"""Members that descriptors of blobs have as well."""

_WIDE = pa.struct(
    [*(("a", pa.decimal128(20, 0)), ("b", pa.decimal256(40, 0))), *(("s", pa.string()),
            ("v", pa.list_(pa.float32(), 2)), ("l", pa.large_binary()))])  # fmt: skip


_TEXT_INSIDE = pa.struct([("a", pa.uint8()), ("i", pa.struct(
                [("s", pa.string()), ("n", pa.int16())])), ("b", pa.int32())])  # fmt: skip
_INSIDE = column(pa.array([{"a": k, "i": {"s": "x" * k, "n": -k}, "b": 1000 * k} for k in range(5)],
        _TEXT_INSIDE), packed="true")  # fmt: skip
"""Packed structs that hold a struct with a text, between two numbers."""


CASES: tuple[Recipe, ...] = (
    case("file/2.1/general/once", "values that are compressed once",
        ("L.codec.encoding.depth", "L.wire.message"),
        column(pa.array(np.arange(1500) % 977 * 65537, pa.int32()), compression="zstd", bss="off")),
    case("file/2.1/general/zstd", "value buffers as zstd frames after their size",
        "L.codec.general.frame",
        column(pa.array(np.arange(1500) % 977 * 65537, pa.int32()), compression="zstd", bss="off")),
    fault("size", "a frame of one byte more than told", "L.codec.general.size",
        add("field c", "uncompressed size", by=-1)),
    fault("frame", "the magic of a frame and no frame", "L.codec.general.frame",
        SpanPatch(("field c", "uncompressed size"), bytes.fromhex("28b52ffd")),
        flags="FrameBroken"),
    fault("nested", "values that are compressed 120 times", "L.file.pages.encoding",
        edits.nested(120, {"general.compression.scheme": 2}, "general.values"),
        also="L.codec.encoding.depth"),
    fault("size-none", "a frame that is to hold nothing", "L.codec.general.size",
        SpanPatch(("field c", "uncompressed size"), bytes(8))),
    *cases("file/{2.1,2.2,2.3}/general/strings", "chunks of strings, compressed",
        "L.codec.general.frame",
        column(pa.array([f"aaaaaaaaaaaaaaa {i * 7919 % 100003}" for i in range(500)]),
            compression="zstd", dict_divisor="100000")),
    *faults("file/2.2/general/strings", fault("size", "strings of one byte less than told",
            "L.codec.general.size", add("field c", "uncompressed size"))),
    *cases("file/{2.1,2.2}/general/lz4", "value buffers as lz4 blocks", "L.codec.general.size",
        column(pa.array(np.arange(4000) % 977 * 65537, pa.int32()), compression="lz4", bss="off")),
    *faults("file/2.1/general/lz4", fault("size", "an lz4 size of 2**31", "L.codec.general.size",
            byte("field c", "uncompressed size", at=3, new=0x7F)),
        fault("scheme", "a compression scheme of no kind", "L.codec.general.scheme",
            assign(f"{edits.V}.general.compression.scheme", 7))),
    case("file/2.1/byte-stream-split/float32", "floats in four streams, then zstd",
        "L.codec.byte-stream-split.size",
        column(pa.array(np.linspace(0, 1, 1500), pa.float32()), compression="zstd", bss="on")),
    fault("width", "streams of doubles", "L.codec.byte-stream-split.size",
        assign(f"{edits.V}.general.values.byte_stream_split.values.flat.bits_per_value", 64),
        flags="WidthMismatch"),
    *cases("file/{2.1,2.2,2.3}/byte-stream-split/always",
        "floats split without being asked how they compress", "L.codec.byte-stream-split.size",
        column(pa.array(np.linspace(0, 1, 600), pa.float32()), bss="on", compression="lz4")),
    *faults("file/2.1/byte-stream-split/always",
        fault("width", "streams of 16 bits", "L.codec.encoding.context",
            assign(f"{edits.V}.byte_stream_split.values.flat.bits_per_value", 16))),
    *cases("file/{2.1,2.2}/byte-stream-split/float64",
        "bytes of doubles in eight streams, then zstd", "L.codec.general.size",
        column(pa.array(np.linspace(0, 1, 2000)), compression="zstd", bss="on")),
    *faults("file/2.1/byte-stream-split/float64",
        fault("size", "a zstd size one value too small", "L.codec.general.size",
            add("field c", "uncompressed size", by=8))),
    case("file/2.3/rle/lz4-lengths", "runs whose lengths are compressed", "L.codec.rle.sum",
        column(pa.array(np.repeat(np.arange(50), 100), pa.int32()), compression="lz4", bss="off")),
    fault("scheme", "run lengths compressed by scheme 9", "L.codec.general.scheme",
        assign("values.chunked.compression.rle.run_lengths.general.compression.scheme", 9)),
    fault("more", "lengths of one byte less than their size", "L.codec.general.size",
        add("uncompressed size")),
    case("file/2.3/rle/packed-values", "runs whose values are bitpacked", "L.codec.rle.sum",
        pa.array(np.repeat(np.arange(900), 3), pa.int32())),
    fault("unknown", "packed values and packed lengths: nothing says how many",
        "L.codec.encoding.context",
        page({"values.chunked.compression.rle.run_lengths": blocks.packed(8, 4)})),
    case("file/2.1/rle/int16", "an odd number of runs", "L.codec.rle.pairs",
        pa.array(np.repeat(np.arange(25), 100), pa.int16())),
    fault("pairs", "a run without a length", "L.codec.rle.pairs",
        byte("chunk 0", "size of value buffer 1", at=0, new=26), flags="CountMismatch"),
    fault("packed-values", "packed run values in a 2.1 file", "L.codec.encoding.context",
        page({f"{_PACKED_RUNS}.uncompressed_bits_per_value": 16,
                f"{_PACKED_RUNS}.values.flat.bits_per_value": 5}), flags="GrammarOfAnotherVersion"),
    fault("wide", "run values of 128 bits", "L.codec.rle.children",
        assign("mini_block_layout.value_compression.rle.values.flat.bits_per_value", 128)),
    *cases("file/{2.1,2.2,2.3}/rle/int8", "runs of bytes", "L.codec.rle.pairs",
        pa.array(np.repeat(np.arange(10), 100), pa.int8())),
    *faults("file/2.2/rle/int8", fault("values", "runs of values of no bits",
            "L.codec.rle.children", assign(f"{edits.V}.rle.values.flat.bits_per_value", 0))),
    *faults("file/2.3/rle/int8",
        fault("values", "runs of values of 264 bits", "L.codec.rle.children",
            assign("values.chunked.compression.rle.values.flat.bits_per_value", 264))),
    *cases("file/{2.1,2.2}/rle/int32", "runs of a hundred", "L.codec.rle.sum",
        pa.array(np.repeat(np.arange(50), 100), pa.int32())),
    *faults("file/2.1/rle/int32", fault("pairs", "one run length more than runs",
            "L.codec.rle.pairs", assign(f"{edits.V}.rle.values.flat.bits_per_value", 64)),
        fault("sum", "runs that do not add up", "L.codec.rle.sum",
            byte("field c", "run lengths", at=0, new=1)),
        fault("children", "run lengths of 16 bits", "L.codec.rle.children",
            assign(f"{edits.V}.rle.run_lengths.flat.bits_per_value", 16))),
    *faults("file/2.2/rle/int32", fault("sum", "runs of one value less", "L.codec.rle.sum",
            add("field c", "run lengths", by=-1)),
        fault("lengths", "runs whose lengths have no codec", "L.codec.encoding.context",
            clear(f"{edits.V}.rle.run_lengths"))),
    *(case(f"file/{version}/bitpack/{bits}", f"{bits}-bit integers below 100 in blocks of 1024",
            ("L.codec.bitpack.width", "L.codec.bitpack.payload"),
            column(columns.small_integers(1500, getattr(pa, f"uint{bits}")(), 100)))
        for version in ("2.1", "2.2") for bits in (8, 16, 32, 64)),
    *(case(f"file/2.2/bitpack/widths-{slug}",
            f"blocks of {bits}-bit values, a chunk for each width {first} to {last}",
            ("L.codec.bitpack.width", "L.codec.bitpack.payload"),
            _blocks(bits, range(first, last + 1))) for slug, bits, first, last in (("8", 8, 0, 8),
            ("16", 16, 0, 16), ("32", 32, 0, 32), ("64", 64, 33, 64), ("64-narrow", 64, 0, 32))),
    case("file/2.2/bitpack/widths-again", "blocks of one width, of another, of the first",
        ("L.codec.bitpack.width", "L.codec.bitpack.payload"), _blocks(8, (1, 1, 2, 2, 1))),
    *cases("file/{2.1,2.2}/bitpack/widths", "a width that grows from chunk to chunk",
        "L.codec.bitpack.width", pa.array(np.arange(3000) ** 2, pa.int32())),
    *faults("file/{2.1,2.3}/rle/int8", fault("sum", "runs of one value less", "L.codec.rle.sum",
            add("field c", "run lengths", by=-1)),
        lint("end", "a run past its end", "L.codec.rle.end", add("field c", "run lengths", at=-1))),
    *faults("file/2.1/bitpack/16", fault("width", "17 bits for values of 16",
            "L.codec.bitpack.width", byte("field c", "width", at=0, new=17)),
        fault("payload", "a width of one bit less than stored", "L.codec.bitpack.payload",
            add("field c", "width", by=-1))),
    *faults("file/2.2/bitpack/64", fault("width", "65 bits for values of 64",
            "L.codec.bitpack.width", byte("field c", "width", at=0, new=65))),
    *faults("file/2.2/bitpack/32", fault("payload", "a width of one bit more than stored",
            "L.codec.bitpack.payload", add("field c", "width"))),
    *faults("file/2.1/bitpack/32", fault("width", "a block of 33 bits for 32-bit values",
            "L.codec.bitpack.width", byte("field c", "width", at=0, new=33)),
        fault("payload", "a width that wants more bytes", "L.codec.bitpack.payload",
            byte("field c", "width", at=0, new=9))),
    *faults("file/2.1/bitpack/64", fault("payload", "a width that wants fewer bytes",
            "L.codec.bitpack.payload", byte("field c", "width", at=0, new=1))),
    case("file/2.1/variable/empty", "empty strings: a table and no bytes", "L.codec.variable.table",
        pa.array([""] * 6)),
    fault("table", "no room for the last offset", "L.codec.variable.table",
        byte("chunk 0", "size of value buffer 0", at=0, new=25), flags="BufferTooShort"),
    fault("offsets", "offsets of 2.3 in a 2.1 file", "L.codec.encoding.context",
        page({f"{edits.V}.variable.offsets.range.uncompressed_bits_per_value": 32,
                f"{edits.V}.variable.offsets.range.step": 1}), flags="GrammarOfAnotherVersion"),
    *cases("file/{2.1,2.2}/variable/string", "strings from empty to non-ASCII, with a null",
        ("L.codec.variable.offsets", "L.page.leaf.utf8"), pa.array(columns.STRINGS)),
    *faults("file/2.1/variable/string", fault("numbers", "strings in a column of numbers",
            "L.page.leaf.kind", field(0, logical_type="int32")),
        fault("fall", "an offset below the one before", "L.codec.variable.offsets",
            byte("field c", "offsets", at=12, new=28), flags="OffsetsNotMonotonic"),
        fault("offsets", "a first offset inside the table", "L.codec.variable.offsets",
            byte("field c", "offsets", at=0, new=1)), fault("utf8", "a byte that is not UTF-8",
            "L.page.leaf.utf8", byte("field c", "bytes", at=0, new=0xFF)),
        fault("offset-width", "64-bit offsets in a string column", "L.page.leaf.offset-width",
            assign(f"{edits.V}.variable.offsets.flat.bits_per_value", 64)),
        lint("padding", "zeros after the bytes", "L.codec.variable.padding",
            SpanPatch(("field c", "padding"), edits.zeros, nth=3))),
    *faults("file/2.2/variable/string", fault("first", "a first offset one byte early",
            "L.codec.variable.offsets", add("field c", "offsets", by=-1)),
        fault("no-offsets", "strings whose offsets have no codec", "L.codec.encoding.context",
            clear(f"{edits.V}.variable.offsets"))),
    *cases("file/{2.1,2.2}/variable/large-string", "64-bit offsets", "L.page.leaf.offset-width",
        pa.array(columns.STRINGS, pa.large_string())),
    *faults("file/2.1/variable/large-string", fault("offsets", "an offset one beyond the chunk",
            "L.codec.variable.offsets", byte("field c", "offsets", at=-8, new=0xFF))),
    *cases("file/{2.1,2.2}/variable/binary", "bytes that are not UTF-8", "L.codec.variable.offsets",
        pa.array([b"", b"\xff\xfe", None, b"\x00"], pa.binary())),
    *faults("file/2.1/variable/binary", fault("value-size", "a value buffer of eight bytes more",
            "L.page.miniblock.chunk-fill", add("chunk 0", "size of value buffer 0", by=8)),
        fault("offsets", "string offsets of 16 bits", "L.codec.encoding.context",
            assign(f"{edits.V}.variable.offsets.flat.bits_per_value", 16))),
    *faults("file/2.2/variable/binary", fault("values", "strings whose bytes are compressed beside",
            "L.codec.encoding.buffer-compression", assign(f"{edits.V}.variable.values.scheme", 2))),
    case("file/2.1/fsst/escapes", "fsst codes, with characters that have none",
        ("L.codec.fsst.escape", "L.codec.fsst.code"),
        column(pa.concat_arrays([columns.URLS, pa.array(["é", "{}|\\^~"])]), compression="fsst")),
    fault("escape", "a value that ends after an escape", "L.codec.fsst.escape",
        SpanPatch(("field c", "bytes"), lambda old: b"\xff" * len(old)), flags="BufferTooShort"),
    case("file/2.1/fsst/off", "fsst asked for short strings: a table that is off",
        "L.codec.fsst.table", column(pa.array(["a", None, "b"]), compression="fsst")),
    fault("values", "symbols of what has no offsets", "L.codec.encoding.context",
        clear(f"{edits.V}.fsst.values.variable")),
    fault("short", "a symbol table one byte short", "L.codec.fsst.table",
        page({f"{edits.V}.fsst.symbol_table": lambda old: old[:-1]})),
    case("file/2.1/fsst/escapes-next", "escaped bytes of 255, and a page of empty values alone",
        ("L.codec.fsst.escape", "L.codec.fsst.code"),
        with_pages(column(pa.array([*_CODED, b"", b""], pa.binary())), "2.1",
            {0: [_codes(_CODES), _codes((b"", b""), len(_CODES))]})),
    fault("alone", "a value that is an escape and no more", "L.codec.fsst.escape",
        byte("field c", "bytes", at=3, new=255)),
    case("file/2.1/fsst/two-tables",
        "two pages, each with symbols of its own: a reader that keeps the first table reads others",
        ("L.codec.fsst.table", "L.codec.fsst.code"),
        of_pages(pa.array(["symbols", "ss", "ttother", "other"]), "2.1",
            _codes((b"\x00\x01", b"\x01\x01")),
            _codes((b"\x01\x01\x00", b"\x00"), 2, _OTHERWISE)), reachable=True),
    *cases("file/{2.1,2.2}/fsst/urls", "fsst codes with their symbol table",
        ("L.codec.fsst.table", "L.codec.fsst.code"), column(columns.URLS, compression="fsst")),
    *faults("file/2.1/fsst/urls", fault("code", "a code without a symbol", "L.codec.fsst.code",
            assign(f"{edits.V}.fsst.symbol_table", _fewer_symbols), flags="IndexBeyondItems"),
        *(fault(slug, f"a symbol of {title} bytes", "L.codec.fsst.table",
                assign(f"{edits.V}.fsst.symbol_table",
                    lambda old, new=new: edits.set_byte(8 + 8 * old[0], new)(old)))
            for slug, title, new in (("table", "nine", 9), ("empty", "no", 0))),
        fault("escape-last", "a last value that ends after an escape", "L.codec.fsst.escape",
            byte("field c", "bytes", at=-1, new=255, nth=5))),
    case("file/2.2/packed-struct/variable", "packed rows with a string between their numbers",
        ("L.codec.packed-struct.field", "L.codec.packed-struct.row"),
        column(pa.array([{"a": i, "s": "x" * i} for i in range(5)],
                pa.struct([("a", pa.uint8()), ("s", pa.string())])), packed="true")),
    fault("empty-row", "a row of no bytes", "L.page.fullzip.length",
        byte("field c", "length", at=0, new=0), flags="OffsetsNotMonotonic"),
    fault("short", "rows that end before their field", "L.codec.packed-struct.row",
        page({f"{edits.FIRST_PACKED}.bits_per_value": 64,
                f"{edits.FIRST_PACKED}.value.flat.bits_per_value": 64})),
    fault("cells", "a row too short for its string", "L.codec.packed-struct.row",
        byte("field c", "value", at=1, new=5), flags="IndexBeyondItems"),
    fault("width", "a byte told as twelve bits", "L.codec.packed-struct.field",
        assign(f"{edits.FIRST_PACKED}.bits_per_value", 12)),
    fault("no-value", "a field of a row without a codec", "L.codec.encoding.context",
        clear(f"{edits.Z}.value_compression.variable_packed_struct.fields.1.value")),
    fault("field", "lengths of 24 bits", "L.codec.packed-struct.field",
        assign(f"{edits.Z}.value_compression.variable_packed_struct.fields.1.bits_per_length", 24),
        flags="WidthMismatch"),
    fault("row", "a string that leaves bytes of its row", "L.codec.packed-struct.row",
        byte("field c", "value", at=1, new=3, nth=4), flags="BufferTooShort"),
    *cases("file/{2.2,2.3}/packed-struct/wide", "packed rows: decimals, a string, a vector, bytes",
        "L.codec.packed-struct.row", column(pa.array([{"a": i, "b": -i, "s": columns.PATHS[i],
                        "v": [i, 0.5], "l": b"x" * i} for i in range(9)], _WIDE), packed="true")),
    *cases("file/{2.2,2.3}/packed-struct/text-inside",
        "rows that hold a row with a text: a reader without inner lengths goes on too early",
        ("L.codec.packed-struct.row", "L.codec.packed-struct.field"), _INSIDE),
    *faults("file/2.2/packed-struct/text-inside", fault("longer",
            "a row inside of another, which is said to be one byte longer",
            "L.codec.packed-struct.row", add("field c", "value", at=1, nth=3)),
        fault("text", "a text inside that leaves a byte of its row", "L.codec.packed-struct.row",
            add("field c", "value", at=5, by=-1, nth=3))),
    case("file/2.3/packed-struct/zstd", "packed rows in chunks", "L.codec.packed-struct.bits",
        column(pa.array([{"a": i % 3, "b": i % 2} for i in range(1000)], columns.PAIR),
            packed="true", compression="zstd")),
    *cases("file/{2.1,2.2}/packed-struct/fixed", "a packed struct: rows of 2 + 4 + 1 bytes",
        "L.codec.packed-struct.bits", column(columns.PACKED, packed="true")),
    *faults("file/2.1/packed-struct/fixed",
        fault("fields", "rows of three fields in a struct of two", "L.page.leaf.kind",
            edits.descriptor({"schema.fields": lambda old: old[:-1]})),
        fault("bits", "fields that do not fill the row", "L.codec.packed-struct.bits",
            assign(f"{edits.V}.packed_struct.bits_per_value.0", 8)), fault("half",
            "fields of a byte and a half and of four and a half", "L.codec.packed-struct.bits",
            assign(f"{edits.V}.packed_struct.bits_per_value", [12, 36, 8]))),
    *faults("file/2.2/packed-struct/fixed", fault("bits", "fields of one byte less than the row",
            "L.codec.packed-struct.bits", assign(f"{edits.V}.packed_struct.bits_per_value.0", 8))),
    case("file/2.2/packed-struct/kind", "packed rows of a kind, a position and a size: no blobs",
        ("L.codec.packed-struct.bits", "L.blob.kind"),
        column(pa.array([{"kind": 9, "position": 7, "size": 2 ** 40}] * 2, _KINDS), packed="true")),
    case("file/2.1/fixed-size-list/pairs", "vectors of two numbers", "L.page.limits.row",
        pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))),
    fault("no-items", "lists of items without a codec", "L.codec.encoding.context",
        clear(f"{edits.V}.fixed_size_list.values")),
    fault("wide", "2**40 items a list", "L.codec.fixed-size-list.items",
        assign(f"{edits.V}.fixed_size_list.items_per_value", 2 ** 40)),
    fault("numbers", "lists in a column of numbers", "L.page.leaf.kind",
        field(0, logical_type="int64")),
    fault("row", "vectors of 2**30 items", "L.page.limits.row",
        field(0, logical_type="fixed_size_list:float:1073741824"), flags="DimensionHuge"),
    *cases("file/{2.2,2.3}/fixed-size-list/deep", "lists of lists of lists of two",
        "L.codec.fixed-size-list.items", columns.vectors(3)),
    *cases("file/{2.1,2.2}/fixed-size-list/nullable-items",
        "vectors: a bitmap of items before the items", "L.page.leaf.dimension",
        columns.VECTORS_COLUMNS),
    *faults("file/2.1/fixed-size-list/nullable-items",
        fault("schema", "vectors of 2 in a column of 4", "L.page.leaf.dimension",
            field(0, logical_type="fixed_size_list:float:4"), flags="WidthMismatch"),
        fault("dimension", "vectors of 3 in a column of 2", "L.codec.fixed-size-list.bitmap",
            assign(f"{edits.V}.fixed_size_list.items_per_value", 3)),
        fault("bitmap", "a value buffer without its bitmap", "L.page.miniblock.num-buffers",
            assign(f"{edits.V}.fixed_size_list.has_validity", False))),
    *faults("file/2.2/fixed-size-list/nullable-items", fault("constant",
            "items of a chunk that are null and have a bitmap", "L.codec.fixed-size-list.all-null",
            page({"mini_block_layout.value_compression.fixed_size_list.has_validity": True,
                    "mini_block_layout.value_compression.fixed_size_list.values.constant": {}}))),
    *cases("file/{2.1,2.2}/fixed-size-list/many-items", "vectors: a bitmap of items of many bytes",
        ("L.page.leaf.dimension", "L.codec.fixed-size-list.bitmap"),
        pa.array([[None if (3 * i + j) % 7 == 0 else i * j for j in range(3)] for i in range(50)],
            pa.list_(pa.int16(), 3))),
    *cases("file/{2.1,2.2}/fixed-size-list/nested", "vectors of vectors, nulls at every level",
        "L.page.leaf.dimension", columns.NESTED_VECTORS),
)  # fmt: skip
