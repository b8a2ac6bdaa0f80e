"""Geometries of columns."""

import math
from struct import pack

import numpy as np
import pyarrow as pa
import pytest
import shapely
from lanceref.core.errors import QueryFailed
from lanceref.index.geometry import binary_of, boxes_of, column_boxes, geometries, is_geometry

POINT = pa.struct([pa.field(axis, pa.float64()) for axis in "xy"])


def points(*pairs):
    """Return points as structs."""
    return [{"x": float(x), "y": float(y)} for x, y in pairs]


LINE = points((0, 0), (2, 1))

RING = points((0, 0), (4, 0), (4, 3), (0, 0))

HOLE = points((3, 1), (3.5, 1), (3.5, 1.5), (3, 1))


@pytest.mark.parametrize(
    ("kind", "type_", "value", "text"),
    [
        ("point", POINT, LINE[1], "POINT (2 1)"),
        ("linestring", pa.list_(POINT), LINE, "LINESTRING (0 0, 2 1)"),
        ("multipoint", pa.large_list(POINT), LINE, "MULTIPOINT ((0 0), (2 1))"),
        (
            "polygon",
            pa.list_(pa.list_(POINT)),
            [RING, HOLE],
            "POLYGON ((0 0, 4 0, 4 3, 0 0), (3 1, 3.5 1, 3.5 1.5, 3 1))",
        ),
        ("polygon", pa.list_(pa.list_(POINT)), [], "POLYGON EMPTY"),
        (
            "multilinestring",
            pa.list_(pa.list_(POINT)),
            [LINE, LINE],
            "MULTILINESTRING ((0 0, 2 1), (0 0, 2 1))",
        ),
        (
            "multipolygon",
            pa.list_(pa.list_(pa.list_(POINT))),
            [[RING]],
            "MULTIPOLYGON (((0 0, 4 0, 4 3, 0 0)))",
        ),
        ("wkt", pa.utf8(), "POINT(2 1)", "POINT (2 1)"),
        ("wkb", pa.binary(), binary_of("POINT(2 1)"), "POINT (2 1)"),
    ],
)
def test_every_kind_of_column(kind, type_, value, text):
    """Null is no geometry; parts of columns are read like whole ones."""
    column = pa.array([None, value, None, value, value], type_)
    assert is_geometry(type_, f"geoarrow.{kind}")
    for start in (0, 2):
        found = geometries(column.slice(start), f"geoarrow.{kind}")
        held = [None if one is None else shapely.to_wkt(one, trim=True) for one in found]
        assert held == [None, text, None, text, text][start:]


def test_boxes_and_a_third_axis():
    """A box is a polygon; a height changes no box."""
    corners = {"xmin": 1.0, "ymin": 2.0, "xmax": 3.0, "ymax": 5.0}
    box = pa.array([corners, None])
    assert is_geometry(box.type, "geoarrow.box")
    found = boxes_of(geometries(box, "geoarrow.box"))
    assert found[0].tolist() == [1, 2, 3, 5]
    assert all(math.isnan(one) for one in found[1])
    high = pa.array([{"x": 1.0, "y": 2.0, "z": 9.0}])
    assert boxes_of(geometries(high, "geoarrow.point")).tolist() == [[1, 2, 1, 2]]


def test_boxes_of_points():
    """They are those of the geometries that the points are, also of parts of a column."""
    axes = (1.0, -0.0, math.inf, math.nan)
    points = [{"x": x, "y": y, "z": 9.0} for x in axes for y in axes]
    column = pa.array([None, *points, None, {"x": None, "y": 1.0, "z": None}])
    for start in (0, 3):
        values = column.slice(start)
        expected = boxes_of(geometries(values, "geoarrow.point"))
        np.testing.assert_array_equal(column_boxes(values, "geoarrow.point"), expected)


@pytest.mark.parametrize("value", ["POINT(", b"abc", b"\x01\x01\x00\x00\x00"])
def test_what_is_no_geometry_is_refused(value):
    """Of bytes, and of text."""
    with pytest.raises(QueryFailed, match="no geometry"):
        geometries(pa.array([value]), "")
    with pytest.raises(QueryFailed, match="no geometry"):
        geometries(pa.array([points((0, 0))], pa.list_(POINT)), "geoarrow.linestring")
    with pytest.raises(QueryFailed, match="no geometry"):
        binary_of("nothing")


def _nested(depth: int, before: bytes = b"", flag: int = 0) -> bytes:
    """Return a point in so many collections, each with `before` in front of what it holds."""
    data = pack("<BIdd", 1, 1, 0, 0)
    for _ in range(depth):
        order = b"\x01" + pack("<I", 7 | flag) + bytes(4 if flag else 0)
        data = order + pack("<I", 1 + bool(before)) + before + data
    return data


@pytest.mark.parametrize(
    "values",
    [
        pa.array([_nested(50_000)]),
        pa.array([_nested(50_000).hex().encode()]),
        pa.array([_nested(5000, flag=0x20000000)]),
        pa.array([_nested(5000, before=_nested(0))]),
        pa.array([_nested(5000, before=shapely.to_wkb(shapely.box(0, 0, 1, 1)))]),
        pa.array([_nested(5000, before=shapely.to_wkb(shapely.Point(0, 0, 1)))]),
        pa.array(["GEOMETRYCOLLECTION(" * 200_000 + "POINT(0 0)" + ")" * 200_000]),
    ],
)
def test_geometries_nested_deep_are_refused(values):
    """The parser of the library would overflow the stack of the process."""
    with pytest.raises(QueryFailed, match="inside each other"):
        geometries(values, "")


def test_large_collections_are_no_deep_ones():
    """Many parts beside each other, in either order of bytes, and few levels."""
    parts = [shapely.box(n, 0, n + 1, 1) for n in range(500)]
    lines = [shapely.LineString([(n, 0), (n, 1)]) for n in range(500)]
    held = shapely.GeometryCollection([shapely.MultiPolygon(parts), *lines])
    for values in (
        pa.array([shapely.to_wkb(held, hex=False), _nested(20)]),
        pa.array([shapely.to_wkb(held, byte_order=0, flavor="iso"), _nested(20)]),
        pa.array([shapely.to_wkb(held, hex=True).encode(), _nested(60)]),
        pa.array([shapely.to_wkt(held), "POINT(0 0)"]),
    ):
        found, _ = geometries(values, "")
        assert 501 == len(found.geoms)
