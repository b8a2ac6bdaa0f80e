"""Tables of every type that an implementation writes in every file version, and reads again."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.model import Acting, Plan
from lance_conformance.recipes.tables.writes import created

_ROWS = 3000
"""Rows of the tables that need several chunks of a page."""

_PAIR = pa.struct({"x": pa.int32(), "y": pa.string()})


def _numbers(type_: pa.DataType) -> pa.Array:
    edges = [0, 1, None, 2 ** (type_.bit_width - 1) - 1]
    if pa.types.is_signed_integer(type_):
        return pa.array([*edges, -(2 ** (type_.bit_width - 1))], type_)
    return pa.array([*edges, 2**type_.bit_width - 1], type_)


def _integers() -> pa.Table:
    signed = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
    unsigned = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    return pa.table({str(type_): _numbers(type_) for type_ in (*signed, *unsigned)})


def _moments() -> pa.Table:
    of = {
        "date32": pa.date32(), "date64": pa.date64(), "time32": pa.time32("ms"),
        "time64": pa.time64("us"), "timestamp": pa.timestamp("us"),
        "zoned": pa.timestamp("ns", "Asia/Tokyo"), "duration": pa.duration("s"),
    }  # fmt: skip
    steps = {"date64": 86_400_000}
    return pa.table(
        {
            name: pa.array([steps.get(name, 1) * n if n else None for n in (3, 0, 7)], pa.int64())
            .cast(pa.int32() if type_.bit_width == 32 else pa.int64())
            .view(type_)
            for name, type_ in of.items()
        }
    )


def _decimals() -> pa.Table:
    values = [Decimal("1.25"), None, Decimal("-99999999.99")]
    return pa.table(
        {"d": pa.array(values, pa.decimal128(10, 2)), "w": pa.array(values, pa.decimal256(60, 2))}
    )


def _nested() -> pa.Table:
    pairs = [{"x": 1, "y": "a"}, None, {"x": None, "y": ""}]
    return pa.table(
        {
            "structs": pa.array(pairs, _PAIR),
            "lists": pa.array([[pairs[0], None], [], None], pa.list_(_PAIR)),
            "deep": pa.array([[[1, None], None], None, [[]]], pa.list_(pa.list_(pa.int16()))),
        }
    )


def _random(count: int, most: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, most, count)


def _vectors(type_: pa.DataType, dimension: int) -> pa.Array:
    values = pa.array(_random(4 * dimension, 100), pa.int64()).cast(type_)
    mask = pa.array([False, True, False, False])
    return pa.FixedSizeListArray.from_arrays(values, dimension, mask=mask)


_NAN = float("nan")

TABLES: dict[str, tuple[str, pa.Table, str]] = {
    "integers": ("integers of every width, their least and greatest", _integers(), "2.0"),
    "floats": (
        "floats of three widths, with NaN, infinity and the negative zero",
        pa.table(
            {
                "h": pa.array([1.5, None, -0.0], pa.float16()),
                "f": pa.array([_NAN, None, float("inf")], pa.float32()),
                "d": pa.array([0.1, None, float("-inf")], pa.float64()),
            }
        ),
        "2.0",
    ),
    "booleans": ("booleans, nine of them", pa.table({"b": [True, None, False] * 3}), "2.0"),
    "strings": (
        "strings, empty ones and nulls; no string is not null",
        pa.table({"s": ["ä", "", None], "t": ["x", "yy", "zzz"], "u": pa.nulls(3, pa.string())}),
        "2.0",
    ),
    "binary": (
        "binary, large strings and large binary",
        pa.table(
            {
                "b": pa.array([b"\x00", b"", None], pa.binary()),
                "s": pa.array(["a", None, "b"], pa.large_string()),
                "l": pa.array([None, b"\xff", b""], pa.large_binary()),
            }
        ),
        "2.0",
    ),
    "fixed-binary": (
        "binary of 16 bytes a value", pa.table({"f": pa.array([bytes(16), None], pa.binary(16))}),
        "2.0",
    ),
    "moments": ("dates, times, timestamps, durations", _moments(), "2.0"),
    "decimals": ("decimals of 128 and 256 bits", _decimals(), "2.0"),
    "lists": (
        "lists of numbers and of strings: null, empty, with nulls",
        pa.table(
            {
                "n": pa.array([[1, None], None, []], pa.list_(pa.int32())),
                "s": pa.array([["a", ""], [None], None], pa.list_(pa.string())),
            }
        ),
        "2.0",
    ),
    "nested": ("structs, lists of them, lists of lists", _nested(), "2.1"),
    "vectors": (
        "vectors of 128 floats, and of three small integers",
        pa.table({"v": _vectors(pa.float32(), 128), "i": _vectors(pa.int8(), 3)}),
        "2.1",
    ),
    "small-numbers": (
        "three thousand numbers of few bits",
        pa.table({"n": pa.array(_random(_ROWS, 11), pa.int32())}),
        "2.0",
    ),
    "runs": (
        "three thousand numbers in long runs",
        pa.table({"n": pa.array(np.arange(_ROWS) // 400, pa.int64())}),
        "2.0",
    ),
    "words": (
        "three thousand strings of which few differ",
        pa.table({"s": pa.array([f"word {n}" for n in _random(_ROWS, 9)])}),
        "2.0",
    ),
    "texts": (
        "three thousand strings that all differ, and share much",
        pa.table({"s": pa.array([f"https://example.org/{n * 7919}" for n in range(_ROWS)])}),
        "2.0",
    ),
    "long-values": (
        "values of forty thousand bytes",
        pa.table({"b": pa.array([bytes([n]) * 40_000 for n in range(3)] + [None], pa.binary())}),
        "2.0",
    ),
    "constant": ("one value, again and again", pa.table({"n": [5] * 700, "s": ["x"] * 700}), "2.0"),
    "nulls": (
        "columns of nulls",
        pa.table({"n": pa.nulls(4, pa.int64()), "z": pa.nulls(4), "s": pa.nulls(4, _PAIR)}),
        "2.1",
    ),
    "many-columns": (
        "forty columns of two rows",
        pa.table({f"c{n}": pa.array([n, None], pa.int16()) for n in range(40)}),
        "2.0",
    ),
    "dictionary": (
        "a column of Arrow's dictionary type",
        pa.table({"d": pa.array(["b", None, "a", "b"]).dictionary_encode()}),
        "2.0",
    ),
    "maps": (
        "maps, null and empty ones",
        pa.table({"m": pa.array([[("a", 1), ("b", None)], None, []], pa.map_("string", "int32"))}),
        "2.2",
    ),
    "pairs-of-structs": (
        "fixed-size lists of structs",
        pa.table({"p": pa.array([[{"x": 1}, {"x": 2}], [{"x": 3}, {"x": 4}]],
                                pa.list_(pa.struct({"x": pa.int32()}), 2))}),
        "2.2",
    ),
}  # fmt: skip
"""Title, table, and the first file version that can hold it, by slug."""

VERSIONS = ("2.0", "2.1", "2.2", "2.3")


def _case(slug: str, version: str) -> Acting:
    title, table, _ = TABLES[slug]

    def make() -> Plan:
        return created(table, version)

    return Acting(
        id=f"table/any/writing/{slug}-{version.replace('.', '-')}",
        title=title,
        clauses=("L.table.format.version", "L.table.fragments.rows"),
        make=make,
        broken=(),
        allowed=("committed",),
        kind="write-roundtrip",
    )


CASES: tuple[Acting, ...] = tuple(
    _case(slug, version)
    for slug, (_, _, since) in TABLES.items()
    for version in VERSIONS
    if since <= version
)
"""Every table of a type that an implementation writes."""
