"""Cases of types: every type in one file, extensions, noncanonical pages drawn by chance."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
from lanceref.core.file_versions import V2_1, V2_2, V2_3, FileVersion

from lance_conformance.random_files.testing_package import testing_module
from lance_conformance.recipes.columns import PACKED, TEMPORAL
from lance_conformance.recipes.constructors import case, cases
from lance_conformance.recipes.model import DATA, Input, Maker, Recipe
from lance_conformance.recipes.oracle_files import column, file, stored

_STRUCTS = [{"a": 1, "b": "x", "c": True}, None, {"a": 3, "b": None, "c": False}]
_TABLE = pa.table({"s": pa.array(_STRUCTS), "t": pa.array([7, 8, 9], pa.int16())})

_BELOW = pa.table({"s": pa.array([one and {"a": one["a"], "c": one["c"]} for one in _STRUCTS],
            pa.struct([("a", pa.int64()), ("c", pa.bool_())])), "t": _TABLE["t"]})  # fmt: skip
"""Two of the three fields of the structs."""

_PACKED, _BITS = column(PACKED, packed="true"), "codec.packed-struct.bits"
_PACKED_ROWS = {"2.0": "array.packed-struct.width", "2.1": _BITS, "2.2": _BITS}
_KEYED = pa.table([PACKED],
    schema=pa.schema([pa.field("c", PACKED.type, metadata={"packed": "true"})]))  # fmt: skip
_PART = pa.table({"c": pa.StructArray.from_arrays([PACKED.field("b")], ["b"])})
_Items = Callable[[int], pa.Array]


class _Chance:
    """Columns of one seed."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._rows = self._rng.choice((40, 120, 400))

    def flat(self) -> pa.Table:
        """Return four columns of many types, or lists of numbers or strings."""
        rows, numbers = (self._rows, self._numbers)
        runs = np.repeat(numbers.integers(0, 9, rows // 8), 8).astype(np.int8)
        urls = [f"http://a.b/{i % 13}/index.html" for i in range(rows)]
        vectors = pa.array(numbers.standard_normal(2 * rows), pa.float32())
        columns = {
            "runs": pa.array(runs, mask=self._nulls(0.2)),
            "float": pa.array(numbers.standard_normal(rows), pa.float32()),
            "double": pa.array(numbers.standard_normal(rows), mask=self._nulls(0.5)),
            "urls": pa.array(urls, mask=self._nulls(0.1)),
            "vectors": pa.FixedSizeListArray.from_arrays(vectors, 2),
            "decimals": pa.array(range(rows)).cast(pa.decimal128(20, 0)),
            "lists": self._lists(self._integers(pa.int16()), rows),
            "words": self._lists(lambda count: pa.array(urls * 3).slice(0, count), rows),
            "integers": pa.array(numbers.integers(0, 1000, rows), pa.int64()),
        }
        return pa.table({name: columns[name] for name in self._rng.sample(list(columns), 4)})

    def nested(self) -> pa.Table:
        """Return a column of lists of lists of lists."""
        inner = self._integers(pa.int8())
        return pa.table({"c": self._lists(lambda n: self._twice(inner, n), self._rows // 8)})

    def _twice(self, items: _Items, count: int) -> pa.Array:
        return self._lists(lambda inner_count: self._lists(items, inner_count), count)

    def _nulls(self, share: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        return self._numbers.random(self._rows) < share

    def _integers(self, type_: pa.DataType) -> _Items:
        return lambda count: pa.array(self._numbers.integers(0, 50, count), type_)

    def _lists(self, items: _Items, count: int) -> pa.Array:
        """Return lists of up to three items, of which some may be empty and some null."""
        lengths = self._numbers.integers(self._rng.randrange(2), 4, count)
        nulls = self._numbers.random(count) < self._rng.choice((0, 0.3))
        offsets = np.append(0, np.cumsum(np.where(nulls, 0, lengths)))
        mask = pa.array(nulls) if nulls.any() else None
        ends = pa.array(offsets, pa.int32())
        return pa.ListArray.from_arrays(ends, items(int(offsets[-1])), mask=mask)


def varied(version: FileVersion, seed: int, nested: bool) -> Callable[[], Input]:
    """Return a maker of a noncanonical file drawn from a seed; it needs a checkout."""

    def make() -> Input:
        table = _Chance(seed).nested() if nested else _Chance(seed).flat()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, DATA)
            sampler = testing_module("noncanonical.variations").VariationSampler(seed)
            files = testing_module("noncanonical.files")
            files.write_noncanonical_file(path, table, version, sampler)
            return Input({DATA: path.read_bytes()}, table, made_by="hand")

    return make


_KEYS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_NUMBERS = {"null": pa.nulls(3), "bool": pa.array([True, False, True]),
    **{key: pa.array([1, 2, 3], getattr(pa, key)()) for key in _KEYS},
    "half": pa.array([0.5, -0.0, 2.0], pa.float16()),
    "float": pa.array([0.5, -0.0, 2.0], pa.float32()),
    "double": pa.array([0.5, -0.0, 2.0], pa.float64()),
    "decimal128": pa.array([1, -2, 3]).cast(pa.decimal128(20, 0)),
    "decimal256": pa.array([1, -2, 3]).cast(pa.decimal256(40, 0))}  # fmt: skip

_COMMON = {**_NUMBERS, **{name: array.slice(0, 3) for name, array in TEMPORAL.items()},
    "string": pa.array(["a", "", "b"]), "binary": pa.array([b"a", b"", b"b"]),
    "large binary": pa.array([b"a", b"", b"b"], pa.large_binary()),
    "fixed binary": pa.array([b"ab", b"cd", b"ef"], pa.binary(2)),
    "structs": pa.array([{"x": 1}, {"x": 2}, {"x": 3}], pa.struct([("x", pa.int8())])),
    "lists": pa.array([[1], [], [2, 3]], pa.list_(pa.int16())),
    "lists of structs": pa.array([[{"x": 1}], [], []], pa.list_(pa.struct([("x", pa.int8())]))),
    "large lists": pa.array([[1], [], [2, 3]], pa.large_list(pa.int16())),
    "vectors": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int8(), 2)),
    "map": pa.array([[("a", 1)], [], [("b", 2)]], pa.map_(pa.string(), pa.int32()))}  # fmt: skip

_DOCUMENTS = pa.array(['{"a":1}', "[]", None])
_JSON = pa.schema([pa.field("j", pa.utf8(), metadata={"ARROW:extension:name": "arrow.json"})])
_HELD = pa.table({"j": pa.ExtensionArray.from_storage(pa.json_(), _DOCUMENTS)})
"""A column of text that a table stores as documents, and how it is read."""

_UNITS = ("s", "ms", "us", "ns")


def _dictionary(key: str) -> pa.Array:
    keys = pa.array([1, 0, 1], getattr(pa, key)())
    return pa.DictionaryArray.from_arrays(keys, pa.array(["a", "bc"]))


_LARGE = {"large string": pa.array(["a", "bc", "d"], pa.large_string()),
    "large structs": pa.array([[{"x": 1}, {"x": 2}], [], [{"x": 3}]],
        pa.large_list(pa.struct([("x", pa.int32())])))}  # fmt: skip

_BFLOAT16 = pa.field("item", pa.binary(2), metadata={"ARROW:extension:name": "lance.bfloat16",
        "ARROW:extension:metadata": ""})  # fmt: skip
_VECTORS = {"bfloat16 vectors": pa.FixedSizeListArray.from_arrays(
        pa.array([b"\x00?", b"\x80?"] * 3, pa.binary(2)), type=pa.list_(_BFLOAT16, 2))}  # fmt: skip

_RARE = {**{f"timestamp {u}": pa.array([1, 0, -7], pa.timestamp(u)) for u in _UNITS},
    **{f"zoned {u}": pa.array([2, 0, -1], pa.timestamp(u, "Asia/Tokyo")) for u in _UNITS},
    **{f"duration {u}": pa.array([-3, 0, 4], pa.duration(u)) for u in _UNITS},
    **{f"dictionary {key}": _dictionary(key) for key in _KEYS}, **_LARGE, **_VECTORS}  # fmt: skip


def _rare(version: str) -> Maker:
    """Describe a table of rare types, which a table takes and a file alone does not (bfloat16)."""
    return stored(pa.table(_RARE), version="legacy" if version == "0.1" else version)


def _part(version: str) -> Maker:
    return lambda: Input(file(_PACKED, version)().files, _PART)


_FLAT, _NESTED = ("flat", "four columns"), ("nested", "lists of lists of lists")
_ODD = ((V2_1, *_FLAT, 84), (V2_1, *_NESTED, 53), (V2_1, *_NESTED, 54), (V2_2, *_FLAT, 70),
    (V2_3, *_FLAT, 168), (V2_3, *_NESTED, 75))  # fmt: skip

CASES: tuple[Recipe, ...] = (
    case("file/2.1/asked/below", "two fields of a struct and a number are asked for by their names",
        "L.file.schema.children", lambda: Input(file(_TABLE, "2.1")().files, _BELOW),
        args={"columns": ["s.a", "s.c", "t"]}),
    *(case(f"file/{version}/asked/packed", "a field of a packed struct: rows are read whole",
            f"L.{clause}", _part(version),
            args={"columns": ["c.b"]}) for version, clause in _PACKED_ROWS.items()),
    *cases("file/{2.0,2.1,2.2,2.3}/types/packed", "packed rows, by the shorter of the two keys",
        "L.file.schema.num-columns", _KEYED),
    *(case(f"file/{version}/odd/{name}-{seed}", f"{title}, encoded by chance",
            ("L.page.layers.code", "L.page.miniblock.log"), varied(version, seed, name == "nested"))
        for version, name, title, seed in _ODD),
    case("file/0.1/types/rare", "23 columns of three rows, each of another type",
        "L.legacy.plain.values", _rare("0.1")),
    *cases("file/{2.2,2.3}/types/every", "35 columns of three rows, each of another type",
        "L.page.leaf.kind", pa.table(_COMMON)),
    case("file/2.3/types/matrices", "lists of two by two numbers", "L.page.leaf.kind",
        pa.table({"c": pa.FixedSizeListArray.from_arrays(
                    pa.FixedSizeListArray.from_arrays(pa.array(range(12), pa.int8()), 2), 2)})),
    *(case(f"file/{version}/types/json", "documents of a column of text, and a null",
            "L.json.column", stored(pa.table([_DOCUMENTS], _JSON), holds=_HELD, version=version),
            kind="read-dataset") for version in ("2.1", "2.3")),
    *(case(f"file/{version}/types/rare", "23 columns of three rows, each of another type",
            "L.array.column.type" if version == "2.0" else "L.page.leaf.kind", _rare(version),
            kind="read-dataset") for version in ("2.0", "2.1", "2.2", "2.3")),
)  # fmt: skip
