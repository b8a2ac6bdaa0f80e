"""Cases of mini-block pages: chunk tables, chunks, values, levels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from lance_conformance.recipes import blocks, columns, edits
from lance_conformance.recipes.constructors import case, cases, fault, faults, lint
from lance_conformance.recipes.edits import add, assign, byte, field, page
from lance_conformance.recipes.handmade_files import of_pages, words
from lance_conformance.recipes.model import Recipe, SpanPatch
from lance_conformance.recipes.pages import Chunk, chunked, one_chunk


def random_integers(count: int, type_: pa.DataType) -> pa.Array:
    """Return `count` integers over the full range of `type_`."""
    info = np.iinfo(type_.to_pandas_dtype())
    rng = np.random.default_rng(columns.RANDOM_SEED)
    return pa.array(rng.integers(info.min, info.max, count, dtype=type_.to_pandas_dtype()), type_)


_WORD = ("chunk table", "word of chunk 0")
_TABLE = ("L.page.miniblock.table-size", "L.page.miniblock.num-items")
_BITS = (8, 16, 32, 64)
_INTEGERS = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in _BITS]
_TYPES: dict[str, pa.Array] = {**{str(type_): columns.integers(type_) for type_ in _INTEGERS},
    **{f"float{bits}": columns.floats(getattr(pa, f"float{bits}")()) for bits in _BITS[1:]},
    **columns.TEMPORAL, **columns.DECIMALS, "fixed-size-binary": columns.FIXED_BINARY,
    "bool": columns.BOOLEANS}  # fmt: skip

SOME_TYPES = ("int8", "int32", "int64", "float32", "bool", "decimal128", "timestamp-us-zone")
"""Types that stand for the others in 2.2: only the chunk grammar differs from 2.1."""

_BYTES = bytes(i * 7 % 251 for i in range(16384 + 100))
_BIG = [Chunk(16384, (_BYTES[:16384],)), Chunk(100, (_BYTES[16384:],))]
_LAST = one_chunk("2.2", blocks.flat([1, 2, 3, 4], 32), 4)

_NEVER_NULL = chunked("2.2", blocks.flat([0], 32)[0],
    [Chunk(3, (words(7, 8, 9, width=4),), bytes(6))],
    definition=blocks.flat([0], 16)[0])  # fmt: skip
"""Levels that are there and all zero: the layer could be null and is not."""


CASES: tuple[Recipe, ...] = (
    *(case(f"file/{version}/miniblock/{name}",
            f"{array.type} with a null: one flat chunk with definition levels",
            (*_TABLE, "L.page.levels.numbering"), array) for version in ("2.1", "2.2") for name,
        array in _TYPES.items() if version == "2.1" or name in SOME_TYPES),
    case("file/2.2/miniblock/large-chunks", "a chunk of 2**14 bytes, far above what 2.1 can hold",
        ("L.page.miniblock.chunk-bytes", "L.page.miniblock.log"),
        of_pages(pa.array(list(_BYTES), pa.uint8()), "2.2",
            chunked("2.2", blocks.flat([0], 8)[0], _BIG)), reachable=True),
    case("file/2.2/miniblock/last-log", "a last chunk that states its four values",
        "L.page.miniblock.last-log", of_pages(pa.array([1, 2, 3, 4], pa.int32()), "2.2",
            replace(_LAST, buffers=(words(0x22, width=4), _LAST.buffers[1])))),
    fault("rest", "a last chunk that states twice its values", "L.page.miniblock.last-log",
        byte("word of chunk 0", at=0, new=0x23), flags="CountMismatch"),
    case("file/2.2/miniblock/never-null", "definition levels that are all zero",
        "L.page.levels.def-range", of_pages(pa.array([7, 8, 9], pa.int32()), "2.2", _NEVER_NULL)),
    fault("level", "a level that no layer has", "L.page.levels.def-range",
        byte("field c", "levels", at=0, new=2, nth=1), flags="LevelsDisagree"),
    case("file/2.1/miniblock/plain", "three numbers, no level",
        ("L.page.layout.present", "L.page.leaf.width", "L.page.leaf.kind", "L.codec.flat.bits"),
        pa.array([5, 6, 7], pa.int32())),
    fault("no-layout", "a page without a layout", "L.page.layout.present", edits.clear(edits.M),
        flags="MissingPart"),
    fault("width", "four bytes for values of eight", "L.page.leaf.width",
        field(0, logical_type="int64"), flags="WidthMismatch"),
    fault("kind", "numbers in a string column", "L.page.leaf.kind", field(0, logical_type="string"),
        flags="WrongKind"),
    fault("bits", "values of twelve bits", "L.codec.flat.bits",
        assign(f"{edits.V}.flat.bits_per_value", 12), flags="WidthMismatch"),
    fault("num-levels", "levels counted in a page without levels", "L.page.miniblock.num-levels",
        byte("chunk 0", "levels", at=0, new=3), flags="CountMismatch"),
    fault("as-2-2", "a 2.1 file that says 2.2", "L.page.miniblock.large-chunk", edits.minor(2),
        flags="GrammarOfAnotherVersion"),
    fault("constant", "constant values of 2.3 in a 2.1 file", "L.codec.encoding.version",
        page({"mini_block_layout.value_compression.constant.value": bytes(4)}),
        flags="GrammarOfAnotherVersion"),
    case("file/2.1/miniblock/four-chunks", "four chunks of two-bit values",
        ("L.page.miniblock.log", "L.codec.bitpack.count", "L.codec.bitpack.types"),
        columns.small_integers(4000, pa.uint8(), 4)),
    fault("log-none", "a first chunk without a count", "L.page.miniblock.log",
        SpanPatch(("word of chunk 0",), lambda old: bytes([old[0] & 0xF0]) + old[1:]),
        flags="CountMismatch"),
    fault("count", "a last block of more than 1 024 values", "L.codec.bitpack.count",
        add("word of chunk 0", by=-1), flags="CountMismatch"),
    fault("types", "packed values of 24 bits", "L.codec.bitpack.types",
        assign(f"{edits.V}.inline_bitpacking.uncompressed_bits_per_value", 24),
        flags="WidthMismatch"),
    lint("tail", "a value after the last", "L.codec.bitpack.tail",
        SpanPatch(("field c", "block"), lambda old: old[:-1] + bytes([old[-1] | 0xC0]), 3)),
    *cases("file/{2.1,2.2}/miniblock/no-nulls", "no levels at all: two value chunks",
        ("L.page.miniblock.table-size", "L.page.miniblock.num-items"),
        random_integers(700, pa.int64())),
    *faults("file/2.1/miniblock/no-nulls", fault("word-large", "a chunk longer than the buffer",
            "L.page.miniblock.chunk-bytes", byte(*_WORD, at=1, new=0xFF)), fault("log",
            "a chunk of 2**15 values", "L.page.miniblock.num-items", byte(*_WORD, at=0, new=0x0F)),
        fault("last-log", "a last chunk that states its values", "L.page.miniblock.last-log",
            add("chunk table", "word of chunk 1", by=3)),
        fault("table-size", "a chunk table of three bytes", "L.page.miniblock.table-size",
            edits.column_edit({"pages.0.buffer_sizes.0": 3}))),
    *faults("file/2.2/miniblock/no-nulls", fault("log", "a first chunk without a count",
            "L.page.miniblock.log", SpanPatch(_WORD, lambda old: bytes([old[0] & 0xF0]) + old[1:])),
        fault("fewer", "a first chunk of half its values", "L.codec.flat.size",
            add(*_WORD, by=-1))),
    case("file/2.1/flat/far", "flags or nulls far apart in a chunk", "L.codec.flat.size",
        columns.take(columns.FLAGS, "2.1", 9, 50, 90, 95)),
    *faults("file/2.2/miniblock/int32", fault("word", "a chunk of one unit more than the buffer",
            "L.page.miniblock.chunk-bytes", add(*_WORD, by=16)), fault("table-size",
            "a chunk table of three bytes", "L.page.miniblock.table-size", edits.resize(0, -1)),
        fault("small-chunk", "the chunk grammar of 2.1 in a 2.2 file",
            "L.page.miniblock.large-chunk", assign(f"{edits.M}.has_large_chunk", False)),
        fault("as-2-1", "a 2.2 file that says 2.1", "L.page.miniblock.large-chunk", edits.minor(1),
            flags="GrammarOfAnotherVersion"), fault("range", "a range of 2.3 in a 2.2 file",
            "L.codec.encoding.version", assign("mini_block_layout.value_compression.range.step", 1),
            flags="GrammarOfAnotherVersion")),
    *faults("file/2.1/miniblock/int64", fault("word", "a chunk of one unit less than the buffer",
            "L.page.miniblock.chunk-bytes", add(*_WORD, by=-16))),
    *faults("file/2.2/miniblock/int64", fault("value-size", "a value buffer of eight bytes less",
            "L.page.miniblock.chunk-fill", add("chunk 0", "size of value buffer 0", by=-8)),
        fault("num-items", "one value more than rows", "L.page.miniblock.num-items",
            assign(f"{edits.M}.num_items", 7))),
    *faults("file/2.1/miniblock/uint16", fault("size", "a value buffer one byte short",
            "L.codec.flat.size", add("chunk 0", "size of value buffer 0", by=-1))),
    *faults("file/2.2/miniblock/decimal128", fault("size", "a value buffer one byte short",
            "L.codec.flat.size", add("chunk 0", "size of value buffer 0", by=-1))),
    *faults("file/2.1/miniblock/fixed-size-binary", fault("no-width", "binaries of x bytes",
            "L.file.schema.logical-type", field(0, logical_type="fixed_size_binary:x"))),
    *faults("file/2.1/pages/widths", fault("last-log", "a last chunk that states two values",
            "L.page.miniblock.last-log", add(*_WORD))),
    *faults("file/2.1/pages/lists", fault("leftover", "an entry left over at the end of a page",
            "L.page.repindex.rows", add("repetition index", "entries*"))),
    *faults("file/2.1/miniblock/timestamp-us-zone",
        fault("no-zone", "a timestamp without a word for its zone", "L.file.schema.logical-type",
            field(0, logical_type="timestamp:us")), fault("unit", "a timestamp in minutes",
            "L.file.schema.logical-type", field(0, logical_type="timestamp:m:-"))),
    *faults("file/2.1/miniblock/uint8",
        fault("deep", "encodings 70 deep", "L.file.pages.encoding", edits.nested(
                70, {"fixed_size_list.items_per_value": 1}, "fixed_size_list.values"))),
    *faults("file/2.2/miniblock/int8", fault("dictionary", "numbers in a column of dictionaries",
            "L.page.leaf.kind", field(0, logical_type="dict:string:int8:false"))),
    *faults("file/2.1/miniblock/int16", fault("narrow", "two bytes for values of one",
            "L.page.leaf.width", field(0, logical_type="int8"))),
    *faults("file/2.1/miniblock/int32", fault("num-items", "more values than rows",
            "L.page.miniblock.num-items", assign(f"{edits.M}.num_items", 9)),
        fault("num-items-huge", "2**62 values", "L.page.limits.items",
            assign(f"{edits.M}.num_items", 2 ** 62)),
        fault("value-size", "a value buffer beyond its chunk", "L.page.miniblock.chunk-fill",
            byte("chunk 0", "size of value buffer 0", at=1, new=1)),
        fault("num-levels", "one level more than there are", "L.page.miniblock.num-levels",
            byte("chunk 0", "levels", at=0, new=7)),
        fault("large-chunk", "the chunk grammar of 2.2 in a 2.1 file",
            "L.page.miniblock.large-chunk", assign(f"{edits.M}.has_large_chunk", True)),
        fault("num-buffers", "two value buffers for flat values", "L.page.miniblock.num-buffers",
            assign(f"{edits.M}.num_buffers", 2)), fault("spare-buffer",
            "a page buffer nobody asks for", "L.page.miniblock.buffers", edits.spare_buffer()),
        fault("no-values", "a page without value compression", "L.page.miniblock.values-present",
            page({"mini_block_layout.value_compression": None})),
        fault("width", "values of 64 bits in an int32 column", "L.codec.flat.size",
            assign(f"{edits.V}.flat.bits_per_value", 64)),
        *(fault(f"layers-{slug}", title, f"L.page.layers.{clause}",
                assign(f"{edits.M}.layers", codes)) for slug, title, clause, codes in (
                ("none", "no layer at all", "present", ()), ("code", "a layer of no kind", "code",
                    (0,)), ("path", "a list layer in a column without lists", "path", (3, 4)))),
        lint("padding", "zeros after the levels of a chunk", "L.page.miniblock.padding",
            SpanPatch(("chunk 0", "padding"), edits.zeros)),
        fault("def-range", "a definition level no layer has", "L.page.levels.def-range",
            byte("field c", "levels", at=0, new=5, nth=1)),
        fault("buffer-compression", "a compressed flat buffer",
            "L.codec.encoding.buffer-compression", assign(f"{edits.V}.flat.data.scheme", 1)),
        fault("range", "an encoding of 2.3 in a 2.1 file", "L.codec.encoding.version",
            assign(f"{edits.V}.range.step", 1)),
        fault("encoding-none", "a value compression without an arm", "L.codec.encoding.present",
            page({"mini_block_layout.value_compression.flat": None})),
        fault("message", "a page whose description does not parse", "L.file.pages.encoding",
            edits.column_edit({"pages.0.encoding.direct.encoding": b"\xff\xff"}),
            also="L.wire.message")),
)  # fmt: skip
