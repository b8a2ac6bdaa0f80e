"""Columns of geometries of every kind, and conditions on them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import shapely

from ..tables import QUESTIONS

POINT = pa.struct([pa.field(axis, pa.float64(), nullable=False) for axis in "xy"])
BOX = pa.struct(
    [pa.field(name, pa.float64(), nullable=False) for name in ("xmin", "ymin", "xmax", "ymax")]
)
TYPES = {
    "geoarrow.point": POINT,
    "geoarrow.linestring": pa.list_(POINT),
    "geoarrow.polygon": pa.list_(pa.list_(POINT)),
    "geoarrow.multipoint": pa.list_(POINT),
    "geoarrow.multilinestring": pa.list_(pa.list_(POINT)),
    "geoarrow.multipolygon": pa.list_(pa.list_(pa.list_(POINT))),
    "geoarrow.box": BOX,
    "geoarrow.wkb": pa.binary(),
    "geoarrow.wkt": pa.utf8(),
}
"""Types of columns by their extension names."""

FUNCTIONS = ("st_intersects", "st_within", "st_contains", "st_covers", "st_coveredby")
"""Functions that an index is asked for."""


def point(x: float, y: float) -> dict[str, float]:
    """Return a point as a struct."""
    return {"x": float(x), "y": float(y)}


def corners(source: random.Random) -> tuple[float, float, float, float]:
    """Return a box of some size, on a grid or off it."""
    step = source.choice([1, 0.0625])
    x, y = (source.randrange(int(20 / step)) * step for _ in "xy")
    wide, high = (source.randrange(1, int(6 / step)) * step for _ in "xy")
    return x, y, x + wide, y + high


def drawn(kind: str, source: random.Random) -> object:
    """Return a value of a kind of column."""
    x, y, right, high = corners(source)
    ring = [point(*one) for one in ((x, y), (right, y), (right, high), (x, high), (x, y))]
    line = [point(x, y), point(right, high), point(right + 1, y)]
    made = {
        "point": point(x, y),
        "linestring": line,
        "polygon": [ring],
        "multipoint": line,
        "multilinestring": [line, ring],
        "multipolygon": [[ring]],
        "box": {"xmin": x, "ymin": y, "xmax": right, "ymax": high},
    }
    if kind in made:
        return made[kind]
    shape = source.choice(
        [shapely.Point(x, y), shapely.box(x, y, right, high), shapely.LineString([(x, y), (y, x)])]
    )
    return shapely.to_wkb(shape) if kind == "wkb" else shapely.to_wkt(shape, rounding_precision=-1)


def column(name: str, rows: int = 80, seed: int = 1) -> pa.Table:
    """Return a table with a column `g` of geometries, one in ten null."""
    source = random.Random(f"{name} {seed}")
    kind = name.removeprefix("geoarrow.")
    values = [None if source.random() < 0.1 else drawn(kind, source) for _ in range(rows)]
    metadata = {"ARROW:extension:name": name, "ARROW:extension:metadata": "{}"}
    field = pa.field("g", TYPES[name], metadata=metadata)
    return pa.table([pa.array(values, TYPES[name])], schema=pa.schema([field]))


def asked_for(source: random.Random) -> str:
    """Return a geometry as it is written in SQL."""
    x, y, right, high = corners(source)
    shapes = [shapely.box(x, y, right, high), shapely.Point(x, y)]
    shapes += [shapely.Polygon([(x, y), (right, y), (right, high)])]
    shape = source.choice(shapes)
    if source.random() < 0.2:
        return f"st_geomfromwkb(X'{shapely.to_wkb(shape).hex()}')"
    text = shapely.to_wkt(shape, rounding_precision=-1)
    return f"'{text}'" if source.random() < 0.2 else f"st_geomfromtext('{text}')"


def conditions(count: int = QUESTIONS, seed: int = 2) -> Iterator[str]:
    """Yield conditions that an index answers."""
    source = random.Random(seed)

    def leaf() -> str:
        if source.random() < 0.1:
            return "g is null"
        return f"{source.choice(FUNCTIONS)}(g, {asked_for(source)})"

    for _ in range(count):
        if source.random() < 0.6:
            yield leaf()
        else:
            yield f"({leaf()} {source.choice(['and', 'or'])} {leaf()})"
