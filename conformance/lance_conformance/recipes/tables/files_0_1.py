"""Positive cases of 0.1: tables written by the oracle, expected as the bytes have their nulls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from lanceref.proto import table_pb2

from lance_conformance.oracle import lance
from lance_conformance.recipes.model import Made, Positive
from lance_conformance.recipes.oracle_made import dataset, write
from lance_conformance.recipes.reflow import edit_message
from lance_conformance.recipes.tables import columns

LEGACY = {"data_storage_version": "legacy"}

INT32 = pa.int32()


def _case(
    slug: str,
    title: str,
    clauses: tuple[str, ...],
    make: Callable[[], Made],
    reachable: bool = True,
) -> Positive:
    return Positive(
        id=f"file/0.1/{slug}",
        title=title,
        clauses=tuple(f"L.legacy.{clause}" for clause in clauses),
        make=make,
        version="0.1",
        kind="read-dataset",
        reachable=reachable,
    )


def _table(
    arrays: Mapping[str, pa.Array],
    reads: Mapping[str, list[object]] | None = None,
    **options: object,
) -> Callable[[], Made]:
    """Return a maker of a table; `reads` says what columns read as that come back otherwise."""

    def steps(uri: str) -> pa.Table:
        table = pa.table(dict(arrays))
        write(table, uri, **LEGACY, **options)
        for name, values in (reads or {}).items():
            at = table.schema.get_field_index(name)
            table = table.set_column(at, table.field(at), pa.array(values, table.field(at).type))
        return table

    return dataset(steps)


def _zeroed(array: pa.Array) -> pa.Array:
    """Return an array of numbers as it reads back: a null is zero."""
    return pa.Array.from_buffers(array.type, len(array), [None, array.buffers()[1]])


def _numbers(arrays: Mapping[str, pa.Array]) -> Callable[[], Made]:
    """Return a maker of a table of fixed-width columns, of which nulls read as zero."""

    def steps(uri: str) -> pa.Table:
        write(pa.table(dict(arrays)), uri, **LEGACY)
        return pa.table({name: _zeroed(array) for name, array in arrays.items()})

    return dataset(steps)


INTEGERS = {
    str(type_): columns.integers(type_)
    for type_ in (getattr(pa, f"{u}int{w}")() for u in ("", "u") for w in (8, 16, 32, 64))
}
BELOW_NULLS = pa.Array.from_buffers(
    pa.int16(), 3, [pa.py_buffer(b"\x05"), pa.array([1, 77, 3], pa.int16()).buffers()[1]]
)
_THIRDS = pa.array([number % 3 == 1 for number in range(27)])
VECTORS = pa.array([[1.5, 2.5], [0.0, -1.0]], pa.list_(pa.float32(), 2))
BITS = pa.array([[True, False, True], [False, True, True], [True] * 3], pa.list_(pa.bool_(), 3))
ITEMS_BELOW_NULL = pa.Array.from_buffers(
    pa.list_(pa.int8()),
    3,
    [pa.py_buffer(b"\x05"), pa.array([0, 1, 3, 4], INT32).buffers()[1]],
    children=[pa.array([1, 2, 3, 4], pa.int8())],
)
POINT = pa.struct([("x", pa.int32()), ("name", pa.string())])


def _not_nullable(uri: str) -> pa.Table:
    schema = pa.schema([pa.field("s", pa.string(), nullable=False)])
    table = pa.table({"s": ["", "a", ""]}, schema=schema)
    write(table, uri, **LEGACY)
    return table


def _dictionary(values: pa.Array, keys: list[int | None]) -> Mapping[str, pa.Array]:
    return {"d": pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), values)}


def _dictionary_read(values: pa.Array, keys: list[int | None]) -> Callable[[], Made]:
    """Return a maker of dictionary rows: a null key reads as the first value."""

    def steps(uri: str) -> pa.Table:
        write(pa.table(dict(_dictionary(values, keys))), uri, **LEGACY, max_rows_per_group=3)
        return pa.table(dict(_dictionary(values, [key or 0 for key in keys])))

    return dataset(steps)


def _column_added(uri: str) -> pa.Table:
    ds = write(pa.table({"a": pa.array([1, 2], INT32)}), uri, **LEGACY)
    ds.add_columns({"b": "a * 2"})
    return pa.table({"a": pa.array([1, 2], INT32), "b": pa.array([2, 4], pa.int64())}).cast(
        lance().dataset(uri).schema
    )


def _hole(uri: str) -> pa.Table:
    """Drop the second of three fields and all rows; what is appended has the ids 0 and 2."""
    rows = pa.table({name: pa.array([1, 2], INT32) for name in "abc"})
    ds = write(rows, uri, **LEGACY)
    ds.drop_columns(["b"])
    ds.delete("a > 0")
    for path in Path(uri, "data").iterdir():
        path.unlink()
    rows = rows.select(["a", "c"])
    write(rows, uri, mode="append")
    return rows


def _unsized() -> Made:
    """Leave the sizes of data files out of the manifest, as old manifests do."""
    made = WORKED()
    (path,) = (name for name in made.files if name.endswith(".manifest"))

    def forget(message: object) -> None:
        assert isinstance(message, table_pb2.Manifest)
        message.fragments[0].files[0].ClearField("file_size_bytes")

    edited = edit_message(path, made.files[path], "manifest", forget).data
    return replace(made, files={**made.files, path: edited}, made_by="hand")


WORKED = _table({"a": pa.array([1, None, 3], INT32)}, {"a": [1, 0, 3]})

_PLAIN = (
    _case("container/worked", "the worked example: 311 bytes",
          ("layout.gaps", "plain.values", "plain.nulls", "page-table.first-id"), WORKED),
    _case("container/no-size", "a manifest that does not say the size of its file",
          ("footer.size",), _unsized, reachable=False),
    _case("container/batches", "seven rows in batches of three",
          ("metadata.batch-offsets",),
          _table({"a": pa.array(range(7), INT32), "s": pa.array(list("abcdefg"))},
                 max_rows_per_group=3)),
    _case("container/two-files", "two fragments of one batch each",
          ("metadata.batches",),
          _table({"a": pa.array(range(4), INT32)}, max_rows_per_file=2, max_rows_per_group=2)),
    _case("container/added-column", "a file whose page table begins at id 1",
          ("page-table.first-id",), dataset(_column_added)),
    _case("container/hole", "a file without the field 1: a row of zeros in its page table",
          ("page-table.holes",), dataset(_hole)),
    _case("plain/integers", "integers of every width, nulls are zero", ("plain.values",),
          _numbers(INTEGERS)),
    _case("plain/floats", "floats of every width", ("plain.values",),
          _numbers({str(t): columns.floats(t)
                    for t in (pa.float16(), pa.float32(), pa.float64())})),
    _case("plain/booleans", "a bit each, null is false", ("plain.bool",),
          _table({"b": columns.BOOLEANS}, {"b": columns.BOOLEANS.fill_null(False).to_pylist()})),
    _case("plain/booleans-more", "a bit each, of more rows than bytes have bits", ("plain.bool",),
          _table({"b": _THIRDS})),
    _case("plain/booleans-batches", "a bit each, in batches that end inside of bytes",
          ("plain.bool",), _table({"b": _THIRDS}, max_rows_per_group=9)),
    *(
        _case(f"plain/{name}", f"{array.type}, null is zero", ("plain.values",),
              _numbers({"t": array}))
        for name, array in columns.TEMPORAL.items()
    ),
    _case("plain/decimals", "decimals of 128 and 256 bits", ("plain.values",),
          _numbers(columns.DECIMALS)),
    _case("plain/fixed-size-binary", "three bytes each", ("plain.values",),
          _numbers({"f": columns.FIXED_BINARY})),
    _case("plain/vectors", "fixed-size lists are their items", ("plain.fixed-size-list",),
          _table({"v": VECTORS})),
    _case("plain/vectors-of-bools", "nine bits back to back", ("plain.fixed-size-list",),
          _table({"v": BITS})),
    _case("plain/below-nulls", "a null that lies on 77 reads as 77", ("plain.nulls",),
          _table({"a": BELOW_NULLS}, {"a": [1, 77, 3]})),
)  # fmt: skip

_NESTED = (
    _case("binary/strings", "no bytes are null", ("binary.null", "binary.utf8"),
          _table({"s": pa.array(columns.STRINGS)},
                 {"s": [value or None for value in columns.STRINGS]})),
    _case("binary/not-nullable", "no bytes are empty where null may not be", ("binary.null",),
          dataset(_not_nullable)),
    _case("binary/bytes", "byte strings with offsets of either width in memory",
          ("binary.offsets", "binary.ascending"),
          _table({"b": pa.array([b"\0", None, b"ab"], pa.binary()),
                  "l": pa.array([b"\xff", b"x", None], pa.large_binary())})),
    _case("list/lists", "a null list is empty", ("list.first-offset", "list.items"),
          _table({"l": columns.LISTS}, {"l": [[1, 2], [], [], [3, 0], [4]]})),
    _case("list/large", "offsets of 64 bits", ("list.ascending",),
          _table({"l": pa.array([[1], [], [2, 3]], pa.large_list(pa.int8()))})),
    _case("list/named-items", "items that are called `element` and are never null",
          ("list.first-offset",),
          _table({"l": pa.array([[1], [2, 3]], pa.list_(pa.field("element", INT32, False)))})),
    _case("list/of-lists", "inner lists of a batch without any: one offset", ("list.items",),
          _table({"l": pa.array([[["a"], []], [], [], [["b"]]], pa.list_(pa.list_(pa.string())))},
                 max_rows_per_group=2)),
    _case("list/of-structs", "items of several children", ("struct.children",),
          _table({"l": pa.array([[{"x": 1, "name": "a"}], [], [{"x": 2, "name": "b"}] * 2],
                                pa.list_(POINT))})),
    _case("list/items-below-null", "the items of a null list become visible", ("list.items",),
          _table({"l": ITEMS_BELOW_NULL}, {"l": [[1], [2, 3], [4]]})),
    _case("struct/nested", "a null struct is a struct of nulls and zeros", ("struct.children",),
          _table({"s": pa.array([{"x": 1, "name": "a"}, None], POINT)},
                 {"s": [{"x": 1, "name": "a"}, {"x": 0, "name": None}]})),
    _case("struct/null-field", "pages without bytes", ("null.pages",),
          _table({"s": pa.array([{"n": None, "x": 1}, {"n": None, "x": 2}],
                                pa.struct([("n", pa.null()), ("x", pa.int8())]))})),
    _case("list/of-nulls", "items without bytes", ("null.pages",),
          _table({"l": pa.array([[None, None], [], [None]], pa.list_(pa.null()))})),
    _case("dictionary/strings", "values in the manifest file and in the data file",
          ("dictionary.values", "dictionary.location"),
          _dictionary_read(pa.array(["aa", "b"]), [0, 1, 1, 0])),
    _case("dictionary/integers", "plain values", ("dictionary.value-type",),
          _dictionary_read(pa.array([700, -1], pa.int16()), [1, 0, 1, 1])),
    _case("dictionary/nulls", "a null key is the key below it", ("dictionary.key-range",),
          _dictionary_read(pa.array(["a", "b"]), [1, None, 1, None])),
)  # fmt: skip

_STATISTICS = (
    _case("statistics/integers", "a batch of nulls has the bounds of the type",
          ("statistics.all-null", "statistics.null-count"),
          _table({"a": pa.array([5, 1, None, None, 7, None], pa.int16())},
                 {"a": [5, 1, 0, 0, 7, 0]}, max_rows_per_group=2)),
    _case("statistics/floats", "NaN is left out, zeros have their signs",
          ("statistics.nan", "statistics.zero-sign"),
          _table({"f": pa.array([0.0, 0.0, -1.0, -0.0, float("nan"), float("nan")])},
                 max_rows_per_group=2)),
    _case("statistics/strings", "bounds of 64 bytes, the greatest made greater",
          ("statistics.prefix", "statistics.increment"),
          _table({"s": pa.array(["z" * 65, "a", "ü" * 40, "x"])}, max_rows_per_group=2)),
    _case("statistics/binary", "a greatest value that carries, and one that cannot grow",
          ("statistics.prefix", "statistics.increment"),
          _table({"b": pa.array([b"a" + b"\xff" * 64, b"b", b"\xff" * 65, b"c"])},
                 max_rows_per_group=2)),
    _case("statistics/structs", "fields in structs are covered, below lists not",
          ("statistics.covered", "statistics.schema", "statistics.fields"),
          _table({"l": pa.array([[1], [2]], pa.list_(INT32)),
                  "s": pa.array([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}], POINT)})),
    _case("statistics/none", "timestamps have none", ("statistics.covered",),
          _table({"t": pa.array([1, 2], pa.timestamp("us"))})),
)  # fmt: skip

POSITIVES: tuple[Positive, ...] = (*_PLAIN, *_NESTED, *_STATISTICS)
"""Every positive case of 0.1."""
