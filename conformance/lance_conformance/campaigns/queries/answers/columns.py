"""Columns that indices are built over: values of every type, and how these are written in SQL."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from random import Random

import numpy as np
import pyarrow as pa
import shapely

WORDS = (
    "", "a", "ab", "abc", "abd", "b", "été", "Ωmega", "zz top", "the quick fox", "quick foxes",
    "it's", "100%", "a_b", "Lance reads tables", "tables of Lance", "\U0001f40d snake",
)  # fmt: skip
"""Texts; some hold what is special in patterns."""

NULLS = 0.1
"""Share of rows that are null."""


@dataclass(frozen=True, slots=True)
class Column:
    """A type, the values that are drawn for it, and how one of them is written in SQL.

    `extension` is the name of an extension type, of geometries.
    """

    type: pa.DataType
    values: Sequence[object]
    written: Callable[[object], str]
    extension: str = ""

    def drawn(self, random: Random, rows: int, run: int = 1) -> pa.Array:
        """Return so many values, the same ones side by side in runs of up to five times `run`."""
        found: list[object] = []
        while len(found) < rows:
            value = None if random.random() < NULLS else random.choice(self.values)
            found += [value] * random.choice((1, 1, 2, 5)) * run
        return pa.array(found[:rows], self.type)


def quoted(text: object) -> str:
    """Return a text as SQL has it."""
    escaped = str(text).replace("'", "''")
    return f"'{escaped}'"


def _cast(type_: str) -> Callable[[object], str]:
    return lambda value: f"arrow_cast({quoted(value)}, '{type_}')"


def _octets(type_: str) -> Callable[[object], str]:
    def written(value: object) -> str:
        assert isinstance(value, bytes)
        return f"arrow_cast(X'{value.hex()}', '{type_}')"

    return written


def _float(type_: str) -> Callable[[object], str]:
    def written(value: object) -> str:
        assert isinstance(value, float | np.float16)
        number = float(value)
        return repr(number) if isfinite(number) else f"arrow_cast('{number}', '{type_}')"

    return written


def _number(type_: str) -> Callable[[object], str]:
    """Return how a number of a type that counts from an epoch is written."""
    return lambda value: f"arrow_cast({_count(value)}, '{type_}')"


def _count(value: object) -> int:
    assert isinstance(value, int)
    return value


def _integers(least: int, most: int) -> list[object]:
    few = [n for n in (-1000, -77, -1, 0, 1, 2, 3, 5, 8, 13, 100, 1000) if least <= n <= most]
    return [max(least, 1 - 2**63), *few, most]


_HALVES: list[float] = [
    float("-inf"), -1.5, -0.0, 0.0, 0.25, 2.0, 2.5, 3.0, 7.0, float("inf"), float("nan"),
]  # fmt: skip
_FLOATS: list[object] = [-1e30, *_HALVES, 1e30]
_DAYS: list[object] = [datetime.date(1969, 12, 25) + datetime.timedelta(n) for n in range(14)]
_COUNTS: list[object] = [-86_400, -1, 0, 1, 2, 59, 60, 3600, 86_399, 1_000_000_000]
_TIMES: list[object] = [0, 1, 59, 60, 3600, 43_200, 86_399]
_MONEY: list[object] = [decimal.Decimal(n) / 4 for n in range(-9, 9)]
_OCTETS: list[object] = [word.encode() for word in WORDS]


def _scaled(values: Sequence[object], by: int) -> list[object]:
    return [_count(one) * by for one in values]


ORDERED = {
    **{
        f"{kind}{bits}": Column(getattr(pa, f"{kind}{bits}")(), _integers(*ends), str)
        for bits in (8, 16, 32, 64)
        for kind, ends in (
            ("int", (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)),
            ("uint", (0, 2**bits - 1)),
        )
    },
    "float16": Column(pa.float16(), [np.float16(one) for one in _HALVES], _float("Float16")),
    "float32": Column(pa.float32(), _FLOATS, _float("Float32")),
    "float64": Column(pa.float64(), _FLOATS, _float("Float64")),
    "bool": Column(pa.bool_(), [False, True], lambda value: str(value).lower()),
    "utf8": Column(pa.utf8(), WORDS, quoted),
    "large_utf8": Column(pa.large_utf8(), WORDS, quoted),
    "binary": Column(pa.binary(), _OCTETS, _octets("Binary")),
    "large_binary": Column(pa.large_binary(), _OCTETS, _octets("LargeBinary")),
    "fixed": Column(
        pa.binary(3), [b"abc", b"abd", b"\0\0\0", b"zzz"], _octets("FixedSizeBinary(3)")
    ),
    "date32": Column(pa.date32(), _DAYS, _cast("Date32")),
    "date64": Column(pa.date64(), _DAYS, _cast("Date64")),
    "time32_s": Column(pa.time32("s"), _TIMES, _number("Time32(Second)")),
    "time32_ms": Column(pa.time32("ms"), _scaled(_TIMES, 10**3), _number("Time32(Millisecond)")),
    "time64_us": Column(pa.time64("us"), _scaled(_TIMES, 10**6), _number("Time64(Microsecond)")),
    "time64_ns": Column(pa.time64("ns"), _scaled(_TIMES, 10**9), _number("Time64(Nanosecond)")),
    **{
        f"{name}_{unit}": Column(made(unit), _COUNTS, _number(f"{called}({long}{zone})"))
        for unit, long in (
            ("s", "Second"),
            ("ms", "Millisecond"),
            ("us", "Microsecond"),
            ("ns", "Nanosecond"),
        )
        for name, made, called, zone in (
            ("timestamp", pa.timestamp, "Timestamp", ", None"),
            ("zoned", lambda unit: pa.timestamp(unit, "UTC"), "Timestamp", ', Some("UTC")'),
            ("duration", pa.duration, "Duration", ""),
        )
    },
    "decimal128": Column(pa.decimal128(10, 2), _MONEY, _cast("Decimal128(10, 2)")),
    "decimal256": Column(pa.decimal256(40, 2), _MONEY, _cast("Decimal256(40, 2)")),
}
"""Columns of values in order, by name."""


def lists(of: Column, *, large: bool = False) -> Column:
    """Return a column of lists of up to four of the values of another; some hold nulls."""
    random = Random(str(of.type))
    held = [[random.choice([*of.values, None]) for _ in range(n % 5)] for n in range(24)]
    kind = pa.large_list if large else pa.list_
    return Column(kind(of.type), held, of.written)


def documents(name: str) -> Column:
    """Return a column of JSON documents whose member `a` has values of one type."""
    values: dict[str, list[object]] = {
        "int": [-3, 0, 1, 5, 7, 2**53 + 1],
        "float": [-1.5, 0.0, 0.25, 3.5, 1e300],
        "string": ["", "a", "abcd", "abce", "été", "5", "zz top"],
        "bool": [True, False],
    }
    texts: list[object] = [json.dumps({"a": one}) for one in values[name]]

    def written(text: object) -> str:
        value = json.loads(str(text))["a"]
        return quoted(value) if name == "string" else str(value).lower()

    return Column(pa.json_(), texts, written)


def _nested(shape: shapely.Geometry) -> object:
    """Return a geometry as nested lists of coordinates, a point as one of them."""

    def points(line: shapely.Geometry) -> list[dict[str, float]]:
        return [{"x": x, "y": y} for x, y in line.coords]

    if shape.geom_type == "Point":
        return points(shape)[0]
    if shape.geom_type == "Polygon":
        return [points(shape.exterior)]
    return points(shape)


def _sides(shape: shapely.Geometry) -> object:
    return dict(zip(("xmin", "ymin", "xmax", "ymax"), shape.bounds, strict=True))


_POINT = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in "xy"])
_BOX = pa.struct(
    [pa.field(name, pa.float64(), nullable=False) for name in ("xmin", "ymin", "xmax", "ymax")]
)


def geometries(name: str) -> Column:
    """Return a column of geometries by the name of their extension type."""
    random = Random(name)
    places = [(random.randrange(20), random.randrange(20) / 2) for _ in range(16)]
    boxes = [shapely.box(x, y, x + random.randrange(1, 5), y + 2) for x, y in places]
    points = [shapely.Point(x, y) for x, y in places]
    lines = [shapely.LineString([(x, y), (x + 2, y), (x + 2, y + 3)]) for x, y in places]
    type_, shapes, kept = {
        "geoarrow.point": (_POINT, points, _nested),
        "geoarrow.linestring": (pa.list_(_POINT), lines, _nested),
        "geoarrow.polygon": (pa.list_(pa.list_(_POINT)), boxes, _nested),
        "geoarrow.box": (_BOX, boxes, _sides),
        "geoarrow.wkb": (pa.binary(), [*points, *lines, *boxes], shapely.to_wkb),
        "geoarrow.wkt": (pa.utf8(), [*points, *lines, *boxes], shapely.to_wkt),
    }[name]
    return Column(type_, [kept(one) for one in shapes], _box_near, name)


def _box_near(value: object) -> str:
    """Return the text of a box; where it is depends on the value alone."""
    random = Random(str(value))
    x, y = random.randrange(18), random.randrange(9)
    return quoted(shapely.box(x, y, x + random.randrange(1, 6), y + 3).wkt)
