"""Cases of full-zip pages: control words, values, lengths, row index."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from lance_conformance.recipes import columns, edits
from lance_conformance.recipes.constructors import case, cases, fault, faults, lint
from lance_conformance.recipes.edits import add, assign, byte, page, resize
from lance_conformance.recipes.model import Positive, Recipe
from lance_conformance.recipes.oracle_files import column
from lance_conformance.recipes.pages import vectors_3

_zip_column = partial(column, structural_encoding="fullzip")
"""Returns a table of one column whose values are zipped."""


def long_binaries(count: int, size: int) -> pa.Array:
    """Return `count` binaries of `size` random bytes, one of them null."""
    rng = np.random.default_rng(columns.RANDOM_SEED)
    return pa.array([rng.bytes(size) if i != 1 else None for i in range(count)], pa.binary())


def _vectors(items: list[float | None]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(items, pa.float32()), 100)


_LONG = pa.array([url * 30 for url in columns.PATHS])
_NUMBERS = pa.array(range(30))
_PAGE = "L.page.fullzip.entry"


def _zipped(ids: str, title: str, array: pa.Array, **knobs: str) -> list[Positive]:
    """Return the cases of a column that is zipped in each version."""
    made = cases(ids, title, _PAGE, _zip_column(array, **knobs))
    plane = ("L.page.planar.zip-levels",)
    return [replace(one, clauses=plane) if "/2.3/" in one.id else one for one in made]


CASES: tuple[Recipe, ...] = (
    case("file/2.1/fullzip/vectors", "vectors without a null: nothing but values",
        ("L.page.fullzip.size", "L.page.fullzip.value-bits"), vectors_3(())),
    fault("no-bits", "values of no bits", "L.page.fullzip.value-bits",
        assign(f"{edits.Z}.bits_per_value", 0), flags="WidthMismatch"),
    fault("size", "a byte less than the values take", "L.page.fullzip.size", resize(-1, -1)),
    fault("value-bits", "values of 3 201 bits", "L.page.fullzip.value-bits",
        assign(f"{edits.Z}.bits_per_value", 3201)),
    case("file/2.1/fullzip/nullable", "a control byte before each vector, null or not",
        ("L.page.fullzip.control-bits", "L.page.fullzip.num-visible"), vectors_3((2, 5))),
    fault("definition", "a definition level no layer has", "L.page.fullzip.control-word",
        byte("control word", at=0, new=9)),
    fault("visible", "a count of visible values that is wrong", "L.page.fullzip.num-visible",
        assign(f"{edits.Z}.num_visible_items", 3)),
    fault("num-items", "more entries than the buffer holds", "L.page.fullzip.num-items",
        assign(f"{edits.Z}.num_items", 9)),
    fault("control-bits", "40 bits of levels", "L.page.fullzip.control-bits",
        assign(f"{edits.Z}.bits_def", 40)),
    case("file/2.1/fullzip/list-vectors", "lists of vectors, a null and an empty list",
        ("L.page.fullzip.repetition", "L.page.rowindex.order"),
        pa.ListArray.from_arrays(pa.array([0, 2, None, 2, 2, 8], pa.int32()), vectors_3(()))),
    lint("visible", "one visible value less than there are", "L.page.fullzip.num-visible",
        assign(f"{edits.Z}.num_visible_items", 1)),
    fault("control-bits", "15 bits of levels more", "L.page.fullzip.control-bits",
        assign(f"{edits.Z}.bits_rep", 17)),
    fault("row-index", "a row that starts a byte later", "L.page.rowindex.total",
        byte("start of row 0", at=0, new=1)),
    case("file/2.1/fullzip/binary", "long binaries after their lengths", "L.page.rowindex.order",
        long_binaries(12, 400)),
    fault("length", "a value longer than the page", "L.page.fullzip.length",
        byte("field c", "length", at=3, new=0x7F)),
    case("file/2.1/fullzip/zstd", "each long value a zstd frame of its own", "L.codec.general.size",
        column(pa.array([f"{i} the same words over and over " * 20 for i in range(80)]),
            compression="zstd")),
    case("file/2.2/fullzip/fixed-size-list-struct", "pairs of structs, one after the other",
        "L.page.layout.scale", _zip_column(columns.pairs([1, 2, 3, 4, 5, 6]))),
    case("file/2.1/fullzip/flags-sixteen", "zipped values of sixteen booleans",
        "L.codec.fixed-size-list.whole-bytes",
        _zip_column(pa.array([[at * row % 5 < 2 for at in range(16)] for row in range(1, 5)],
                pa.list_(pa.bool_(), 16)))),
    fault("nine", "zipped values of nine booleans", "L.codec.fixed-size-list.whole-bytes",
        page({"full_zip_layout.value_compression.fixed_size_list.items_per_value": 9})),
    case("file/2.1/fullzip/nullable-items", "zipped vectors of eight numbers, some of them null",
        ("L.codec.fixed-size-list.bitmap", "L.page.fullzip.value-bits"),
        _zip_column(pa.array([[None if (at + row) % 3 == 0 else at * row for at in range(8)]
                    for row in range(4)], pa.list_(pa.int16(), 8)))),
    case("file/2.2/fullzip/pairs-strings", "zipped pairs of structs of strings",
        "L.page.layout.scale", _zip_column(pa.FixedSizeListArray.from_arrays(
                pa.array([{"s": "x" * at} for at in range(14)], pa.struct([("s", pa.string())])),
                2))),
    case("file/2.1/fullzip/list-strings", "lists of strings: control word, length, bytes",
        ("L.page.fullzip.values-present", "L.page.fullzip.details", "L.page.fullzip.buffers",
            "L.page.fullzip.entry", "L.page.fullzip.row-start", "L.page.rowindex.width"),
        _zip_column(pa.array([["ab", "c"], [], ["d"]]))),
    fault("no-values", "zipped values without a codec", "L.page.fullzip.values-present",
        edits.clear(f"{edits.Z}.value_compression"), flags="MissingPart"),
    fault("details", "neither bits per value nor per offset", "L.page.fullzip.details",
        edits.clear(f"{edits.Z}.bits_per_offset"), flags="MissingPart"),
    fault("repetition", "lists without repetition bits", "L.page.fullzip.repetition",
        assign(f"{edits.Z}.bits_rep", 0), flags="LevelsDisagree"),
    fault("buffer", "a third buffer", "L.page.fullzip.buffers", edits.spare_buffer(),
        flags="SpareBuffer"),
    fault("empty-row", "a row without bytes", "L.page.fullzip.entry",
        byte("start of row 1", at=0, new=0), flags="OffsetsNotMonotonic"),
    fault("row-start", "a row that starts inside a list", "L.page.fullzip.row-start",
        byte("start of row 1", at=0, new=7), flags="LevelsDisagree"),
    fault("index-width", "a row index of three bytes for four positions", "L.page.rowindex.width",
        resize(1, -1), flags="BufferTooShort"),
    fault("index-order", "positions that fall", "L.page.rowindex.order",
        byte("start of row 2", at=0, new=5), flags="OffsetsNotMonotonic"),
    fault("flat", "strings whose bytes are called numbers", "L.page.leaf.kind",
        page({"full_zip_layout.value_compression.flat.bits_per_value": 8})),
    case("file/2.1/fullzip/int32", "numbers after a control byte each",
        "L.page.fullzip.control-word", _zip_column(pa.array([1, None, 3], pa.int32()))),
    fault("control-word", "a bit above both levels", "L.page.fullzip.control-word",
        byte("control word", at=0, new=2), flags="LevelsDisagree"),
    fault("variable-rows", "packed rows of 2.2 in a 2.1 file", "L.codec.encoding.version",
        page({f"{edits.FIRST_PACKED}.bits_per_value": 32,
                f"{edits.FIRST_PACKED}.value.flat.bits_per_value": 32}),
        flags="GrammarOfAnotherVersion"),
    case("file/2.1/fullzip/bool", "booleans take a byte each", "L.page.leaf.width",
        _zip_column(pa.array([True, None, False]))),
    fault("def-range", "a level of 2 over one layer of nulls", "L.page.fullzip.control-word",
        byte("control word", at=0, new=2)),
    case("file/2.1/fullzip/null-items", "vectors of 100 items, some null: bitmap, then items",
        ("L.codec.fixed-size-list.size", "L.codec.fixed-size-list.items"),
        _vectors([None if i % 3 else float(i) for i in range(200)])),
    fault("size", "items of half the width", "L.codec.fixed-size-list.size",
        assign(f"{edits.Z}.value_compression.fixed_size_list.values.flat.bits_per_value", 16),
        flags="WidthMismatch"),
    fault("no-items", "lists of no items", "L.codec.fixed-size-list.items",
        assign(f"{edits.Z}.value_compression.fixed_size_list.items_per_value", 0),
        flags="WidthMismatch"),
    case("file/2.1/fullzip/all-null-items", "vectors of nulls: bitmaps alone",
        "L.codec.fixed-size-list.all-null", _vectors([None] * 400)),
    fault("value", "items that are null and have a value", "L.codec.fixed-size-list.all-null",
        assign(f"{edits.Z}.value_compression.fixed_size_list.values.constant.value", b"\x01")),
    fault("no-bitmap", "items that are null without a bitmap", "L.codec.fixed-size-list.all-null",
        assign(f"{edits.Z}.value_compression.fixed_size_list.has_validity", False),
        flags="MissingPart"),
    fault("bitmap", "a valid item where none is stored", "L.codec.fixed-size-list.all-null",
        byte("field c", "value", at=0, new=1), flags="NullWhereNone"),
    *_zipped("file/{2.1,2.2,2.3}/zipped/fsst", "long strings in symbols, one by one", _LONG,
        compression="fsst"),
    *_zipped("file/{2.1,2.2,2.3}/zipped/zstd", "long strings compressed one by one", _LONG,
        compression="zstd"),
    *_zipped("file/{2.2,2.3}/zipped/lz4-level", "strings compressed by lz4, which heeds no level",
        _LONG, compression="lz4", compression_level="3"),
    *_zipped("file/{2.1,2.2,2.3}/zipped/int16", "two bytes each", _NUMBERS.cast(pa.int16())),
    *_zipped("file/{2.2,2.3}/zipped/float64", "eight bytes each", _NUMBERS.cast(pa.float64())),
    *_zipped("file/{2.2,2.3}/zipped/decimal128", "sixteen bytes each",
        _NUMBERS.cast(pa.decimal128(20, 0))),
    *_zipped("file/{2.1,2.2,2.3}/zipped/decimal256", "32 bytes each",
        _NUMBERS.cast(pa.decimal256(40, 0))),
    *_zipped("file/{2.2,2.3}/zipped/vectors", "pairs of bytes", columns.vectors(1)),
    case("file/2.2/zipped/strings", "short strings after their lengths", _PAGE,
        _zip_column(pa.array(columns.PATHS), compression="none")),
    fault("length", "a value that ends after its row", "L.page.fullzip.length",
        add("field c", "length")),
    *_zipped("file/{2.1,2.2,2.3}/zipped/large-strings",
        "lengths of eight bytes, a row index of two",
        pa.array(["x" * i for i in range(60)], pa.large_string())),
    *_zipped("file/{2.1,2.2,2.3}/zipped/lists",
        "lists that are never null: repetition levels alone",
        pa.ListArray.from_arrays(pa.array(range(0, 31, 2), pa.int32()), _NUMBERS)),
    *_zipped("file/2.3/zipped/packed", "packed rows of fixed fields, zipped",
        pa.array([{"a": i, "b": i * 2} for i in range(20)], columns.PAIR), packed="true"),
    *faults("file/2.2/zipped/lz4-level", fault("size", "a block of one byte less than told",
            "L.codec.general.size", add("field c", "value")),
        fault("scheme", "strings compressed by scheme 3", "L.codec.general.scheme",
            assign(f"{edits.Z}.value_compression.general.compression.scheme", 3))),
    *faults("file/2.2/zipped/vectors",
        fault("size", "a byte less than the values take", "L.page.fullzip.size", resize(0, -1))),
    *faults("file/2.1/zipped/int16", fault("num-items", "one value more than there are",
            "L.page.fullzip.num-items", assign(f"{edits.Z}.num_items", 7)),
        fault("bits", "values of 32 bits zipped as 16", "L.codec.flat.size",
            assign(f"{edits.Z}.value_compression.flat.bits_per_value", 32))),
    *faults("file/2.1/zipped/large-strings", fault("length", "a length of 2**63",
            "L.page.fullzip.length", byte("field c", "length", at=7, new=0x80)),
        fault("wide", "zipped lengths of 32 bits for 64", "L.page.leaf.offset-width",
            assign(f"{edits.Z}.bits_per_offset", 32))),
    *faults("file/2.3/zipped/lists", fault("row-start", "a row that starts one entry early",
            "L.page.fullzip.row-start", add("start of row 1", by=-9))),
    *faults("file/2.1/zipped/lists", fault("last", "a last row that ends a byte early",
            "L.page.fullzip.length", add("start of row 4", by=-1))),
    *faults("file/2.2/zipped/large-strings", fault("order", "rows whose starts fall",
            "L.page.rowindex.order", byte("start of row 2", at=0, new=0))),
    *faults("file/2.1/zipped/zstd",
        fault("scheme", "strings compressed by scheme 0", "L.codec.general.scheme",
            assign(f"{edits.Z}.value_compression.general.compression.scheme", 0))),
    *faults("file/2.2/zipped/float64", fault("bits", "zipped values of 56 bits",
            "L.page.fullzip.size", assign(f"{edits.Z}.bits_per_value", 56))),
    *faults("file/2.1/zipped/decimal256", fault("type", "32 bytes for values of 16",
            "L.page.leaf.width", edits.field(0, logical_type="decimal:128:38:0"))),
)  # fmt: skip
