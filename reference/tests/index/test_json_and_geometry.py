"""Geometries of columns; indices over them and over members of documents, worked by hand."""

import math
from contextlib import nullcontext
from struct import pack
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
import shapely
from lanceref.core.errors import FormatError, OperationRefused, Place, QueryFailed
from lanceref.file.arrow_schema import schema_of
from lanceref.index.geometry import binary_of, boxes_of, column_boxes, geometries, is_geometry
from lanceref.index.scalar.json import extract
from lanceref.index.scalar.rtree import (
    Level,
    check_boxes,
    curve_numbers,
    hilbert_numbers,
    levels_of,
)
from lanceref.index.training import IndexedColumn, Run, Training
from lanceref.json import jsonb as jsontext
from pylanceref.indices import IndexConfig

from .tables import asked, ids, write


def rows_of(*texts: str | None) -> Training:
    """Return rows of documents that are in no table, one per run."""
    keys = np.zeros(1, np.uint64)
    runs = [Run(0, stored(text), keys, keys.astype(np.int64)) for text in texts]
    (field,) = schema_of(pa.schema([pa.field("documents", pa.large_binary())])).fields
    return Training(IndexedColumn(field, field), (), computed=runs)


def stored(text: str | None) -> pa.Array:
    """Return a document as a column holds it."""
    return pa.array([None if text is None else jsontext.document(text)], pa.large_binary())


def member(*texts: str | None, path: str = "a", type_: pa.DataType | None = None) -> pa.Array:
    """Return the values of one path."""
    rows = extract(rows_of(*texts), path, type_)
    values = pa.concat_arrays([run.values for run in rows.runs()])
    assert values.type == rows.type
    return values


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (['{"a":1}', '{"a":null}', "{}", None, "[1]", "7"], pa.array([1, *[None] * 5], pa.int64())),
        (['{"a":1.5}', '{"a":2}'], pa.array([1.5, 2.0])),
        (['{"a":18446744073709551615}', '{"a":1}'], pa.array([2.0**64, 1.0])),
        (['{"a":null}', '{"a":"é"}'], pa.array([None, "é"])),
        (['{"a":true}', '{"a":false}'], pa.array([True, False])),
        (["{}"], pa.array([None], pa.utf8())),
    ],
)
def test_the_first_value_says_the_type(texts, values):
    """Nothing but nulls is text."""
    assert member(*texts).equals(values)


@pytest.mark.parametrize(
    "texts",
    [
        ['{"a":1}', '{"a":2.5}'],
        ['{"a":"x"}', '{"a":1}'],
        ['{"a":true}', '{"a":0}'],
        ['{"a":[1]}'],
        ['{"a":{}}'],
        ['{"a":1}', '{"a":9223372036854775808}'],
    ],
)
def test_values_of_two_types_are_refused(texts):
    """Lists and objects are no values at all."""
    with pytest.raises(OperationRefused, match="JSON path 'a'"):
        member(*texts)


def test_a_known_type_is_kept():
    """Also where another would be found."""
    assert member('{"a":1}', type_=pa.float64()).equals(pa.array([1.0]))
    with pytest.raises(OperationRefused):
        member('{"a":1}', type_=pa.utf8())


def table(texts) -> pa.Table:
    """Return a table of documents."""
    return pa.table({"j": pa.array(texts, pa.json_())})


def config(target: str, path: str = "a", **parameters: object) -> IndexConfig:
    """Return what is asked for."""
    return IndexConfig("json", {"target_index_type": target, "path": path, **parameters})


def test_values_of_a_new_type_are_refused(tmp_path):
    """The index that is there stays."""
    dataset = write(table(['{"a":1}']), tmp_path)
    dataset.create_scalar_index("j", config("BTREE"))
    dataset.insert(table(['{"a":"x"}']))
    with pytest.raises(OperationRefused, match="of int64 and of string"):
        dataset.optimize.optimize_indices()
    assert ids(dataset, "json_get_string(j, 'a') = 'x'") == [1 << 32]


@pytest.mark.parametrize("target", ["RTREE", "INVERTED", "no type", "BTREE"])
def test_a_target_that_holds_no_values_of_documents_is_refused(tmp_path, target):
    """Types of other values, one that does not exist, and a B-tree where row ids are stable."""
    dataset = write(table(['{"a":1}']), tmp_path, enable_stable_row_ids=target == "BTREE")
    with pytest.raises(OperationRefused, match=f"{target}.* holds"):
        dataset.create_scalar_index("j", config(target))


def test_only_members_are_asked_for(tmp_path):
    """A path that leads to one has many spellings; a name is not a path."""
    texts = ['{"a":{"b":1}}', '{"a.b":1}', '{"a":[{"b":1}]}', '{"$.a":{"b":1}}']
    dataset = write(table(texts), tmp_path)
    nested = "json_get_int(json_get(j, 'a'), 'b') = 1"
    for path in ("a.b", "$.a.b", '$["a"].b', ' a."b" '):
        dataset.create_scalar_index("j", config("BTREE", path))
        assert asked(dataset, nested)
        assert ids(dataset, nested) == ids(dataset, nested, use_scalar_index=False) == [0]
        for other in ("json_get_int(j, 'a.b') = 1", f"json_get_int(j, '{path}') = 1"):
            assert not asked(dataset, other), other
    dataset.create_scalar_index("j", config("BTREE", "a[0].b"))
    assert not asked(dataset, nested)


def test_the_curve_of_two_by_two():
    """It opens to the right: up, to the right, down."""
    x, y = (np.array(one, np.uint32) << 15 for one in ([0, 0, 1, 1], [0, 1, 1, 0]))
    assert (curve_numbers(x, y) >> 30).tolist() == [0, 1, 2, 3]


def test_neighbours_on_the_curve_are_neighbours():
    """Each step leads to a point beside the last."""
    x, y = (one.ravel().astype(np.uint32) for one in np.meshgrid(range(32), range(32)))
    order = np.argsort(curve_numbers(x, y))
    steps = abs(np.diff(x[order].astype(int))) + abs(np.diff(y[order].astype(int)))
    assert (steps == 1).all()


def test_centres_are_cut_down_to_the_grid():
    """The last lies on the highest line."""
    boxes = np.array([[0, 0, 0, 0], [2, 0, 2, 0], [0.99, 0, 1, 0]], np.float64)
    x = np.array([0, 65535, int(0.995 / 2 * 65535)], np.uint32)
    assert np.array_equal(hilbert_numbers(boxes), curve_numbers(x, np.zeros(3, np.uint32)))


def test_worked_levels():
    """698 boxes in pages of 8: 88, 11, 2 and 1 pages, 799 rows."""
    levels = levels_of(698, 8)
    assert levels == [Level(0, 698, 0), Level(698, 88, 88), Level(786, 11, 99), Level(797, 2, 101)]
    assert sum(level.rows for level in levels) == 799
    assert levels_of(0, 8) == []
    assert levels_of(8, 8) == [Level(0, 8, 0)]


NONE = [math.nan] * 4


@pytest.mark.parametrize(
    ("around", "told"),
    [
        ([[0, 0, 3, 3], [5, 5, 6, 6]], None),
        ([NONE, [5, 5, 6, 6]], None),
        ([[0, 0, 3, 3], [5, 5, 6, 7]], r"\[5. 5.\] to \[6. 6.\].*\[5. 5.\] to \[6. 7.\]"),
        ([[0, 1, 3, 3], NONE], r"\[0. 0.\] to \[3. 3.\].*\[0. 1.\] to \[3. 3.\]"),
    ],
)
def test_a_page_has_the_box_around_its_boxes(around, told):
    """Two boxes in the first page, one in the second; NaN is the box of any."""
    boxes = np.array([[0, 0, 1, 1], [2, 2, 3, 3], [5, 5, 6, 6]], np.float64)
    file = SimpleNamespace(place=Place("page_data.lance", 0))
    with nullcontext() if told is None else pytest.raises(FormatError, match=told):
        check_boxes(file, boxes, np.array([0, 0, 1]), np.array(around, np.float64))


POINT = pa.struct([pa.field(axis, pa.float64()) for axis in "xy"])
LINES = pa.list_(pa.list_(POINT))


def points(*pairs):
    """Return points as structs."""
    return [{"x": float(x), "y": float(y)} for x, y in pairs]


LINE = points((0, 0), (2, 1))
RING = points((0, 0), (4, 0), (4, 3), (0, 0))
HOLE = points((3, 1), (3.5, 1), (3, 2), (3, 1))


@pytest.mark.parametrize(
    ("kind", "type_", "value", "text"),
    [
        ("point", POINT, LINE[1], "POINT (2 1)"),
        ("linestring", pa.list_(POINT), LINE, "LINESTRING (0 0, 2 1)"),
        ("multipoint", pa.large_list(POINT), LINE, "MULTIPOINT ((0 0), (2 1))"),
        ("polygon", LINES, [RING, HOLE], "POLYGON ((0 0, 4 0, 4 3, 0 0), (3 1, 3.5 1, 3 2, 3 1))"),
        ("polygon", LINES, [], "POLYGON EMPTY"),
        ("multilinestring", LINES, [LINE, LINE], "MULTILINESTRING ((0 0, 2 1), (0 0, 2 1))"),
        ("multilinestring", LINES, [None, LINE], "MULTILINESTRING (EMPTY, (0 0, 2 1))"),
        ("multipolygon", pa.list_(LINES), [[RING]], "MULTIPOLYGON (((0 0, 4 0, 4 3, 0 0)))"),
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


CUT = (pack("<BIII", 1, 0x2000_0007, 0, 1) * 61)[:-3]
"""Collections inside each other, each of a reference system, whose bytes end in a header."""


CUT_RING = pack("<BIII", 1, 3, 2, 50) + bytes(50 * 16 + 3)
"""A polygon of two rings whose bytes end in the number of points of the second."""


@pytest.mark.parametrize("value", ["POINT(", b"abc", b"\x01\x01\x00\x00\x00", CUT, CUT_RING])
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
