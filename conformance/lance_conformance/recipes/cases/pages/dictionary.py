"""Cases of dictionaries of 2.1 and later."""

from __future__ import annotations

import pyarrow as pa
from lanceref.pages.planar import dense_layout
from lanceref.proto.file_pb2 import Field

from lance_conformance.recipes import blocks
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.columns import CATEGORIES, DICTIONARY
from lance_conformance.recipes.constructors import case, cases, fault, faults
from lance_conformance.recipes.edits import M, V, assign, byte, descriptor, field, page, resize
from lance_conformance.recipes.handmade_files import Page, by_hand, fast_lanes, one_page, words
from lance_conformance.recipes.model import Recipe, SpanPatch
from lance_conformance.recipes.oracle_made import column
from lance_conformance.recipes.pages import (
    PICKS,
    array_blocks,
    chunk,
    flat_layout,
    mini_block,
    pair,
    table,
)

_POOL = [10**9, 10**9 + 3, 10**9 + 1, 10**9 + 2]
_PICKS = [0, 1, 2, 3, 3, 0]


_INDICES = chunk(bytes(_PICKS))
_ITEMS = [5, 9, 6, 7]


def _page(items: Block, version: str) -> Page:
    layout = mini_block(flat_layout(8), len(PICKS), (1,))
    mini = layout.mini_block_layout
    mini.dictionary.CopyFrom(items[0])
    mini.num_dictionary_items = len(_ITEMS)
    indices = bytes(PICKS)
    if version == "2.1":
        mini.has_large_chunk = False
        small = words(0, len(indices), width=2).ljust(8, b"\xfe") + indices.ljust(8, b"\xfe")
        return Page(layout, len(PICKS), (words(len(small) // 8 - 1 << 4, width=2), small, items[1]))
    large = chunk(indices)
    described = dense_layout(layout) if version == "2.3" else layout
    return Page(described, len(PICKS), (table((large, 0)), large, items[1]))


_EVERY = blocks.every(_ITEMS, 64)
_CODED: tuple[Block, ...] = (
    *(_EVERY[name] for name in ("flat", "inline_bitpacking", "out_of_line_bitpacking")),
    *(_EVERY[name] for name in ("general", "general at a level")),
    blocks.runs(blocks.flat(_ITEMS, 64), blocks.flat([1] * len(_ITEMS), 8)),
)

_KEYS = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 1], pa.int8()), ["a", "b", "c"])


def _wide_dictionary(bits: int, width: int) -> Page:
    layout = mini_block(flat_layout(8), 2, (1,))
    layout.mini_block_layout.dictionary.CopyFrom(blocks.out_of_line([2**width - 1], bits)[0])
    layout.mini_block_layout.num_dictionary_items = 1024
    indices = chunk(b"\x00\x01")
    return Page(layout, 2, (table((indices, 0)), indices, fast_lanes(pair(width), bits, width)))


_DEEP = [
    Field(type=Field.PARENT, name="s", id=1 + at, parent_id=at or -1, logical_type="struct")
    for at in range(66)
]
"""Structs nested 66 deep, after the one field of a column."""

_PACKED = mini_block(flat_layout(8), 6, (1,))
_PACKED.mini_block_layout.dictionary.CopyFrom(blocks.out_of_line(_POOL, 64)[0])
_PACKED.mini_block_layout.num_dictionary_items = 4


CASES: tuple[Recipe, ...] = (
    case("file/2.2/dictionary/int64", "few distinct integers: an lz4 dictionary",
        "L.page.dictionary.num-items",
        pa.array([10 ** 12 + i % 5 * 10 ** 11 for i in range(600)], pa.int64())),
    case("file/2.2/dictionary/packed-items", "eight-bit indices, a dictionary in one padded block",
        ("L.codec.bitpack.out-of-line", "L.page.dictionary.index-width"),
        one_page(pa.array([_POOL[pick] for pick in _PICKS], pa.int64()), "2.2", _PACKED,
            table((_INDICES, 0)), _INDICES, fast_lanes(_POOL, 64, 30))),
    fault("short", "a dictionary block that ends early", "L.codec.bitpack.out-of-line",
        resize(2, -8), flags="BufferTooShort"),
    *(case(f"file/{version}/dictionary/codecs",
        f"dictionaries of eight-byte items in {len(_CODED)} codecs", "L.page.dictionary.num-items",
        by_hand(column(pa.array([_ITEMS[pick] for pick in PICKS] * len(_CODED), pa.int64())),
        version, {0: [_page(items, version) for items in _CODED]}), reachable=False)
        for version in ("2.1", "2.2", "2.3")),
    case("file/2.1/dictionary/arrow-int16", "indices of 16 bits", "L.page.dictionary.index-width",
        _KEYS.cast(pa.dictionary(pa.type_for_alias("int16"), pa.string()))),
    case("file/2.1/dictionary/arrow-int64", "indices of 64 bits", "L.page.dictionary.index-width",
        _KEYS.cast(pa.dictionary(pa.type_for_alias("int64"), pa.string()))),
    case("file/2.1/dictionary/flat-indices", "indices that are not packed",
        "L.page.dictionary.index-width",
        column(pa.array([f"{i % 3}" * 9 for i in range(200)]), compression="none")),
    fault("index", "an index one after the last item", "L.page.dictionary.index-range",
        byte("field c", "values", at=0, new=7)),
    fault("indices", "lists where indices belong", "L.page.dictionary.index-width",
        page({"mini_block_layout.value_compression.fixed_size_list.items_per_value": 1,
        "mini_block_layout.value_compression.fixed_size_list.values.flat.bits_per_value": 32}),
        flags="WidthMismatch"),
    case("file/2.1/dictionary/decimal", "few distinct decimals: a flat dictionary",
        "L.page.dictionary.index-range",
        pa.array([i % 5 for i in range(300)], pa.int64()).cast(pa.decimal128(19, 0))),
    fault("index", "an index beyond a flat dictionary", "L.page.dictionary.index-range",
        SpanPatch(("field c", "block"), lambda old: b"\xff" * len(old)), flags="IndexBeyondItems"),
    *(case(f"file/2.2/dictionary/widths-{bits}",
        f"dictionaries of {bits}-bit items, packed to 0 to {bits} bits",
        "L.codec.bitpack.out-of-line", by_hand(column(array_blocks(bits, range(bits + 1))), "2.2",
        {0: [_wide_dictionary(bits, width) for width in range(bits + 1)]}), reachable=False)
        for bits in (8, 16, 32)),
    case("file/2.2/dictionary/widths-64", "dictionaries of 64-bit items, packed to 0 to 44 bits",
        "L.codec.bitpack.out-of-line", by_hand(column(array_blocks(64, range(45))), "2.2",
        {0: [_wide_dictionary(64, width) for width in range(45)]}), reachable=False),
    case("file/2.2/dictionary/widths-64-wide",
        "dictionaries of 64-bit items, packed to 45 to 64 bits", "L.codec.bitpack.out-of-line",
        by_hand(column(array_blocks(64, range(45, 65))), "2.2",
            {0: [_wide_dictionary(64, width) for width in range(45, 65)]}), reachable=False),
    *cases("file/{2.1,2.2}/dictionary/string",
        "few distinct strings: indices and a dictionary buffer",
        ("L.page.dictionary.index-range", "L.page.dictionary.num-items"), CATEGORIES),
    *faults("file/2.1/dictionary/string",
        fault("utf8", "an item that goes on and never began", "L.page.leaf.utf8",
            byte("bytes", at=0, new=0x80)),
        fault("deep", "structs nested 66 deep", "L.file.schema.children",
            descriptor({"schema.fields": lambda old: [*old, *_DEEP]})),
        fault("short", "a dictionary one byte short", "L.codec.variable.offsets", resize(2, -1)),
        fault("head", "a dictionary of three bytes", "L.codec.variable.header", resize(2, -107),
            flags="BufferTooShort"),
        fault("offset-width", "dictionary offsets of 16 bits", "L.codec.variable.header",
            byte("field c", "header", at=0, new=16), flags="WidthMismatch"),
        fault("index", "an index beyond the dictionary", "L.page.dictionary.index-range",
            SpanPatch(("field c", "block"), lambda old: b"\xff" * len(old))),
        fault("num-items", "a dictionary of fewer items", "L.codec.variable.header",
            assign(f"{M}.num_dictionary_items", 3))),
    *cases("file/{2.1,2.2}/dictionary/arrow", "an Arrow dictionary keeps the width of its keys",
        "L.page.dictionary.key-width", DICTIONARY),
    *faults("file/2.1/dictionary/arrow",
        fault("schema", "8-bit indices for keys of 16", "L.page.dictionary.key-width",
            field(0, logical_type="dict:string:int16:false"), flags="WidthMismatch"),
        fault("key-width", "32-bit indices for int8 keys", "L.codec.flat.size",
            assign(f"{V}.flat.bits_per_value", 32))),
    *faults("file/{2.1,2.2}/dictionary/arrow", fault("index", "an index of 3 into three items",
        "L.page.dictionary.index-range", byte("field c", "values", at=0, new=3))),
)  # fmt: skip
