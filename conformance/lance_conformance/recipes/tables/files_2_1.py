"""Positive cases of 2.1 and 2.2 files: page layouts and compressive encodings, each once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.tables import columns as c


def _case(
    version: str,
    slug: str,
    title: str,
    array: pa.Array,
    clauses: tuple[str, ...],
    batches: int = 1,
    data_cache_bytes: int | None = None,
    **knobs: str,
) -> Positive:
    return Positive(
        id=f"file/{version}/{slug}",
        title=title,
        clauses=clauses,
        make=file(
            column(array, **knobs),
            version,
            batches=batches,
            data_cache_bytes=data_cache_bytes,
        ),
        version=version,
    )


_TABLE = ("L.page.miniblock.table-size", "L.page.miniblock.num-items")

_TYPES: list[tuple[str, pa.Array]] = [
    *((n, c.integers(getattr(pa, n)())) for n in ("int8", "int16", "int32", "int64")),
    *((n, c.integers(getattr(pa, n)())) for n in ("uint8", "uint16", "uint32", "uint64")),
    *((n, c.floats(getattr(pa, n)())) for n in ("float16", "float32", "float64")),
    *c.TEMPORAL.items(),
    *c.DECIMALS.items(),
    ("fixed-size-binary", c.FIXED_BINARY),
    ("bool", c.BOOLEANS),
]


def _mini(version: str) -> str:
    """Name the chunk grammar: 2.2 has wider chunk words and value sizes."""
    return "miniblock" if version == "2.1" else "miniblock-large"


def types(version: str, names: tuple[str, ...] = ()) -> list[Positive]:
    """One case per fixed-width type: a flat mini-block with definition levels."""
    return [
        _case(
            version,
            f"miniblock/{name}",
            f"{array.type} with a null: one flat chunk with definition levels",
            array,
            (*_TABLE, "L.page.levels.numbering"),
        )
        for name, array in _TYPES
        if not names or name in names
    ]


def chunked(version: str) -> list[Positive]:
    """Every compressive encoding in the chunk grammar of the version."""
    return [*_codecs(version), *_strings(version), *_nesting(version)]


def _codecs(v: str) -> list[Positive]:
    return [
        _case(v, "miniblock/no-nulls", "no levels at all: two value chunks",
              c.random_integers(700, pa.int64()), _TABLE),
        *(
            _case(v, f"bitpack/{bits}", f"{bits}-bit integers below 100 in blocks of 1024",
                  c.small_integers(1500, getattr(pa, f"uint{bits}")(), 100),
                  ("L.codec.bitpack.width", "L.codec.bitpack.payload"))
            for bits in (8, 16, 32, 64)
        ),
        _case(v, "bitpack/widths", "a width that grows from chunk to chunk",
              pa.array(np.arange(3000) ** 2, pa.int32()), ("L.codec.bitpack.width",)),
        _case(v, "rle/int32", "runs of a hundred",
              pa.array(np.repeat(np.arange(50), 100), pa.int32()), ("L.codec.rle.sum",)),
        _case(v, "byte-stream-split/float64", "bytes of doubles in eight streams, then zstd",
              pa.array(np.linspace(0, 1, 2000)), ("L.codec.general.size",),
              compression="zstd", bss="on"),
        _case(v, "general/lz4", "value buffers as lz4 blocks",
              pa.array(np.arange(4000) % 977 * 65537, pa.int32()), ("L.codec.general.size",),
              compression="lz4", bss="off"),
        _case(v, "pages/int32", "four pages, the first rows as priority",
              pa.array(range(2000), pa.int32()), ("L.file.pages.priority", "L.file.pages.length"),
              batches=4, data_cache_bytes=1024),
    ]  # fmt: skip


def _strings(v: str) -> list[Positive]:
    return [
        _case(v, "variable/string", "strings from empty to non-ASCII, with a null",
              pa.array(c.STRINGS), ("L.codec.variable.offsets", "L.page.leaf.utf8")),
        _case(v, "variable/large-string", "64-bit offsets",
              pa.array(c.STRINGS, pa.large_string()), ("L.page.leaf.offset-width",)),
        _case(v, "variable/binary", "bytes that are not UTF-8",
              pa.array([b"", b"\xff\xfe", None, b"\0"], pa.binary()),
              ("L.codec.variable.offsets",)),
        _case(v, "dictionary/string", "few distinct strings: indices and a dictionary buffer",
              c.CATEGORIES, ("L.page.dictionary.index-range", "L.page.dictionary.num-items")),
        _case(v, "dictionary/arrow", "an Arrow dictionary keeps the width of its keys",
              c.DICTIONARY, ("L.page.dictionary.key-width",)),
        _case(v, "fsst/urls", "fsst codes with their symbol table", c.URLS,
              ("L.codec.fsst.table", "L.codec.fsst.code"), compression="fsst"),
    ]  # fmt: skip


def _nesting(v: str) -> list[Positive]:
    levels = ("L.page.levels.numbering", "L.page.repindex.rows")
    return [
        _case(v, "levels/list", "lists: items, null, empty, a null item", c.LISTS, levels),
        _case(v, "levels/list-list", "lists of lists with nulls and empties", c.LISTS_OF_LISTS,
              levels),
        _case(v, "levels/large-list", "lists with 64-bit Arrow offsets",
              c.LISTS.cast(pa.large_list(pa.int32())), levels),
        _case(v, "levels/struct", "a struct that can be null: two leaves repeat its validity",
              c.NULL_STRUCTS, ("L.page.levels.numbering", "L.page.siblings.validity")),
        _case(v, "levels/list-struct-list", "lists of structs that hold lists",
              c.LISTS_OF_STRUCTS, (*levels, "L.page.siblings.offsets")),
        _case(v, "levels/bitpacked", "enough nulls that definition levels are packed",
              pa.array([None if i % 3 == 0 else i * 131071 for i in range(3000)], pa.int64()),
              ("L.page.levels.def-range",)),
        _case(v, "repindex/long-row", "one list spans several chunks",
              pa.array([list(range(3000)), [1], list(range(2000))], pa.list_(pa.int64())),
              ("L.page.repindex.agrees", "L.page.repindex.size")),
        _case(v, "fixed-size-list/nullable-items", "vectors: a bitmap of items before the items",
              c.VECTORS, ("L.page.leaf.dimension",)),
        _case(v, "fixed-size-list/many-items", "vectors: a bitmap of items of many bytes",
              pa.array([[None if (3 * i + j) % 7 == 0 else i * j for j in range(3)]
                        for i in range(50)], pa.list_(pa.int16(), 3)),
              ("L.page.leaf.dimension", "L.codec.fixed-size-list.bitmap")),
        _case(v, "fixed-size-list/nested", "vectors of vectors, nulls at every level",
              c.NESTED_VECTORS, ("L.page.leaf.dimension",)),
        _case(v, "packed-struct/fixed", "a packed struct: rows of 2 + 4 + 1 bytes",
              pa.array([{"a": 1, "b": 2.5, "c": 3}, {"a": -1, "b": -0.0, "c": 255}],
                       pa.struct([("a", pa.int16()), ("b", pa.float32()), ("c", pa.uint8())])),
              ("L.codec.packed-struct.bits",), packed="true"),
    ]  # fmt: skip


def _fullzip(v: str) -> list[Positive]:
    rng = np.random.default_rng(c.RANDOM_SEED)
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.array(rng.standard_normal(100 * 8), pa.float32()), 100
    )
    nullable = pa.FixedSizeListArray.from_arrays(
        vectors.flatten(), 100, mask=pa.array([i in (2, 5) for i in range(8)])
    )
    return [
        _case(v, "fullzip/vectors", "vectors without a null: nothing but values", vectors,
              ("L.page.fullzip.size", "L.page.fullzip.value-bits")),
        _case(v, "fullzip/nullable", "a control byte before each vector, null or not", nullable,
              ("L.page.fullzip.control-bits", "L.page.fullzip.num-visible")),
        _case(v, "fullzip/list-vectors", "lists of vectors, a null and an empty list",
              pa.ListArray.from_arrays(pa.array([0, 2, None, 2, 2, 8], pa.int32()), vectors),
              ("L.page.fullzip.repetition", "L.page.rowindex.order")),
        _case(v, "fullzip/binary", "long binaries after their lengths",
              c.long_binaries(12, 400), ("L.page.rowindex.order",)),
        _case(v, "fullzip/zstd", "each long value a zstd frame of its own",
              pa.array([f"{i} the same words over and over " * 20 for i in range(80)]),
              ("L.codec.general.size",), compression="zstd"),
    ]  # fmt: skip


def _constant(v: str) -> list[Positive]:
    return [
        _case(v, "constant/all-null", "only nulls: a page without buffers",
              pa.array([None] * 5, pa.int32()), ("L.page.constant.form",)),
        _case(v, "constant/null-type", "a column of type null", pa.nulls(3),
              ("L.page.constant.form",)),
        _case(v, "constant/null-lists", "lists without an item: levels and no value",
              pa.array([[None, None], [], None], pa.list_(pa.int32())),
              ("L.page.constant.level-bytes",)),
    ]  # fmt: skip


_ONLY_2_2 = [
    _case("2.2", "constant/inline", "one value for every row, in the description",
          pa.array([7] * 9, pa.int32()), ("L.page.constant.inline-size",)),
    _case("2.2", "constant/buffer", "one string for every row, in a buffer of its own",
          pa.array(["a string of more than thirty-two bytes"] * 9),
          ("L.page.constant.value-buffer",)),
    _case("2.2", "constant/list", "one value under lists: levels beside it",
          pa.array([[5, 5], [], None, [5]], pa.list_(pa.int32())),
          ("L.page.constant.inline-size", "L.page.constant.level-bytes")),
    _case("2.2", "levels/rle", "definition levels in runs",
          pa.array([None] * 2000 + list(range(1000, 3000)), pa.int32()),
          ("L.codec.rle.sum",)),
    _case("2.2", "levels/map", "maps: two leaves under one list of entries", c.MAPS,
          ("L.page.levels.numbering", "L.page.siblings.offsets")),
    _case("2.2", "dictionary/int64", "few distinct integers: an lz4 dictionary",
          pa.array([10**12 + i % 5 * 10**11 for i in range(600)], pa.int64()),
          ("L.page.dictionary.num-items",)),
]  # fmt: skip

SOME_TYPES = ("int8", "int32", "int64", "float32", "bool", "decimal128", "timestamp-us-zone")
"""Types that stand for the others in 2.2: only the chunk grammar differs from 2.1."""

POSITIVES: tuple[Positive, ...] = (
    *types("2.1"), *chunked("2.1"), *_fullzip("2.1"), *_constant("2.1"),
    *types("2.2", SOME_TYPES), *chunked("2.2"), *_ONLY_2_2,
)  # fmt: skip
"""Every positive case of 2.1 and 2.2 files."""
