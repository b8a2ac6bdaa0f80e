"""Positive cases of types: in each file version one table with a column of every type.

What a type may not be in a version is left out there: maps and fixed-size lists of structs or of
lists come with 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from lance_conformance.recipes.model import Made, Positive
from lance_conformance.recipes.oracle_made import dataset, file, write
from lance_conformance.recipes.tables import columns

_UNITS = ("s", "ms", "us", "ns")
_KEYS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))

_STAMPS = {f"timestamp {u}": pa.array([1, 0, -7], pa.timestamp(u)) for u in _UNITS}
_ZONED = {f"zoned {u}": pa.array([2, 0, -1], pa.timestamp(u, "Asia/Tokyo")) for u in _UNITS}
_DURATIONS = {f"duration {u}": pa.array([-3, 0, 4], pa.duration(u)) for u in _UNITS}


def _dictionary(key: str) -> pa.Array:
    keys = pa.array([1, 0, 1], getattr(pa, key)())
    return pa.DictionaryArray.from_arrays(keys, pa.array(["a", "bc"]))


_DICTIONARIES = {f"dictionary {key}": _dictionary(key) for key in _KEYS}

_LARGE = {
    "large string": pa.array(["a", "bc", "d"], pa.large_string()),
    "large structs": pa.array(
        [[{"x": 1}, {"x": 2}], [], [{"x": 3}]],
        pa.large_list(pa.struct([("x", pa.int32())])),
    ),
}

_EXTENSION = {"ARROW:extension:name": "lance.bfloat16", "ARROW:extension:metadata": ""}

_BFLOAT16 = pa.field("item", pa.binary(2), metadata=_EXTENSION)

_VECTORS = {
    "bfloat16 vectors": pa.FixedSizeListArray.from_arrays(
        pa.array([b"\0\x3f", b"\x80\x3f"] * 3, pa.binary(2)), type=pa.list_(_BFLOAT16, 2)
    )
}

_RARE = {**_STAMPS, **_ZONED, **_DURATIONS, **_DICTIONARIES, **_LARGE, **_VECTORS}

_NUMBERS = {
    "null": pa.nulls(3),
    "bool": pa.array([True, False, True]),
    **{key: pa.array([1, 2, 3], getattr(pa, key)()) for key in _KEYS},
    "half": pa.array([0.5, -0.0, 2.0], pa.float16()),
    "float": pa.array([0.5, -0.0, 2.0], pa.float32()),
    "double": pa.array([0.5, -0.0, 2.0], pa.float64()),
    "decimal128": pa.array([1, -2, 3]).cast(pa.decimal128(20, 0)),
    "decimal256": pa.array([1, -2, 3]).cast(pa.decimal256(40, 0)),
}

_COMMON = {
    **_NUMBERS,
    **{name: array.slice(0, 3) for name, array in columns.TEMPORAL.items()},
    "string": pa.array(["a", "", "b"]),
    "binary": pa.array([b"a", b"", b"b"]),
    "large binary": pa.array([b"a", b"", b"b"], pa.large_binary()),
    "fixed binary": pa.array([b"ab", b"cd", b"ef"], pa.binary(2)),
    "structs": pa.array([{"x": 1}, {"x": 2}, {"x": 3}], pa.struct([("x", pa.int8())])),
    "lists": pa.array([[1], [], [2, 3]], pa.list_(pa.int16())),
    "lists of structs": pa.array([[{"x": 1}], [], []], pa.list_(pa.struct([("x", pa.int8())]))),
    "large lists": pa.array([[1], [], [2, 3]], pa.large_list(pa.int16())),
    "vectors": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int8(), 2)),
}

_SINCE_2_2 = {"map": pa.array([[("a", 1)], [], [("b", 2)]], pa.map_(pa.string(), pa.int32()))}

_MATRICES = pa.FixedSizeListArray.from_arrays(
    pa.FixedSizeListArray.from_arrays(pa.array(range(12), pa.int8()), 2), 2
)


def _json_columns(version: str) -> Callable[[], Made]:
    """Return a maker of a table whose text is stored as documents."""

    def steps(uri: str) -> pa.Table:
        named = pa.field("j", pa.utf8(), metadata={"ARROW:extension:name": "arrow.json"})
        texts = pa.array(['{"a":1}', "[]", None])
        write(pa.table([texts], pa.schema([named])), uri, data_storage_version=version)
        return pa.table({"j": pa.ExtensionArray.from_storage(pa.json_(), texts)})

    return dataset(steps)


def _rare(version: str) -> Positive:
    """Describe a table of rare types, which a table takes and a file alone does not (bfloat16)."""

    def steps(uri: str) -> pa.Table:
        table = pa.table(_RARE)
        storage = "legacy" if version == "0.1" else version
        write(table, uri, data_storage_version=storage)
        return table

    clause = {"0.1": "L.legacy.plain.values", "2.0": "L.array.column.type"}
    return Positive(
        id=f"file/{version}/types/rare",
        title=f"{len(_RARE)} columns of three rows, each of another type",
        clauses=(clause.get(version, "L.page.leaf.kind"),),
        make=dataset(steps),
        version=version,
        kind="read-dataset",
    )


def _file(version: str, slug: str, title: str, arrays: Mapping[str, pa.Array]) -> Positive:
    return Positive(
        id=f"file/{version}/types/{slug}",
        title=title,
        clauses=("L.page.leaf.kind",),
        make=file(pa.table(dict(arrays)), version),
        version=version,
    )


def _every(version: str) -> Positive:
    arrays = {**_COMMON, **_SINCE_2_2}
    title = f"{len(arrays)} columns of three rows, each of another type"
    return _file(version, "every", title, arrays)


def _documents(version: str) -> Positive:
    return Positive(
        id=f"file/{version}/types/json",
        title="documents of a column of text, and a null",
        clauses=("L.json.column",),
        make=_json_columns(version),
        version=version,
        kind="read-dataset",
    )


POSITIVES: tuple[Positive, ...] = (
    *(_rare(version) for version in ("0.1", "2.0", "2.1", "2.2", "2.3")),
    *(_every(version) for version in ("2.2", "2.3")),
    _file("2.3", "matrices", "lists of two by two numbers", {"c": _MATRICES}),
    *(_documents(version) for version in ("2.1", "2.3")),
)
"""Every table of types."""
