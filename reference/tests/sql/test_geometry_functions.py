"""Functions over geometries."""

from __future__ import annotations

import pyarrow as pa
import pytest
import shapely
from lanceref.core.errors import QueryRefused
from pylanceref.sql.expression import bind as bind_sql

NAME = {"ARROW:extension:name": "geoarrow.point"}
POINT = pa.struct([pa.field(axis, pa.float64()) for axis in "xy"])
SCHEMA = pa.schema(
    [
        pa.field("p", POINT, metadata=NAME),
        pa.field("t", pa.utf8()),
        pa.field("s", pa.struct([pa.field("q", POINT, metadata=NAME)])),
        pa.field("n", pa.int64()),
    ]
)
INSIDE, OUTSIDE = {"x": 1.0, "y": 1.0}, {"x": 9.0, "y": 1.0}
BATCH = pa.record_batch(
    [
        pa.array([INSIDE, OUTSIDE, None], POINT),
        pa.array(["POINT(1 1)", "LINESTRING(0 0,9 9)", "POINT EMPTY"]),
        pa.array([{"q": one} for one in (INSIDE, OUTSIDE, None)], SCHEMA.field("s").type),
        pa.array([1, 2, 3]),
    ],
    schema=SCHEMA,
)
BOX = "st_geomfromtext('POLYGON((0 0,4 0,4 4,0 4,0 0))')"


def run(text: str) -> list[object]:
    """Return what an expression is for each row."""
    return bind_sql(text, SCHEMA).evaluate(BATCH).to_pylist()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"st_intersects(p, {BOX})", [True, False, None]),
        (f"st_contains({BOX}, p)", [True, False, None]),
        (f"ST_DISJOINT(t, {BOX})", [False, False, True]),
        ("st_equals(p, t)", [True, False, None]),
        (f"st_distance({BOX}, p)", [0, 5, None]),
        ("st_touches(p, 'LINESTRING(1 1,2 2)')", [True, False, None]),
        (
            f"st_intersects(p, st_geomfromwkb(X'{shapely.Point(9, 1).wkb.hex()}'))",
            [False, True, None],
        ),
        ("st_intersects(st_geomfromtext(t), p)", [True, False, None]),
        (f"st_covers({BOX}, 'POINT(4 4)') and st_coveredby('POINT(4 4)', {BOX})", [True] * 3),
        ("st_crosses(t, 'LINESTRING(0 2,2 0)')", [False, True, False]),
        (f"st_overlaps('POLYGON((1 1,9 1,9 9,1 1))', {BOX})", [True] * 3),
    ],
)
def test_what_they_return(text, found):
    """Columns and literals on either side; null where one is null."""
    assert run(text) == found


@pytest.mark.parametrize(
    "text", ["st_intersects(n, p)", "st_within(p)", f"st_geomfromtext({BOX}, 1)"]
)
def test_what_is_no_geometry_is_refused(text):
    """Before a row is read."""
    with pytest.raises(QueryRefused):
        run(text)


def test_a_schema_is_cached_with_the_names_of_its_extension_types():
    """The same bytes are a geometry in one schema and plain bytes in another."""
    names = [None, {"ARROW:extension:name": "geoarrow.wkb"}]
    read = []
    for metadata in names * 2:
        schema = pa.schema([pa.field("p", pa.binary(), metadata=metadata)])
        read.append(bind_sql(f"st_intersects(p, {BOX})", schema).reads == ("p",))

    assert read == [True, False] * 2
