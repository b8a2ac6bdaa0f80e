"""Columns: values of every type that indices support, and their literals in SQL."""

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

ToSql = Callable[[object], str]
"""Returns the SQL literal of a value."""

WORDS = (
    "", "a", "ab", "abc", "abd", "b", "été", "Ωmega", "zz top", "the quick fox", "quick foxes",
    "it's", "100%", "a_b", "Lance reads tables", "tables of Lance", "\U0001f40d snake",
)  # fmt: skip
"""Texts; some have special characters of patterns."""

NULLS = 0.1
"""Share of rows that are null."""


@dataclass(frozen=True, slots=True)
class Column:
    """A type, its values, and the function that returns the SQL literal of one of them.

    `extension` is the name of the extension type of geometries.
    """

    type: pa.DataType
    values: Sequence[object]
    to_sql: ToSql
    extension: str = ""

    def draw(self, random: Random, rows: int, run: int = 1) -> pa.Array:
        """Return random values [rows], in runs of equal values of up to five times `run`."""
        values: list[object] = []
        while len(values) < rows:
            value = None if random.random() < NULLS else random.choice(self.values)
            values += [value] * random.choice((1, 1, 2, 5)) * run
        return pa.array(values[:rows], self.type)

    def literal(self, random: Random) -> str:
        """Return the SQL literal of one of the values."""
        return self.to_sql(random.choice(self.values))


def sql(value: object) -> str:
    """Return the SQL literal of a value, without a cast."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime.date):
        return f"date '{value}'"
    if isinstance(value, int | float):
        return repr(value)
    escaped = str(value).replace("'", "''")
    return f"'{escaped}'"


def cast(type_: str) -> ToSql:
    """Return a function that returns literals with a cast to an Arrow type."""

    def to_sql(value: object) -> str:
        if isinstance(value, float | np.float16):
            number = float(value)
            return repr(number) if isfinite(number) else f"arrow_cast('{number}', '{type_}')"
        if isinstance(value, bytes):
            return f"arrow_cast(X'{value.hex()}', '{type_}')"
        text = str(value) if isinstance(value, int) else sql(str(value))
        return f"arrow_cast({text}, '{type_}')"

    return to_sql


def _integers(least: int, most: int) -> list[object]:
    few = [n for n in (-1000, -77, -1, 0, 1, 2, 3, 5, 8, 13, 100, 1000) if least <= n <= most]
    return [max(least, 1 - 2**63), *few, most]


_HALVES: list[float] = [
    float("-inf"), -1.5, -0.0, 0.0, 0.25, 2.0, 2.5, 3.0, 7.0, float("inf"), float("nan"),
]  # fmt: skip
_FLOATS: list[object] = [-1e30, *_HALVES, 1e30]
_DAYS = [datetime.date(1969, 12, 25) + datetime.timedelta(n) for n in range(14)]
_COUNTS = [-86_400, -1, 0, 1, 2, 59, 60, 3600, 86_399, 1_000_000_000]
_TIMES = [0, 1, 59, 60, 3600, 43_200, 86_399]
_MONEY = [decimal.Decimal(n) / 4 for n in range(-9, 9)]
_OCTETS = [word.encode() for word in WORDS]
_UNITS = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}

ORDERED = {
    **{
        f"{kind}{bits}": Column(getattr(pa, f"{kind}{bits}")(), _integers(*ends), str)
        for bits in (8, 16, 32, 64)
        for kind, ends in (
            ("int", (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)),
            ("uint", (0, 2**bits - 1)),
        )
    },
    "float16": Column(pa.float16(), [np.float16(one) for one in _HALVES], cast("Float16")),
    "float32": Column(pa.float32(), _FLOATS, cast("Float32")),
    "float64": Column(pa.float64(), _FLOATS, cast("Float64")),
    "bool": Column(pa.bool_(), [False, True], sql),
    "utf8": Column(pa.utf8(), WORDS, sql),
    "large_utf8": Column(pa.large_utf8(), WORDS, sql),
    "binary": Column(pa.binary(), _OCTETS, cast("Binary")),
    "large_binary": Column(pa.large_binary(), _OCTETS, cast("LargeBinary")),
    "fixed": Column(pa.binary(3), [b"abc", b"abd", b"\0\0\0", b"zzz"], cast("FixedSizeBinary(3)")),
    "date32": Column(pa.date32(), _DAYS, cast("Date32")),
    "date64": Column(pa.date64(), _DAYS, cast("Date64")),
    **{
        f"time{bits}_{unit}": Column(
            getattr(pa, f"time{bits}")(unit),
            [one * 1000**power for one in _TIMES],
            cast(f"Time{bits}({_UNITS[unit]})"),
        )
        for power, (unit, bits) in enumerate((("s", 32), ("ms", 32), ("us", 64), ("ns", 64)))
    },
    **{
        f"{name}_{unit}": Column(made(unit), _COUNTS, cast(f"{called}({long}{zone})"))
        for unit, long in _UNITS.items()
        for name, made, called, zone in (
            ("timestamp", pa.timestamp, "Timestamp", ", None"),
            ("zoned", lambda unit: pa.timestamp(unit, "UTC"), "Timestamp", ', Some("UTC")'),
            ("duration", pa.duration, "Duration", ""),
        )
    },
    "decimal128": Column(pa.decimal128(10, 2), _MONEY, cast("Decimal128(10, 2)")),
    "decimal256": Column(pa.decimal256(40, 2), _MONEY, cast("Decimal256(40, 2)")),
    "dictionary": Column(pa.dictionary(pa.int16(), pa.utf8()), WORDS, sql),
}
"""Columns of ordered types, by name."""


def lists(of: Column, *, large: bool = False) -> Column:
    """Return a column of lists of up to four values of another column, some with nulls."""
    random = Random(str(of.type))
    values = [[random.choice([*of.values, None]) for _ in range(n % 5)] for n in range(24)]
    kind = pa.large_list if large else pa.list_
    return Column(kind(of.type), values, of.to_sql)


MEMBERS: dict[str, list[object]] = {
    "int": [-3, 0, 1, 5, 7, 2**53 + 1],
    "float": [-1.5, 0.0, 0.25, 3.5, 1e300],
    "string": ["", "a", "abcd", "abce", "été", "5", "zz top"],
    "bool": [True, False],
}
"""Values of the member `a` of JSON documents."""


def documents(name: str) -> Column:
    """Return a column of JSON documents whose member `a` has values of one type."""
    texts = [json.dumps({"a": one}) for one in MEMBERS[name]]
    return Column(pa.json_(), texts, lambda text: sql(json.loads(str(text))["a"]))


def _points(line: shapely.Geometry) -> list[dict[str, float]]:
    return [{"x": x, "y": y} for x, y in line.coords]


_SIDES = ("xmin", "ymin", "xmax", "ymax")


def _coordinates(names: Sequence[str]) -> pa.DataType:
    return pa.struct([pa.field(name, pa.float64(), nullable=False) for name in names])


def geometries(name: str) -> Column:
    """Return a column of geometries by the name of their extension type."""
    random, point = Random(name), _coordinates("xy")
    corners = [(random.randrange(20), random.randrange(20) / 2) for _ in range(16)]
    boxes = [shapely.box(x, y, x + random.randrange(1, 5), y + 2) for x, y in corners]
    points = [shapely.Point(x, y) for x, y in corners]
    lines = [shapely.LineString([(x, y), (x + 2, y), (x + 2, y + 3)]) for x, y in corners]
    line = pa.list_(point)
    rings: list[object] = [[_points(box.exterior)] for box in boxes]
    columns: dict[str, tuple[pa.DataType, list[object]]] = {
        "geoarrow.point": (point, [_points(one)[0] for one in points]),
        "geoarrow.linestring": (line, [_points(one) for one in lines]),
        "geoarrow.polygon": (pa.list_(line), rings),
        "geoarrow.multipoint": (line, [_points(one)[1:] for one in lines]),
        "geoarrow.multilinestring": (pa.list_(line), [[_points(one)[:2]] * 2 for one in lines]),
        "geoarrow.multipolygon": (pa.list_(pa.list_(line)), [[one] for one in rings]),
        "geoarrow.box": (
            _coordinates(_SIDES),
            [dict(zip(_SIDES, one.bounds, strict=True)) for one in boxes],
        ),
        "geoarrow.wkb": (pa.binary(), [shapely.to_wkb(one) for one in (*points, *lines, *boxes)]),
        "geoarrow.wkt": (pa.utf8(), [shapely.to_wkt(one) for one in (*points, *lines, *boxes)]),
    }
    return Column(*columns[name], _random_box, name)


def _random_box(value: object) -> str:
    """Return the literal of a box whose position depends on the value alone."""
    random = Random(str(value))
    x, y = random.randrange(18), random.randrange(9)
    return sql(shapely.box(x, y, x + random.randrange(1, 6), y + 3).wkt)
