"""Cases of RTREE indices: points in pages of four, and trees that are damaged."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa

from lance_conformance.recipes.indexed import Indexed
from lance_conformance.recipes.tables.faults_indices import fault, lint, metadata, values
from lance_conformance.recipes.tables.indices import search

_PLACES = [(0, 0), (1, 5), None, (2, 2), (9, 9), (9, 0), (5, 5), (6, 5), (4, 9), (3, 3),
           (2, 3), None]  # fmt: skip

_LITTLE_ENDIAN, _POINT = 1, 1
"""First byte of a geometry, and the type of a point."""


def points(places: Sequence[tuple[int, int] | None]) -> pa.Array:
    """Return points, or null, as geometries."""
    data = [one and struct.pack("<BIdd", _LITTLE_ENDIAN, _POINT, *one) for one in places]
    return pa.array(data, pa.binary())


POINTS = points(_PLACES)

RTREE = Indexed(POINTS, "RTREE", {"page_size": 4}, "2.0", extension="geoarrow.wkb")

_CLAUSES = tuple(f"L.index.rtree.{name}" for name in ("levels", "pages", "boxes", "order", "nulls"))

_DATA = "page_data.lance"
_LEAVES = 9
"""Boxes of points that are indexed and not null."""


def _box(low: int, high: int) -> str:
    return f"POLYGON(({low} {low},{high} {low},{high} {high},{low} {high},{low} {low}))"


POSITIVES = (
    search("plain", "points of a box, of two pages; one lies in a row that was appended",
           f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10], RTREE, _CLAUSES),
    search("nulls", "rows that are null are known exactly", "c IS NULL", [2, 11], RTREE),
    search("none", "a box without points", f"st_intersects(c, '{_box(7, 8)}')", [], RTREE),
    search("next", "index files of 2.1", f"st_within(c, '{_box(4, 10)}')", [4, 6],
           Indexed(POINTS, "RTREE", {}, "2.1", extension="geoarrow.wkb")),
    search("touch", "points on the edges of a box", f"st_intersects(c, '{_box(2, 5)}')",
           [3, 6, 9, 10], RTREE),
    search("tall", "a box higher than its points lie from the left",
           "st_intersects(c, 'POLYGON((0.5 4,3 4,3 6,0.5 6,0.5 4))')", [1], RTREE),
    search("wide", "a box further to the right than its points lie from below",
           "st_intersects(c, 'POLYGON((7 -1,10 -1,10 1,7 1,7 -1))')", [5], RTREE),
    search("own-plain", "points of a box, in an index of the reference",
           f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10], RTREE, by="reference"),
)  # fmt: skip


NEGATIVES = (
    fault("rtree/plain", "levels", "fewer boxes than the levels above have pages for",
          "L.index.rtree.levels",
          metadata(_DATA, "num_items", "8")),
    fault("rtree/plain", "pages", "a box above the leaves with the number of another page",
          "L.index.rtree.pages", values(_DATA, "id", b"\7", 8 * _LEAVES)),
    fault("rtree/plain", "boxes", "a leaf outside of the box of its page",
          "L.index.rtree.boxes", values(_DATA, "xmin", b"\xff", 6)),
    lint("rtree/plain", "order", "a leaf so wide that its middle lies further along the curve",
         "L.index.rtree.order", values(_DATA, "xmax", struct.pack("<d", 9), 8 * 5)),
)  # fmt: skip
