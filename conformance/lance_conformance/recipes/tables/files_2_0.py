"""Positive cases of 2.0 files: one for each array encoding and type."""

from __future__ import annotations

import pyarrow as pa

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.tables import columns as c

_FLAT = ("L.array.flat.size", "L.array.flat.type-width")


def _case(
    slug: str,
    title: str,
    array: pa.Array,
    clauses: tuple[str, ...],
    batches: int = 1,
    data_cache_bytes: int | None = None,
    **knobs: str,
) -> Positive:
    return Positive(
        id=f"file/2.0/{slug}",
        title=title,
        clauses=clauses,
        make=file(
            column(array, **knobs), "2.0", batches=batches, data_cache_bytes=data_cache_bytes
        ),
        version="2.0",
    )


_INTEGERS = [
    _case(
        f"flat/{name}",
        f"{name}: 0, 1, largest, smallest, null, 7",
        c.integers(getattr(pa, name)()),
        (*_FLAT, "L.array.nullable.validity"),
    )
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
]

_FLOATS = [
    _case(
        f"flat/{name}",
        f"{name}: zeros of both signs, infinities, NaN, null",
        c.floats(getattr(pa, name)()),
        (*_FLAT, "L.array.nullable.validity"),
    )
    for name in ("float16", "float32", "float64")
]

_OTHER_FIXED = [
    _case(f"flat/{name}", f"{array.type} with a null", array, _FLAT)
    for name, array in {
        **c.TEMPORAL,
        **c.DECIMALS,
        "fixed-size-binary": c.FIXED_BINARY,
    }.items()
]

_SHAPES = [
    _case(
        "flat/no-nulls",
        "no null in the page: no validity buffer",
        pa.array([1, 2, 3], pa.int32()),
        ("L.array.flat.size",),
    ),
    _case(
        "flat/all-nulls",
        "only nulls: no buffer at all",
        pa.array([None] * 4, pa.int32()),
        ("L.array.nullable.all-nulls",),
    ),
    _case(
        "flat/null-type",
        "a column of type null",
        pa.nulls(3),
        ("L.array.nullable.all-nulls",),
    ),
    _case(
        "flat/bool",
        "booleans are bits, least significant first",
        c.BOOLEANS,
        ("L.array.flat.width", "L.array.nullable.validity"),
    ),
    _case(
        "binary/string",
        "strings from empty to non-ASCII, with a null",
        pa.array(c.STRINGS),
        ("L.array.ends.order", "L.array.ends.null-adjustment", "L.array.binary.utf8"),
    ),
    _case(
        "binary/large-string",
        "the same strings with 64-bit Arrow offsets",
        pa.array(c.STRINGS, pa.large_string()),
        ("L.array.ends.order", "L.array.ends.width"),
    ),
    _case(
        "binary/binary",
        "bytes that are not UTF-8",
        pa.array([b"", b"\xff\xfe", None, b"\0"], pa.binary()),
        ("L.array.ends.order",),
    ),
    _case(
        "binary/all-null",
        "only null strings: ends that all lie beyond the adjustment",
        pa.array([None, None], pa.string()),
        ("L.array.binary.null-adjustment-value",),
    ),
    _case(
        "binary/zstd",
        "string bytes in a zstd frame after their length",
        pa.array([f"the same words again and again {i}" for i in range(120)]),
        ("L.array.flat.compressed-block",),
        compression="zstd",
    ),
    _case(
        "binary/lz4",
        "string bytes in an lz4 block after their length",
        pa.array([f"the same words again and again {i}" for i in range(120)]),
        ("L.array.flat.compressed-block",),
        compression="lz4",
    ),
    _case(
        "fsst/off",
        "fsst asked for a small page: a table that says off, bytes as they are",
        pa.array(c.STRINGS),
        ("L.array.fsst.inner",),
        compression="fsst",
    ),
    _case(
        "fsst/on",
        "fsst codes with their symbol table",
        c.URLS,
        ("L.array.fsst.inner",),
        compression="fsst",
    ),
    _case(
        "dictionary/automatic",
        "few distinct strings: u8 keys counted from 1, 0 for null",
        pa.concat_arrays([c.CATEGORIES, pa.array([None], pa.string())]),
        ("L.array.dictionary.key-range", "L.array.dictionary.num-items"),
    ),
    _case(
        "dictionary/arrow",
        "an Arrow dictionary: keys from 0, null as an extra item",
        c.DICTIONARY,
        ("L.array.dictionary.key-width", "L.array.dictionary.key-range"),
    ),
    _case(
        "list/int32",
        "lists: two items, null, empty, an item that is null, one item",
        c.LISTS,
        ("L.array.ends.bound", "L.array.list.num-items"),
    ),
    _case(
        "list/large",
        "the same with 64-bit Arrow offsets",
        c.LISTS.cast(pa.large_list(pa.int32())),
        ("L.array.ends.width",),
    ),
    _case(
        "list/list",
        "lists of lists with nulls and empties at both levels",
        c.LISTS_OF_LISTS,
        ("L.array.ends.bound",),
    ),
    _case(
        "list/all-empty",
        "no item at all: one item page of no rows",
        pa.array([[], []], pa.list_(pa.string())),
        ("L.array.list.num-items",),
    ),
    _case(
        "list/multi-page",
        "list pages whose offsets start again at zero",
        pa.array([[i, i + 1, i + 2][: i % 4] for i in range(1200)], pa.list_(pa.int64())),
        ("L.array.list.item-column", "L.file.pages.length"),
        batches=6,
        data_cache_bytes=2000,
    ),
    _case(
        "struct/two-fields",
        "a struct: a header column before those of its fields",
        c.STRUCTS,
        ("L.array.struct.header",),
    ),
    _case(
        "struct/in-list",
        "a list of structs that hold lists",
        pa.array(
            [[{"x": 1, "l": [True]}], [], None, [{"x": None, "l": None}, {"x": 5, "l": []}]],
            c.LISTS_OF_STRUCTS.type,
        ),
        ("L.array.struct.header", "L.array.list.num-items"),
    ),
    _case(
        "fixed-size-list/float",
        "vectors with a null vector and null items",
        c.VECTORS,
        ("L.array.fixed-size-list.dimension", "L.array.nullable.validity"),
    ),
    _case(
        "fixed-size-list/nested",
        "vectors of vectors, nulls at every level",
        c.NESTED_VECTORS,
        ("L.array.fixed-size-list.dimension",),
    ),
    _case(
        "fixed-size-list/bool",
        "vectors of booleans: one bitmap over all items",
        pa.array([[True, False, True], [False, False, True]], pa.list_(pa.bool_(), 3)),
        ("L.array.fixed-size-list.dimension", "L.array.flat.width"),
    ),
    _case(
        "packed-struct/fixed",
        "a packed struct: rows of 2 + 4 + 1 bytes in one buffer",
        pa.array(
            [{"a": 1, "b": 2.5, "c": 3}, {"a": -1, "b": -0.0, "c": 255}],
            pa.struct([("a", pa.int16()), ("b", pa.float32()), ("c", pa.uint8())]),
        ),
        ("L.array.packed-struct.size",),
        packed="true",
    ),
    _case(
        "pages/int64",
        "six pages of one column",
        pa.array(range(1800), pa.int64()),
        ("L.file.pages.length", "L.file.pages.priority"),
        batches=6,
        data_cache_bytes=1024,
    ),
]

POSITIVES: tuple[Positive, ...] = (*_INTEGERS, *_FLOATS, *_OTHER_FIXED, *_SHAPES)
"""Every positive case of 2.0 files."""
