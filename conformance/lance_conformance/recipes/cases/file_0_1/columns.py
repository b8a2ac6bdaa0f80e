"""Cases of columns of 0.1: plain values, bytes, dictionaries, lists, structs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

from lance_conformance.recipes import columns
from lance_conformance.recipes.cases.file_0_1 import container
from lance_conformance.recipes.cases.file_0_1.container import byte_of, early_table, pages, span
from lance_conformance.recipes.constructors import case, fault
from lance_conformance.recipes.edits import SECOND, manifest
from lance_conformance.recipes.handmade_files import edited
from lance_conformance.recipes.model import Input, Recipe
from lance_conformance.recipes.oracle_files import dataset, stored, write

ITEMS_BELOW_NULL = pa.Array.from_buffers(pa.list_(pa.int8()), 3,
    [pa.py_buffer(b"\x05"), pa.array([0, 1, 3, 4], container.INT32).buffers()[1]],
    children=[pa.array([1, 2, 3, 4], pa.int8())])  # fmt: skip

_THIRDS = pa.array([number % 3 == 1 for number in range(27)])


def _no_words(uri: str) -> pa.Table:
    """Write one row of a dictionary, and delete it with its file."""
    table = pa.table({"d": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["a"])})
    write(table, uri, **container.LEGACY).delete("d = 'a'")
    for path in Path(uri, "data").iterdir():
        path.unlink()
    none = pa.DictionaryArray.from_arrays(pa.array([], pa.int8()), pa.array([], pa.string()))
    return pa.table({"d": none})


def _numbers(arrays: Mapping[str, pa.Array]) -> Callable[[], Input]:
    """Return a maker of a table of fixed-width columns, of which nulls read as zero."""
    zeros = {
        name: pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]])
        for name, array in arrays.items()
    }
    return stored(pa.table(dict(arrays)), holds=pa.table(zeros), version="legacy")


def _dictionary_read(values: pa.Array, keys: list[int | None]) -> Callable[[], Input]:
    """Return a maker of dictionary rows: a null key reads as the first value."""
    written, read = (
        pa.table({"d": pa.DictionaryArray.from_arrays(pa.array(own, pa.int8()), values)})
        for own in (keys, [key or 0 for key in keys])
    )
    return stored(written, holds=read, version="legacy", max_rows_per_group=3)


CASES: tuple[Recipe, ...] = (
    case("file/0.1/list/lists", "a null list is empty",
        ("L.legacy.list.first-offset", "L.legacy.list.items"),
        early_table({"l": columns.LISTS}, {"l": [[1, 2], [], [], [3, 0], [4]]})),
    fault("offsets-short", "a page of lists with as many offsets as rows",
        "L.legacy.page-table.length", pages(0, length=5)),
    fault("offsets-late", "offsets that reach into the page table", "L.legacy.page-table.range",
        pages(0, position=30)),
    fault("items-negative", "a page of -1 items", "L.legacy.page-table.length",
        pages(1, length=-1)),
    fault("first", "a first offset of 1", "L.legacy.list.first-offset",
        byte_of("field l", "offsets", at=0, new=1)),
    fault("items", "offsets that leave out an item", "L.legacy.list.items",
        byte_of("field l", "offsets", at=20, new=4)),
    fault("items-more", "offsets that name an item too many", "L.legacy.list.items",
        byte_of("field l", "offsets", at=20, new=6)),
    case("file/0.1/list/large", "offsets of 64 bits", "L.legacy.list.ascending",
        early_table({"l": pa.array([[1], [], [2, 3]], pa.large_list(pa.int8()))})),
    fault("falling", "offsets 0, 4, 1, 3", "L.legacy.list.ascending",
        byte_of("field l", "offsets", at=8, new=4)),
    case("file/0.1/list/named-items", "items that are called `element` and are never null",
        "L.legacy.list.first-offset", early_table(
            {"l": pa.array([[1], [2, 3]], pa.list_(pa.field("element", container.INT32, False)))})),
    case("file/0.1/list/of-lists", "inner lists of a batch without any: one offset",
        "L.legacy.list.items", early_table(
            {"l": pa.array([[["a"], []], [], [], [["b"]]], pa.list_(pa.list_(pa.string())))},
            max_rows_per_group=2)),
    fault("no-end", "a page of inner lists without the offset that ends it",
        "L.legacy.page-table.length", pages(1, length=0)),
    case("file/0.1/list/of-structs", "items of several children", "L.legacy.struct.children",
        early_table({"l": pa.array([[{"x": 1, "name": "a"}], [], [{"x": 2, "name": "b"}] * 2],
                    pa.list_(container.POINT))})),
    fault("children", "children of three and two items", "L.legacy.struct.children",
        pages(3, length=2)),
    case("file/0.1/list/items-below-null", "the items of a null list become visible",
        "L.legacy.list.items", early_table({"l": ITEMS_BELOW_NULL}, {"l": [[1], [2, 3], [4]]})),
    case("file/0.1/list/of-nulls", "items without bytes", "L.legacy.null.pages",
        early_table({"l": pa.array([[None, None], [], [None]], pa.list_(pa.null()))})),
    case("file/0.1/list/of-lists-none", "a batch of lists that have no lists in them",
        "L.legacy.list.items",
        early_table({"l": pa.array([[[1], []], [], [], []], pa.list_(pa.list_(pa.int32())))},
            max_rows_per_group=2)),
    case("file/0.1/plain/integers", "integers of every width, nulls are zero",
        "L.legacy.plain.values", _numbers({str(type_): columns.integers(type_)
                for type_ in (
                    getattr(pa, f"{u}int{w}")() for u in ("", "u") for w in (8, 16, 32, 64))})),
    case("file/0.1/plain/floats", "floats of every width", "L.legacy.plain.values",
        _numbers({str(t): columns.floats(t) for t in (pa.float16(), pa.float32(), pa.float64())})),
    case("file/0.1/plain/booleans", "a bit each, null is false", "L.legacy.plain.bool",
        early_table({"b": columns.BOOLEANS}, {"b": columns.BOOLEANS.fill_null(False).to_pylist()})),
    case("file/0.1/plain/booleans-more", "a bit each, of more rows than bytes have bits",
        "L.legacy.plain.bool", early_table({"b": _THIRDS})),
    case("file/0.1/plain/booleans-batches", "a bit each, in batches that end inside of bytes",
        "L.legacy.plain.bool", early_table({"b": _THIRDS}, max_rows_per_group=9)),
    *(case(f"file/0.1/plain/{name}", f"{array.type}, null is zero",
            tuple(f"L.legacy.{clause}" for clause in ("plain.values",)), _numbers({"t": array}))
        for name, array in columns.TEMPORAL.items()),
    case("file/0.1/plain/decimals", "decimals of 128 and 256 bits", "L.legacy.plain.values",
        _numbers(columns.DECIMALS)),
    case("file/0.1/plain/fixed-size-binary", "three bytes each", "L.legacy.plain.values",
        _numbers({"f": columns.FIXED_BINARY})),
    case("file/0.1/plain/vectors", "fixed-size lists are their items",
        "L.legacy.plain.fixed-size-list",
        early_table({"v": pa.array([[1.5, 2.5], [0.0, -1.0]], pa.list_(pa.float32(), 2))})),
    fault("type", "vectors of strings", "L.legacy.column.type",
        manifest({"fields.0.logical_type": "fixed_size_list:string:2"})),
    case("file/0.1/plain/vectors-of-bools", "nine bits back to back",
        "L.legacy.plain.fixed-size-list",
        early_table({"v": pa.array([[True, False, True], [False, True, True], [True] * 3],
                    pa.list_(pa.bool_(), 3))})),
    case("file/0.1/plain/below-nulls", "a null that lies on 77 reads as 77", "L.legacy.plain.nulls",
        early_table({"a": pa.Array.from_buffers(pa.int16(), 3,
                    [pa.py_buffer(b"\x05"), pa.array([1, 77, 3], pa.int16()).buffers()[1]])},
            {"a": [1, 77, 3]})),
    case("file/0.1/binary/strings", "no bytes are null",
        ("L.legacy.binary.null", "L.legacy.binary.utf8"),
        early_table({"s": pa.array(columns.STRINGS)},
            {"s": [value or None for value in columns.STRINGS]})),
    fault("utf8", "a string that is not UTF-8", "L.legacy.binary.utf8",
        byte_of("field s", "bytes of values", at=0, new=0xFF)),
    case("file/0.1/binary/not-nullable", "no bytes are empty where null may not be",
        "L.legacy.binary.null", stored(
            pa.table({"s": ["", "a", ""]}, schema=pa.schema([pa.field("s", pa.string(), False)])),
            version="legacy")),
    case("file/0.1/binary/bytes", "byte strings with offsets of either width in memory",
        ("L.legacy.binary.offsets", "L.legacy.binary.ascending"),
        early_table({"b": pa.array([b"\x00", None, b"ab"], pa.binary()),
                "l": pa.array([b"\xff", b"x", None], pa.large_binary())})),
    fault("falling", "offsets 0, 3, 1, 3", "L.legacy.binary.ascending",
        span("field b", "offsets", new=container.i64(3), at=8)),
    fault("outside", "an offset after the data", "L.legacy.binary.offsets",
        span("field l", "offsets", new=container.i64(2 ** 40), at=24)),
    fault("negative", "an offset of -1", "L.legacy.binary.offsets",
        span("field b", "offsets", new=container.i64(-1))),
    case("file/0.1/dictionary/strings", "values in the manifest file and in the data file",
        ("L.legacy.dictionary.values", "L.legacy.dictionary.location"),
        _dictionary_read(pa.array(["aa", "b"]), [0, 1, 1, 0])),
    fault("key", "a key of 2, and two values", "L.legacy.dictionary.key-range",
        byte_of("field d", "values", at=1, new=2)),
    fault("key-negative", "a key of -1", "L.legacy.dictionary.key-range",
        byte_of("field d", "values", at=0, new=0xFF)),
    fault("no-location", "a schema that does not say where the values are",
        "L.legacy.dictionary.location", manifest({"fields.0.dictionary": None})),
    fault("far", "values after the file", "L.legacy.dictionary.values",
        manifest({"fields.0.dictionary.offset": 2 ** 40})),
    fault("many", "2**40 values", "L.legacy.dictionary.values",
        manifest({"fields.0.dictionary.length": 2 ** 40})),
    case("file/0.1/dictionary/integers", "plain values", "L.legacy.dictionary.value-type",
        _dictionary_read(pa.array([700, -1], pa.int16()), [1, 0, 1, 1])),
    fault("type", "booleans as values", "L.legacy.dictionary.value-type",
        manifest({"fields.0.logical_type": "dict:bool:int8:false"})),
    case("file/0.1/dictionary/nulls", "a null key is the key below it",
        "L.legacy.dictionary.key-range",
        _dictionary_read(pa.array(["a", "b"]), [1, None, 1, None])),
    case("file/0.1/dictionary/no-values", "a dictionary of no values, in a table of no rows",
        "L.legacy.dictionary.values",
        edited(dataset(_no_words), manifest({"fields.0.dictionary.length": 0}, SECOND))),
    case("file/0.1/struct/nested", "a null struct is a struct of nulls and zeros",
        "L.legacy.struct.children",
        early_table({"s": pa.array([{"x": 1, "name": "a"}, None], container.POINT)},
            {"s": [{"x": 1, "name": "a"}, {"x": 0, "name": None}]})),
    case("file/0.1/struct/null-field", "pages without bytes", "L.legacy.null.pages",
        early_table({"s": pa.array([{"n": None, "x": 1}, {"n": None, "x": 2}],
                    pa.struct([("n", pa.null()), ("x", pa.int8())]))})),
)  # fmt: skip
