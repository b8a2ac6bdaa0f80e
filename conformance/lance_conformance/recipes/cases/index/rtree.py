"""Cases of R-trees over geometries."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from lance_conformance.recipes.cases.index.index_files import (
    DATA_PLACE,
    damaged,
    metadata,
    metadata_text,
    nulls,
    values,
)
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import FOURTH, descriptor, index
from lance_conformance.recipes.handmade_files import reworked
from lance_conformance.recipes.indexed import COVERED, Indexed, filtered
from lance_conformance.recipes.model import Recipe


def points(places: Sequence[tuple[int, int] | None]) -> pa.Array:
    """Return points, or null, as geometries."""
    data = [one and struct.pack("<BIdd", 1, 1, *one) for one in places]
    return pa.array(data, pa.binary())


PLACES = [(0, 0), (1, 5), None, (2, 2), (9, 9), (9, 0), (5, 5), (6, 5), (4, 9), (3, 3), (2, 3),
    None]  # fmt: skip
POINTS = points(PLACES)

RTREE = Indexed(POINTS, "RTREE", {"page_size": 4}, "2.0", extension="geoarrow.wkb")
_NULLS = reworked(filtered(RTREE, "c IS NULL", [2, 11]), index({"files": None}, FOURTH),
    descriptor({"schema.fields.0.nullable": True}, "_indices/*/nulls.lance"))  # fmt: skip


def _box(low: int, high: int) -> str:
    return f"POLYGON(({low} {low},{high} {low},{high} {high},{low} {high},{low} {low}))"


def _unit(places: Sequence[tuple[float, float] | None]) -> pa.Array:
    data = [one and struct.pack("<BIdd", 1, 1, *one) for one in places]
    return pa.array(data, pa.binary())


CASES: tuple[Recipe, ...] = (
    case("index/any/rtree/least-pages", "pages of two boxes", (*COVERED, "L.index.rtree.levels"),
        filtered(Indexed(POINTS, "RTREE", {"page_size": 2}, "2.0", extension="geoarrow.wkb"),
            "st_intersects(c, 'POLYGON((1 1,4 1,4 4,1 4,1 1))')", [3, 9, 10])),
    case("index/any/rtree/nullable", "a set of rows that might be null by its field", COVERED,
        filtered(RTREE, "c IS NULL", [2, 11]), make=_NULLS, reachable=False),
    lint("no-nulls", "null in place of the set of rows that are", "L.index.rtree.nulls",
        nulls("nulls.lance", 0)),
    case("index/any/rtree/of-nulls", "no point at all", (*COVERED, "L.index.rtree.levels"),
        filtered(Indexed(points([None] * 12), "RTREE", {"page_size": 4}, "2.0",
                extension="geoarrow.wkb"), "c IS NULL", [*range(7), *range(8, 12)])),
    case("index/any/rtree/plain",
        "points of a box, of two pages; one lies in a row that was appended", (*COVERED,
        "L.index.rtree.levels", "L.index.rtree.pages", "L.index.rtree.boxes", "L.index.rtree.order",
        "L.index.rtree.nulls"), filtered(RTREE, f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10])),
    lint("bbox", "a box of all that ends before the last", "L.index.rtree.boxes",
        metadata_text(DATA_PLACE, "bbox", lambda old: old.replace("9.0", "8.0"))),
    fault("page-rows", "pages of one box", "L.index.rtree.levels",
        metadata(DATA_PLACE, "page_size", "1")),
    fault("no-items", "no items", "L.index.rtree.levels", metadata(DATA_PLACE, "num_items", "0")),
    fault("num-pages", "five pages where four are", "L.index.rtree.levels",
        metadata(DATA_PLACE, "num_pages", "5")),
    fault("levels", "fewer boxes than the levels above have pages for", "L.index.rtree.levels",
        metadata(DATA_PLACE, "num_items", "8")),
    fault("pages", "a box above the leaves with the number of another page", "L.index.rtree.pages",
        values(DATA_PLACE, "id", b"\x07", 8 * 9)),
    fault("boxes", "a leaf outside of the box of its page", "L.index.rtree.boxes",
        values(DATA_PLACE, "xmin", b"\xff", 6)),
    lint("order", "a leaf so wide that its middle lies further along the curve",
        "L.index.rtree.order", values(DATA_PLACE, "xmax", struct.pack("<d", 9), 8 * 5)),
    case("index/any/rtree/nulls", "rows that are null are known exactly", COVERED,
        filtered(RTREE, "c IS NULL", [2, 11])),
    case("index/any/rtree/none", "a box without points", COVERED,
        filtered(RTREE, f"st_intersects(c, '{_box(7, 8)}')", [])),
    case("index/any/rtree/next", "index files of 2.1", COVERED, filtered(Indexed(POINTS, "RTREE",
        {}, "2.1", extension="geoarrow.wkb"), f"st_within(c, '{_box(4, 10)}')", [4, 6])),
    case("index/any/rtree/touch", "points on the edges of a box", COVERED,
        filtered(RTREE, f"st_intersects(c, '{_box(2, 5)}')", [3, 6, 9, 10])),
    case("index/any/rtree/tall", "a box higher than its points lie from the left", COVERED,
        filtered(RTREE, "st_intersects(c, 'POLYGON((0.5 4,3 4,3 6,0.5 6,0.5 4))')", [1])),
    case("index/any/rtree/wide", "a box further to the right than its points lie from below",
        COVERED, filtered(RTREE, "st_intersects(c, 'POLYGON((7 -1,10 -1,10 1,7 1,7 -1))')", [5])),
    case("index/any/rtree/own-plain", "points of a box, in an index of the reference", COVERED,
        filtered(RTREE, f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10], by="reference")),
    case("index/any/rtree/structs", "points that are structs of their places", COVERED,
        filtered(Indexed(pa.array([place and {"x": float(place[0]), "y": float(place[1])}
        for place in PLACES], pa.struct([("x", pa.float64()), ("y", pa.float64())])), "RTREE",
        {"page_size": 4}, "2.1", extension="geoarrow.point"),
        f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10])),
    case("index/any/rtree/unit", "points between 0 and 1 on either axis", COVERED,
        filtered(replace(RTREE, values=_unit([(0.1 * k % 0.7, 0.07 * k) for k in range(12)])),
            "st_intersects(c, 'POLYGON((0 0,0.25 0,0.25 0.25,0 0.25,0 0))')", [0, 1, 2])),
    lint("order", "a leaf so wide that its middle lies further along the curve",
        "L.index.rtree.order", values("page_data.lance", "xmax", struct.pack("<d", 0.6), 8 * 4)),
    case("index/any/rtree/scattered", "points in all corners", (*COVERED, "L.index.rtree.order"),
        filtered(Indexed(points([(n * 37 % 64, n * 23 % 64) for n in range(12)]), "RTREE",
                {"page_size": 4}, "2.0", extension="geoarrow.wkb"),
            "st_intersects(c, 'POLYGON((30 0,64 0,64 30,30 30,30 0))')", [1, 3, 6])),
    *damaged("rtree"),
)  # fmt: skip
