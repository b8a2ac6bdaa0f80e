"""Cases of constant pages and of dictionaries: one value or few."""

from __future__ import annotations

import pyarrow as pa
from lanceref.proto.file_pb2 import Field

from lance_conformance.recipes import blocks, edits, pages
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.columns import CATEGORIES, DICTIONARY, pairs
from lance_conformance.recipes.constructors import case, cases, fault, faults
from lance_conformance.recipes.edits import add, assign, byte, field, resize, spare_buffer
from lance_conformance.recipes.handmade_files import Page, of_pages, with_pages
from lance_conformance.recipes.model import Recipe, SpanPatch
from lance_conformance.recipes.oracle_files import column
from lance_conformance.recipes.pages import PICKS, one_chunk, picked

_C = "constant_layout"
_NULL_LISTS = pa.array([[None, None], [], None, [None]], pa.list_(pa.int32()))
_POOL = [10**9, 10**9 + 3, 10**9 + 1, 10**9 + 2]
_PICKS = [0, 1, 2, 3, 3, 0]
_ITEMS = [5, 9, 6, 7]
_EVERY = blocks.codecs(_ITEMS, 64)
_CODED: tuple[Block, ...] = (
    *(_EVERY[name] for name in ("flat", "inline_bitpacking", "out_of_line_bitpacking")),
    *(_EVERY[name] for name in ("general", "general at a level")),
    blocks.rle(blocks.flat(_ITEMS, 64), blocks.flat([1] * len(_ITEMS), 8)),
)

_KEYS = pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 1], pa.int8()), ["a", "b", "c"])


def _wide_dictionary(bits: int, width: int) -> Page:
    items = blocks.out_of_line(pages.pair(width), bits)
    return one_chunk("2.2", blocks.flat([0, 1], 8), 2, dictionary=(items, 1024))


_DEEP = [
    Field(type=Field.PARENT, name="s", id=1 + at, parent_id=at or -1, logical_type="struct")
    for at in range(66)
]
"""Structs nested 66 deep, after the one field of a column."""

_PACKED = one_chunk("2.2", blocks.flat(_PICKS, 8), len(_PICKS),
    dictionary=(blocks.out_of_line(_POOL, 64), len(_POOL)))  # fmt: skip


CASES: tuple[Recipe, ...] = (
    case("file/2.1/constant/all-null", "only nulls: a page without buffers", "L.page.constant.form",
        pa.array([None] * 5, pa.int32())),
    fault("value", "a constant value in a 2.1 file", "L.page.constant.only-null",
        assign("constant_layout.inline_value", b"\x07\x00\x00\x00")),
    case("file/2.1/constant/null-type", "a column of type null", "L.page.constant.form",
        pa.nulls(3)),
    *cases("file/{2.1,2.2,2.3}/constant/empty-struct", "a struct without fields, numbers after it",
        "L.page.layers.path", pa.table({"s": pa.array([{}, {}], pa.struct([])), "n": [1, 2]})),
    case("file/2.1/constant/null-lists", "lists without an item: levels and no value",
        "L.page.constant.level-bytes", pa.array([[None, None], [], None], pa.list_(pa.int32()))),
    fault("levels", "a level buffer of an odd size", "L.page.constant.level-bytes", resize(-1, -1)),
    fault("value", "a third buffer in a 2.1 page: a value", "L.page.constant.only-null",
        spare_buffer()),
    case("file/2.2/constant/inline", "one value for every row, in the description",
        "L.page.constant.inline-size", pa.array([7] * 9, pa.int32())),
    fault("size", "an inline value of five bytes", "L.page.constant.inline-size",
        assign("constant_layout.inline_value", bytes(5))),
    case("file/2.2/constant/buffer", "one string for every row, in a buffer of its own",
        "L.page.constant.value-buffer", pa.array(["a string of more than thirty-two bytes"] * 9)),
    fault("sum", "a first buffer one byte longer", "L.page.constant.value-buffer",
        add("size of a buffer"), flags="CountMismatch"),
    fault("start", "a value that begins at its second byte", "L.page.constant.value-buffer",
        add("offsets of the value"), flags="OffsetsNotMonotonic"),
    fault("end", "a value that ends a byte before its buffer", "L.page.constant.value-buffer",
        add("offsets of the value", at=4, by=-1), flags="BufferTooShort"),
    fault("large", "offsets of four bytes for a large string", "L.page.constant.value-buffer",
        field(0, logical_type="large_string"), flags="WidthMismatch"),
    fault("buffer", "a value buffer that claims five buffers", "L.page.constant.value-buffer",
        byte("number of buffers", at=0, new=5)),
    case("file/2.2/constant/list", "one value under lists: levels beside it",
        ("L.page.constant.inline-size", "L.page.constant.level-bytes"),
        pa.array([[5, 5], [], None, [5]], pa.list_(pa.int32()))),
    fault("first-entry", "a page that begins inside a list", "L.page.levels.first-entry",
        byte("field c", "repetition", at=0, new=0)),
    fault("rows", "levels of one row more", "L.page.levels.rows",
        add("field c", "repetition", at=2)),
    case("file/2.2/constant/buffer-fixed",
        "one value of forty bytes for every row, in a buffer of its own",
        "L.page.constant.value-buffer",
        pa.array([b"forty bytes, which no description holds "] * 3, pa.binary(40))),
    case("file/2.2/constant/fixed-size-list-struct", "pairs of structs that are all the same",
        "L.page.layout.scale", pairs([5] * 6)),
    case("file/2.2/constant/pairs-null", "pairs of structs that are the same or null",
        "L.page.layout.scale", pa.FixedSizeListArray.from_arrays(
            pa.array([None if at % 5 == 1 else {"a": 5} for at in range(24)],
                pa.struct([("a", pa.int16())])), 2)),
    case("file/2.1/constant/levels", "lists of nulls: two buffers of raw levels",
        ("L.page.levels.first-entry", "L.page.levels.special-alone", "L.page.levels.rows",
            "L.page.constant.level-count", "L.page.constant.repetition"), _NULL_LISTS),
    fault("first-entry", "a page that begins inside a list", "L.page.levels.first-entry",
        byte("field c", "repetition", at=0, new=0), flags="LevelsDisagree"),
    fault("special", "a null list that continues another", "L.page.levels.special-alone",
        byte("field c", "definition", at=2, new=2), flags="LevelsDisagree"),
    fault("rows", "levels of one row more", "L.page.levels.rows",
        byte("field c", "repetition", at=2, new=1), flags="CountMismatch"),
    fault("count", "fewer definition than repetition levels", "L.page.constant.level-count",
        resize(1, -2), flags="CountMismatch"),
    fault("no-levels", "lists without levels", "L.page.constant.repetition", edits.no_buffers(),
        flags="MissingPart"),
    fault("packed-levels", "levels with a codec in a constant page of 2.1",
        "L.page.constant.only-null",
        assign("constant_layout.def_compression.flat.bits_per_value", 16),
        flags="GrammarOfAnotherVersion"),
    case("file/2.2/constant/packed-levels", "lists of nulls: levels with codecs",
        ("L.page.limits.levels", "L.page.constant.level-count"), _NULL_LISTS),
    fault("wide", "levels of 32 bits", "L.codec.encoding.levels",
        assign("constant_layout.rep_compression.flat.bits_per_value", 32)),
    fault("range", "a definition level of 4 under three", "L.page.levels.def-range",
        byte("field c", "values", at=4, new=4, nth=1)),
    fault("no-count", "definition levels of no count", "L.page.constant.level-count",
        assign(f"{_C}.num_def_values", 0), flags="CountMismatch"),
    fault("levels-huge", "2**40 repetition levels", "L.page.limits.levels",
        assign(f"{_C}.num_rep_values", 2 ** 40), flags="LevelCountHuge"),
    case("file/2.1/constant/null-structs", "structs and their field null: levels without lists",
        ("L.page.constant.level-count", "L.page.levels.numbering"),
        pa.array([None, {"x": None}, None], pa.struct([("x", pa.int32())]))),
    fault("repetition", "repetition without a list", "L.page.constant.repetition", resize(0, 6)),
    fault("levels", "levels of two rows in a page of three", "L.page.constant.level-count",
        resize(1, -2)),
    case("file/2.2/constant/buffer-levels", "one string below lists: value, then both levels",
        ("L.page.constant.value-buffer", "L.page.constant.form"),
        pa.array([["a string of more than thirty-two bytes"] * 2, [], None,
                ["a string of more than thirty-two bytes"]])),
    fault("utf8", "a value that is not UTF-8", "L.page.leaf.utf8",
        byte("field c", "value", at=0, new=0xFF)),
    fault("spare-buffer", "a fourth buffer", "L.page.constant.form", spare_buffer()),
    case("file/2.2/constant/plain", "one number for nine rows",
        ("L.page.constant.form", "L.page.constant.raw-levels", "L.page.constant.value-type"),
        pa.array([2 ** 40] * 9, pa.int64())),
    fault("buffer", "an inline value and one buffer", "L.page.constant.form", spare_buffer(),
        flags="SpareBuffer"),
    fault("levels", "levels with a codec beside a value", "L.page.constant.raw-levels",
        assign(f"{_C}.rep_compression.flat.bits_per_value", 16), flags="WrongKind"),
    fault("type", "one value for a column of vectors", "L.page.constant.value-type",
        field(0, logical_type="fixed_size_list:int8:8"), flags="WrongKind"),
    fault("as-2-1", "a constant value of 2.2 in a file that says 2.1", "L.page.constant.only-null",
        edits.minor(1), flags="GrammarOfAnotherVersion"),
    fault("as-2-3", "a 2.2 file that says 2.3", "L.file.pages.type-url", edits.minor(3),
        stage="metadata", flags="GrammarOfAnotherVersion"),
    case("file/2.2/constant/list-pairs", "one number below lists of pairs: raw repetition levels",
        ("L.page.levels.fsl-group", "L.page.layout.scale"),
        pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), pairs([7] * 6))),
    fault("group", "five slots for pairs", "L.page.levels.fsl-group", resize(0, -2),
        flags="CountMismatch"),
    fault("scale", "three slots for pairs", "L.page.layout.scale",
        edits.column_edit({"pages.0.length": 3}), flags="CountMismatch"),
    case("file/2.2/dictionary/int64", "few distinct integers: an lz4 dictionary",
        "L.page.dictionary.num-items",
        pa.array([10 ** 12 + i % 5 * 10 ** 11 for i in range(600)], pa.int64())),
    case("file/2.2/dictionary/packed-items", "eight-bit indices, a dictionary in one padded block",
        ("L.codec.bitpack.out-of-line", "L.page.dictionary.index-width"),
        of_pages(pa.array([_POOL[pick] for pick in _PICKS], pa.int64()), "2.2", _PACKED),
        reachable=True),
    fault("short", "a dictionary block that ends early", "L.codec.bitpack.out-of-line",
        resize(2, -8), flags="BufferTooShort"),
    *(case(f"file/{version}/dictionary/codecs",
            f"dictionaries of eight-byte items in {len(_CODED)} codecs",
            "L.page.dictionary.num-items",
            with_pages(column(pa.array([_ITEMS[pick] for pick in PICKS] * len(_CODED), pa.int64())),
                version, {0: [picked(version, items, len(_ITEMS)) for items in _CODED]}))
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
        edits.page({"mini_block_layout.value_compression.fixed_size_list.items_per_value": 1,
                "mini_block_layout.value_compression.fixed_size_list.values.flat.bits_per_value":
                32}), flags="WidthMismatch"),
    case("file/2.1/dictionary/decimal", "few distinct decimals: a flat dictionary",
        "L.page.dictionary.index-range",
        pa.array([i % 5 for i in range(300)], pa.int64()).cast(pa.decimal128(19, 0))),
    fault("index", "an index beyond a flat dictionary", "L.page.dictionary.index-range",
        SpanPatch(("field c", "block"), lambda old: b"\xff" * len(old)), flags="IndexBeyondItems"),
    *(case(f"file/2.2/dictionary/widths-{slug}",
            f"dictionaries of {bits}-bit items, packed to {first} to {last} bits",
            "L.codec.bitpack.out-of-line",
            with_pages(column(pages.array_blocks(bits, range(first, last + 1))), "2.2",
                {0: [_wide_dictionary(bits, width) for width in range(first, last + 1)]})) for slug,
        bits, first, last in (("8", 8, 0, 8), ("16", 16, 0, 16), ("32", 32, 0, 32),
            ("64", 64, 0, 44), ("64-wide", 64, 45, 64))),
    *cases("file/{2.1,2.2}/dictionary/string",
        "few distinct strings: indices and a dictionary buffer",
        ("L.page.dictionary.index-range", "L.page.dictionary.num-items"), CATEGORIES),
    *faults("file/2.1/dictionary/string", fault("utf8", "an item that goes on and never began",
            "L.page.leaf.utf8", byte("bytes", at=0, new=0x80)),
        fault("deep", "structs nested 66 deep", "L.file.schema.children",
            edits.descriptor({"schema.fields": lambda old: [*old, *_DEEP]})),
        fault("short", "a dictionary one byte short", "L.codec.variable.offsets", resize(2, -1)),
        fault("head", "a dictionary of three bytes", "L.codec.variable.header", resize(2, -107),
            flags="BufferTooShort"),
        fault("offset-width", "dictionary offsets of 16 bits", "L.codec.variable.header",
            byte("field c", "header", at=0, new=16), flags="WidthMismatch"),
        fault("index", "an index beyond the dictionary", "L.page.dictionary.index-range",
            SpanPatch(("field c", "block"), lambda old: b"\xff" * len(old))),
        fault("num-items", "a dictionary of fewer items", "L.codec.variable.header",
            assign(f"{edits.M}.num_dictionary_items", 3))),
    *cases("file/{2.1,2.2}/dictionary/arrow", "an Arrow dictionary keeps the width of its keys",
        "L.page.dictionary.key-width", DICTIONARY),
    *faults("file/2.1/dictionary/arrow",
        fault("schema", "8-bit indices for keys of 16", "L.page.dictionary.key-width",
            field(0, logical_type="dict:string:int16:false"), flags="WidthMismatch"),
        fault("key-width", "32-bit indices for int8 keys", "L.codec.flat.size",
            assign(f"{edits.V}.flat.bits_per_value", 32))),
    *faults("file/{2.1,2.2}/dictionary/arrow", fault("index", "an index of 3 into three items",
            "L.page.dictionary.index-range", byte("field c", "values", at=0, new=3)),
        fault("null-index", "an index of 3 in a slot that is null", "L.page.dictionary.index-range",
            byte("field c", "values", at=2, new=3))),
    *faults("file/2.2/dictionary/widths-8", fault("bomb", "2**31 items, which need no bytes",
            "L.codec.limits.expansion", assign(f"{edits.M}.num_dictionary_items", 2 ** 31))),
)  # fmt: skip
