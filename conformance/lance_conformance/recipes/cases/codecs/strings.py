"""Cases of codecs of strings: lengths and symbols."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.columns import STRINGS, URLS
from lance_conformance.recipes.constructors import case, cases, fault, faults, lint
from lance_conformance.recipes.edits import (
    V,
    assign,
    byte,
    clear,
    field,
    more,
    octet,
    page,
    zeros,
)
from lance_conformance.recipes.model import Recipe, SpanPatch
from lance_conformance.recipes.oracle_made import column


def _fewer_symbols(table: bytes) -> bytes:
    """Keep the first ten symbols of a table."""
    lengths_at = 8 + 8 * table[0]
    kept = b"\n" + table[1:88] + table[lengths_at : lengths_at + 10]
    return kept.ljust(len(table), b"\x00")


CASES: tuple[Recipe, ...] = (
    case("file/2.1/variable/empty", "empty strings: a table and no bytes", "L.codec.variable.table",
        pa.array([""] * 6)),
    fault("table", "no room for the last offset", "L.codec.variable.table",
        byte("chunk 0", "size of value buffer 0", at=0, new=25), flags="BufferTooShort"),
    fault("offsets", "offsets of 2.3 in a 2.1 file", "L.codec.encoding.context",
        page({f"{V}.variable.offsets.range.uncompressed_bits_per_value": 32,
                f"{V}.variable.offsets.range.step": 1}), flags="GrammarOfAnotherVersion"),
    *cases("file/{2.1,2.2}/variable/string", "strings from empty to non-ASCII, with a null",
        ("L.codec.variable.offsets", "L.page.leaf.utf8"), pa.array(STRINGS)),
    *faults("file/2.1/variable/string",
        fault("numbers", "strings in a column of numbers", "L.page.leaf.kind",
            field(0, logical_type="int32")),
        fault("fall", "an offset below the one before", "L.codec.variable.offsets",
            byte("field c", "offsets", at=12, new=28), flags="OffsetsNotMonotonic"),
        fault("offsets", "a first offset inside the table", "L.codec.variable.offsets",
            byte("field c", "offsets", at=0, new=1)),
        fault("utf8", "a byte that is not UTF-8", "L.page.leaf.utf8",
            byte("field c", "bytes", at=0, new=0xFF)),
        fault("offset-width", "64-bit offsets in a string column", "L.page.leaf.offset-width",
            assign(f"{V}.variable.offsets.flat.bits_per_value", 64)),
        lint("padding", "zeros after the bytes", "L.codec.variable.padding",
            SpanPatch(("field c", "padding"), zeros, nth=3))),
    *faults("file/2.2/variable/string",
        fault("first", "a first offset one byte early", "L.codec.variable.offsets",
            more("field c", "offsets", by=-1)),
        fault("no-offsets", "strings whose offsets have no codec", "L.codec.encoding.context",
            clear(f"{V}.variable.offsets"))),
    *cases("file/{2.1,2.2}/variable/large-string", "64-bit offsets", "L.page.leaf.offset-width",
        pa.array(STRINGS, pa.large_string())),
    *faults("file/2.1/variable/large-string", fault("offsets", "an offset one beyond the chunk",
        "L.codec.variable.offsets", byte("field c", "offsets", at=-8, new=0xFF))),
    *cases("file/{2.1,2.2}/variable/binary", "bytes that are not UTF-8", "L.codec.variable.offsets",
        pa.array([b"", b"\xff\xfe", None, b"\x00"], pa.binary())),
    *faults("file/2.1/variable/binary",
        fault("value-size", "a value buffer of eight bytes more", "L.page.miniblock.chunk-fill",
            more("chunk 0", "size of value buffer 0", by=8)),
        fault("offsets", "string offsets of 16 bits", "L.codec.encoding.context",
            assign(f"{V}.variable.offsets.flat.bits_per_value", 16))),
    *faults("file/2.2/variable/binary", fault("values", "strings whose bytes are compressed beside",
        "L.codec.encoding.buffer-compression", assign(f"{V}.variable.values.scheme", 2))),
    case("file/2.1/fsst/escapes", "fsst codes, with characters that have none",
        ("L.codec.fsst.escape", "L.codec.fsst.code"),
        column(pa.concat_arrays([URLS, pa.array(["é", "{}|\\^~"])]), compression="fsst")),
    fault("escape", "a value that ends after an escape", "L.codec.fsst.escape",
        SpanPatch(("field c", "bytes"), lambda old: b"\xff" * len(old)), flags="BufferTooShort"),
    case("file/2.1/fsst/off", "fsst asked for short strings: a table that is off",
        "L.codec.fsst.table", column(pa.array(["a", None, "b"]), compression="fsst")),
    fault("values", "symbols of what has no offsets", "L.codec.encoding.context",
        clear(f"{V}.fsst.values.variable")),
    fault("short", "a symbol table one byte short", "L.codec.fsst.table",
        page({"mini_block_layout.value_compression.fsst.symbol_table": lambda old: old[:-1]})),
    *cases("file/{2.1,2.2}/fsst/urls", "fsst codes with their symbol table",
        ("L.codec.fsst.table", "L.codec.fsst.code"), column(URLS, compression="fsst")),
    *faults("file/2.1/fsst/urls",
        fault("code", "a code without a symbol", "L.codec.fsst.code",
            assign(f"{V}.fsst.symbol_table", _fewer_symbols), flags="IndexBeyondItems"),
        fault("table", "a symbol of nine bytes", "L.codec.fsst.table",
            assign(f"{V}.fsst.symbol_table", lambda old: octet(8 + 8 * old[0], 9)(old))),
        fault("escape-last", "a last value that ends after an escape", "L.codec.fsst.escape",
            byte("field c", "bytes", at=-1, new=255, nth=5))),
)  # fmt: skip
