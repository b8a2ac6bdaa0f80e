"""Columns for round trips through the oracle: name -> (array, field metadata, versions)."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

V21, V22, V23 = "2.1", "2.2", "2.3"
ALL = (V21, V22, V23)
NEW = (V22, V23)
RNG = np.random.default_rng(7)
FLOAT = pa.float32()


@dataclass(frozen=True)
class Shape:
    """One column to write; `batches` > 1 writes it in as many pages."""

    array: pa.Array
    metadata: dict[str, str] = field(default_factory=dict)
    versions: tuple[str, ...] = ALL
    batches: int = 1


SHAPES: dict[str, Callable[[], Shape]] = {}


def shape(name: str, versions: tuple[str, ...] = ALL, batches: int = 1, **metadata: str):
    """Register a function that makes the array of a shape."""

    def register(make: Callable[[], pa.Array]) -> Callable[[], pa.Array]:
        keys = {f"lance-encoding:{key.replace('_', '-')}": value for key, value in metadata.items()}
        SHAPES[name] = lambda: Shape(make(), keys, versions, batches)
        return make

    return register


def with_nulls(array: pa.Array, every: int = 3) -> pa.Array:
    """Return the array with every n-th value null."""
    mask = pa.array(np.arange(len(array)) % every == 1)
    return pa.compute.if_else(mask, pa.scalar(None, array.type), array)


def _registered_primitives() -> None:
    numbers = {
        f"{sign}int{w}": np.dtype(f"{sign}int{w}") for sign in ("", "u") for w in (8, 16, 32, 64)
    }
    for name, dtype in numbers.items():
        info = np.iinfo(dtype)
        wide = RNG.integers(info.min, info.max, 3000, dtype=dtype, endpoint=True)
        small = RNG.integers(0, 100, 3000).astype(dtype)
        shape(f"{name} full range")(lambda wide=wide: pa.array(wide))
        shape(f"{name} small nullable")(lambda small=small: with_nulls(pa.array(small)))
    for bits in (16, 32, 64):
        floats = RNG.standard_normal(2500).astype(f"float{bits}")
        shape(f"float{bits}")(lambda floats=floats: pa.array(floats))
        shape(f"float{bits} nullable")(lambda floats=floats: with_nulls(pa.array(floats)))
    temporal = [
        *(pa.timestamp(u) for u in ("s", "ms", "us", "ns")),
        *(pa.duration(u) for u in ("s", "ms", "us", "ns")),
        pa.timestamp("us", "UTC"),
        pa.timestamp("ns", "+02:00"),
        pa.date64(),
        pa.time64("us"),
        pa.time64("ns"),
    ]
    day = 86_400_000
    for type_ in temporal:
        data = pa.array(np.arange(1500, dtype=np.int64) * day % (day * 900)).cast(pa.int64())
        if pa.types.is_time(type_):
            data = pa.array(np.arange(1500, dtype=np.int64) * 1000)
        shape(f"{type_}")(lambda d=data, t=type_: with_nulls(d.view(t)))
    for type_ in (pa.date32(), pa.time32("s"), pa.time32("ms")):
        data = pa.array(np.arange(1500, dtype=np.int32) % 86_400)
        shape(f"{type_}")(lambda d=data, t=type_: with_nulls(d.view(t)))
    shape("bool")(lambda: pa.array(RNG.integers(0, 2, 9001).astype(bool)))
    shape("bool nullable")(lambda: with_nulls(pa.array(RNG.integers(0, 2, 9001).astype(bool))))


_registered_primitives()


@shape("decimal128")
def _decimal128() -> pa.Array:
    values = [decimal.Decimal(int(v)).scaleb(-3) for v in RNG.integers(-(10**9), 10**9, 300)]
    return with_nulls(pa.array(values, pa.decimal128(20, 3)))


@shape("decimal256")
def _decimal256() -> pa.Array:
    values = [decimal.Decimal(int(v)) * 10**30 for v in RNG.integers(-(10**9), 10**9, 300)]
    return with_nulls(pa.array(values, pa.decimal256(60, 2)))


@shape("fixed size binary")
def _fixed_size_binary() -> pa.Array:
    return with_nulls(pa.array([bytes([i % 256] * 5) for i in range(700)], pa.binary(5)))


@shape("decimal128 dictionary")
def _decimal_dictionary() -> pa.Array:
    return pa.array([decimal.Decimal(i % 5) for i in range(1500)], pa.decimal128(38, 0))


for _type in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
    _text = [None if i % 7 == 3 else f"wörd-{i * 37 % 1000}" * (i % 4) for i in range(1500)]
    if pa.types.is_binary(_type) or pa.types.is_large_binary(_type):
        _text = [None if t is None else t.encode() for t in _text]
    shape(f"{_type} nullable")(lambda d=_text, t=_type: pa.array(d, t))
    shape(f"{_type} dictionary")(lambda d=_text, t=_type: pa.array(d[:5] * 300, t))
    shape(f"{_type} zipped", structural_encoding="fullzip", compression="none")(
        lambda d=_text, t=_type: pa.array([v if v is None else v * 9 for v in d[:300]], t)
    )


@shape("fsst")
def _fsst() -> pa.Array:
    return with_nulls(pa.array([f"https://example.org/item/{i * 7919}/view" for i in range(4000)]))


@shape("lz4 strings", compression="lz4")
def _lz4() -> pa.Array:
    return pa.array([f"value {i} of many" for i in range(3000)])


@shape("zstd numbers", compression="zstd", bss="on")
def _zstd() -> pa.Array:
    return pa.array(RNG.standard_normal(3000))


@shape("zipped zstd strings", structural_encoding="fullzip", compression="zstd")
def _zipped_zstd() -> pa.Array:
    return with_nulls(pa.array([f"{i}-" * 300 for i in range(150)]))


@shape("zipped integers", structural_encoding="fullzip", compression="none")
def _zipped_int() -> pa.Array:
    return pa.array(RNG.integers(0, 2**31, 1200), pa.int32())


@shape("zipped nullable integers", structural_encoding="fullzip", compression="none")
def _zipped_null_int() -> pa.Array:
    return with_nulls(pa.array(RNG.integers(0, 2**31, 1200), pa.int32()))


@shape("zipped bool", structural_encoding="fullzip")
def _zipped_bool() -> pa.Array:
    return with_nulls(pa.array(RNG.integers(0, 2, 300).astype(bool)))


@shape("runs")
def _runs() -> pa.Array:
    return pa.array(np.repeat(np.arange(50), 100), pa.int32())


@shape("runs of nulls")
def _null_runs() -> pa.Array:
    return pa.array([None] * 4000 + list(range(4000)), pa.int64())


@shape("few 64-bit values")
def _few() -> pa.Array:
    return pa.array([10**15 + i % 5 for i in range(1500)], pa.int64())


@shape("null type")
def _null() -> pa.Array:
    return pa.nulls(700)


@shape("all null strings")
def _all_null() -> pa.Array:
    return pa.nulls(700, pa.string())


@shape("constant number")
def _constant() -> pa.Array:
    return pa.array([7] * 1300, pa.int32())


@shape("constant bool with nulls")
def _constant_bool() -> pa.Array:
    return pa.array([True, None] * 300)


@shape("constant string")
def _constant_string() -> pa.Array:
    return pa.array(["hello, world"] * 1300)


@shape("constant binary in lists")
def _constant_lists() -> pa.Array:
    return pa.array([[b"abc", None], [], None, [b"abc"]] * 100, pa.list_(pa.large_binary()))


@shape("constant wide fixed binary", (V21, V22))
def _constant_wide() -> pa.Array:
    return pa.array([b"x" * 64] * 200, pa.binary(64))


for _keys in (pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64()):

    def _dictionary(keys: pa.DataType = _keys) -> pa.Array:
        indices = pa.array([None if i % 5 == 2 else i % 3 for i in range(600)], keys)
        return pa.DictionaryArray.from_arrays(indices, pa.array(["a", "bb", "ccc"]))

    shape(f"dictionary of {_keys} keys")(_dictionary)


def _fsl(dimension: int, rows: int, type_: pa.DataType = FLOAT) -> pa.Array:
    items = pa.array(np.arange(dimension * rows) % 97).cast(type_)
    return pa.FixedSizeListArray.from_arrays(items, dimension)


shape("vectors in chunks")(lambda: _fsl(8, 900))
shape("vectors zipped")(lambda: _fsl(100, 300))
shape("nullable vectors zipped")(lambda: with_nulls(_fsl(100, 300)))
shape("nullable vectors in chunks")(lambda: with_nulls(_fsl(6, 900, pa.int16())))


@shape("vectors with null items")
def _null_items() -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(with_nulls(pa.array(np.arange(3000.0))), 3)


@shape("wide vectors with null items")
def _wide_null_items() -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(with_nulls(pa.array(np.arange(30000.0))), 100)


@shape("vectors of all null items")
def _all_null_items() -> pa.Array:
    return pa.array([[None] * 4] * 100, pa.list_(pa.int32(), 4))


@shape("vectors of bool")
def _bool_vectors() -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(RNG.integers(0, 2, 1600).astype(bool)), 16)


@shape("nested vectors")
def _nested_vectors() -> pa.Array:
    inner = with_nulls(pa.FixedSizeListArray.from_arrays(with_nulls(pa.array(range(1200))), 2), 5)
    return with_nulls(pa.FixedSizeListArray.from_arrays(inner, 3), 7)


@shape("lists of numbers")
def _lists() -> pa.Array:
    return pa.array(
        [None if i % 11 == 5 else list(range(i % 6)) for i in range(2000)], pa.list_(pa.int32())
    )


@shape("lists of nullable strings")
def _string_lists() -> pa.Array:
    rows = [[None if j == 2 else f"s{i}" for j in range(i % 5)] for i in range(900)]
    return pa.array(rows, pa.large_list(pa.string()))


@shape("long lists over many chunks")
def _long_lists() -> pa.Array:
    rng = np.random.default_rng(3)
    sizes = [9000, 1, 0, 3000, 5, 1024, 1024, 2, 12000, 7]
    return pa.array([rng.integers(0, 2**60, n).tolist() for n in sizes], pa.list_(pa.int64()))


@shape("lists of lists of lists")
def _deep_lists() -> pa.Array:
    row = [[[1, None], []], None, [], [[3], None, [4, 5, 6]]]
    return pa.array([row, None, [], [[]], row[:2]] * 60, pa.list_(pa.list_(pa.list_(pa.int32()))))


@shape("empty lists only")
def _empty_lists() -> pa.Array:
    return pa.array([[], None, []] * 200, pa.list_(pa.int32()))


@shape("lists of vectors")
def _vector_lists() -> pa.Array:
    vectors = [[float(i)] * 100 for i in range(5)]
    rows = [vectors[: i % 4] if i % 6 else None for i in range(120)]
    return pa.array(rows, pa.list_(pa.list_(pa.float32(), 100)))


@shape("zipped lists of strings", structural_encoding="fullzip", compression="none")
def _zipped_lists() -> pa.Array:
    rows = [[None if j == 1 else "x" * (i + j) for j in range(i % 5)] for i in range(200)]
    return pa.array([*rows, None, []], pa.list_(pa.string()))


@shape("one long zipped list", structural_encoding="fullzip", compression="none")
def _long_zipped() -> pa.Array:
    rows = [[f"item {i} {j}" for j in range(n)] for i, n in enumerate((900, 0, 1, 700))]
    return pa.array(rows, pa.list_(pa.string()))


@shape("structs")
def _structs() -> pa.Array:
    rows = [
        None if i % 9 == 4 else {"a": i, "b": None if i % 4 == 1 else f"t{i}"} for i in range(900)
    ]
    return pa.array(rows, pa.struct([("a", pa.int64()), ("b", pa.string())]))


@shape("structs of lists of structs")
def _mixed() -> pa.Array:
    item = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])
    rows = [
        None
        if i % 13 == 5
        else {
            "n": i,
            "l": None
            if i % 7 == 2
            else [None if j == 3 else {"x": j, "y": ["p"] * (j % 3)} for j in range(i % 5)],
        }
        for i in range(400)
    ]
    return pa.array(rows, pa.struct([("n", pa.int64()), ("l", pa.list_(item))]))


@shape("nested structs with nulls at every level")
def _nested_structs() -> pa.Array:
    type_ = pa.struct([("s", pa.struct([("t", pa.struct([("v", pa.int16())]))]))])
    rows = [
        None, {"s": None}, {"s": {"t": None}}, {"s": {"t": {"v": None}}}, {"s": {"t": {"v": 5}}},
    ]  # fmt: skip
    return pa.array(rows * 100, type_)


@shape("empty structs", (V21, V22))
def _empty_struct() -> pa.Array:
    return pa.array([{}] * 300, pa.struct([]))


@shape("maps", NEW)
def _maps() -> pa.Array:
    rows = [None if i % 8 == 3 else [(f"k{j}", j if j % 2 else None) for j in range(i % 4)]
            for i in range(500)]  # fmt: skip
    return pa.array(rows, pa.map_(pa.string(), pa.int32()))


@shape("fixed-size lists of structs", (V22,))
def _fsl_structs() -> pa.Array:
    inner = pa.array(
        [{"a": i if i % 5 else None} for i in range(900)], pa.struct([("a", pa.int32())])
    )
    return with_nulls(pa.FixedSizeListArray.from_arrays(inner, 3), 7)


@shape("packed structs", packed="true")
def _packed() -> pa.Array:
    rows = [{"a": i, "b": float(i), "c": i % 7} for i in range(900)]
    return pa.array(rows, pa.struct([("a", pa.int32()), ("b", pa.float64()), ("c", pa.int8())]))


@shape("packed structs with strings", NEW, packed="true")
def _packed_strings() -> pa.Array:
    rows = [None if i % 6 == 1 else {"a": i, "b": f"text {i}" * (i % 3)} for i in range(300)]
    return pa.array(rows, pa.struct([("a", pa.int32()), ("b", pa.string())]))


@shape("several pages of numbers", batches=7)
def _pages() -> pa.Array:
    return with_nulls(pa.array(RNG.integers(0, 2**40, 7000)), 500)


@shape("several pages with different layers", batches=4)
def _layered_pages() -> pa.Array:
    rows = [[1, 2]] * 500 + [None, [3]] * 250 + [[], [4]] * 250 + [[None], [5, 6]] * 250
    return pa.array(rows, pa.list_(pa.int32()))


@shape("several pages of structs that do not align", batches=5)
def _struct_pages() -> pa.Array:
    rows = [{"a": i, "b": f"{i}" * (i % 40), "c": [i] * (i % 3)} for i in range(5000)]
    fields = [("a", pa.int64()), ("b", pa.string()), ("c", pa.list_(pa.int32()))]
    return pa.array(rows, pa.struct(fields))


@shape("seventy thousand empty lists")
def _many_empty() -> pa.Array:
    return pa.array([[]] * 70_000 + [[1]] * 10, pa.list_(pa.int32()))
