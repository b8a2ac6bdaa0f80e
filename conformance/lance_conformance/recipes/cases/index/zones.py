"""Cases of zone maps, Bloom filters and R-trees, which rule out where a value cannot lie."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from pyroaring import BitMap

from lance_conformance.recipes import indexed
from lance_conformance.recipes.cases.index import index_files
from lance_conformance.recipes.cases.index.index_files import DATA_PLACE, metadata, unsized, values
from lance_conformance.recipes.constructors import case, fault, faults, lint
from lance_conformance.recipes.edits import FOURTH, descriptor, index
from lance_conformance.recipes.handmade_files import edited, words
from lance_conformance.recipes.indexed import Indexed, dump, filtered
from lance_conformance.recipes.model import Recipe

BLOOMFILTER = Indexed(indexed.INTS, "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01})

_TEXTS = Indexed(pa.array([*indexed.TEXTS_INDICES.to_pylist()[:9], 8 * "apple", "apple", "b"]),
    "BLOOMFILTER", BLOOMFILTER.parameters)  # fmt: skip

_ZONES = "zonemap.lance"
ZONEMAP = Indexed(indexed.INTS, "ZONEMAP", {"rows_per_zone": 2})
_ZONE_ROWS = pa.table({"min": pa.array([3, 1, 3, 2, 5, 1], pa.int32()),
        "max": pa.array([3, 5, 3, 2, 9, 1], pa.int32()),
        "null_count": pa.array([1, 0, 0, 1, 0, 0], pa.uint32()),
        "nan_count": pa.array([0] * 6, pa.uint32()),
        "fragment_id": pa.array([0, 0, 0, 1, 1, 1], pa.uint64()),
        "zone_start": pa.array([0, 2, 4, 0, 2, 4], pa.uint64()),
        "zone_length": pa.array([2, 2, 1, 2, 2, 1], pa.uint64())})  # fmt: skip


def points(places: Sequence[tuple[float, float] | None]) -> pa.Array:
    """Return points, or null, as geometries."""
    data = [one and struct.pack("<BIdd", 1, 1, *one) for one in places]
    return pa.array(data, pa.binary())


PLACES = [(0, 0), (1, 5), None, (2, 2), (9, 9), (9, 0), (5, 5), (6, 5), (4, 9), (3, 3), (2, 3),
    None]  # fmt: skip
POINTS = points(PLACES)
RTREE = Indexed(POINTS, "RTREE", {"page_size": 4}, "2.0", extension="geoarrow.wkb")
_NULLS = edited(filtered(RTREE, "c IS NULL", [2, 11]), index({"files": None}, FOURTH),
    descriptor({"schema.fields.0.nullable": True}, "_indices/*/nulls.lance"))  # fmt: skip


def _box(low: int, high: int) -> str:
    return f"POLYGON(({low} {low},{high} {low},{high} {high},{low} {high},{low} {low}))"


CASES: tuple[Recipe, ...] = (
    case("index/any/bloomfilter/least", "filters of the least size", "L.index.bloom.size",
        unsized(filtered(replace(BLOOMFILTER, version="2.0"), "c = 3", [0, 4, 10], clauses=()))),
    case("index/any/bloomfilter/4-0-1-nulls", "rows that are null, which the filters do not say",
        ("L.index.zones.nulls", "L.index.zones.order"),
        indexed.early_index("4.0.1", "BLOOMFILTER", "c IS NULL", [1, 6], facts=False)),
    case("index/any/bloomfilter/equals", "a value whose zones the filters name",
        filtered(BLOOMFILTER, "c = 3", [0, 4, 10])),
    *(case(f"index/any/bloomfilter/{slug}", f"{what} among texts", "L.index.bloom.data",
            filtered(_TEXTS, f"c = '{word}'", rows)) for slug, what, word, rows in
        (("empty", "the empty text", "", [8]), ("long", "a text of 40 bytes", 8 * "apple", [9]),
            ("three", "a text of three bytes", "ape", [4]))),
    case("index/any/bloomfilter/among", "some values",
        filtered(BLOOMFILTER, "c IN (1, 9)", [2, 8, 9])),
    case("index/any/bloomfilter/nulls", "rows that are null are known exactly",
        filtered(BLOOMFILTER, "c IS NULL", [1, 6])),
    case("index/any/bloomfilter/zeros", "zero is looked for with either sign", filtered(
            Indexed(indexed.FLOATS, "BLOOMFILTER", BLOOMFILTER.parameters), "c = 0", [0, 1, 10])),
    case("index/any/bloomfilter/blocks", "filters of many blocks", filtered(
            Indexed(indexed.INTS, "BLOOMFILTER", {"number_of_items": 1000, "probability": 0.0001}),
            "c = 3", [0, 4, 10])),
    case("index/any/bloomfilter/own-equals", "a value in an index of the reference",
        filtered(BLOOMFILTER, "c = 1", [2, 9], by="reference")),
    case("index/any/bloomfilter/minus-zero", "zero, of which a zone has the negative one alone",
        "L.index.bloom.data",
        filtered(Indexed(pa.array([-0.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, -0.0, 6.0]),
                "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01}), "c = 0", [0, 10])),
    case("index/any/bloomfilter/low-bits", "a value whose hash ends with five bits 0",
        "L.index.bloom.data",
        filtered(Indexed(pa.array([52, None, 1, 132, 3, 2, None, 5, 9, 1, 3, 8], pa.int32()),
                "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01}), "c = 52", [0])),
    case("index/any/bloomfilter/plain", "files of 2.0, whose sizes nobody says",
        unsized(filtered(replace(BLOOMFILTER, version="2.0"), "c = 3", [0, 4, 10]))),
    fault("fragment-behind", "a zone of fragment 2**32", "L.index.zones.order",
        values("bloomfilter.lance", "fragment_id", words(2 ** 32), 40)),
    fault("size", "filters of two sizes", "L.index.bloom.data",
        values("bloomfilter.lance", "bloom_filter_data", b"\x1f", 0, "string ends")),
    fault("small", "a filter of 16 bytes", "L.index.bloom.data",
        values("bloomfilter.lance", "bloom_filter_data", b"\x10", 0, "string ends"),
        also="L.index.bloom.size"),
    lint("ruled-out", "a filter without a bit of a value", "L.index.segment.complete",
        values("bloomfilter.lance", "bloom_filter_data", bytes(32), 0, "bytes")),
    case("index/any/bloomfilter/wide", "filters of more than one block",
        filtered(Indexed(pa.array(range(12), pa.int32()), "BLOOMFILTER",
                {"number_of_items": 60, "probability": 0.01}, "2.0"), "c = 3", [3])),
    fault("blocks", "filters of three blocks and of five", "L.index.bloom.data",
        values("bloomfilter.lance", "bloom_filter_data", b"`", 0, "string ends")),
    case("index/any/zonemap/4-0-1-values", "zones that do not say which rows are null",
        ("L.index.zones.nulls", "L.index.files.metadata"),
        indexed.early_index("4.0.1", "ZONEMAP", "c = 5", [3, 7])),
    case("index/any/zonemap/4-0-1-nulls", "rows that are null, which the zones do not say",
        ("L.index.zones.nulls", "L.index.segment.coverage"),
        indexed.early_index("4.0.1", "ZONEMAP", "c IS NULL", [1, 6], facts=False)),
    case("index/any/zonemap/range", "a range that rules zones out",
        filtered(ZONEMAP, "c >= 5", [3, 8, 11])),
    case("index/any/zonemap/nulls", "rows that are null are known exactly",
        filtered(ZONEMAP, "c IS NULL", [1, 6])),
    case("index/any/zonemap/nan", "a zone with NaN has no upper bound", "L.index.zonemap.bounds",
        filtered(Indexed(indexed.FLOATS, "ZONEMAP", {"rows_per_zone": 2}), "c > 1.75", [2, 8, 11])),
    case("index/any/zonemap/bytes", "bounds that are null rule nothing out",
        "L.index.zonemap.bounds", filtered(Indexed(pa.array([bytes([n, n + 1, n + 2][:2]) if n else
                        None for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12)], pa.binary(2)),
                "ZONEMAP", {"rows_per_zone": 2}), "c = X'0203'", [1])),
    case("index/any/zonemap/own-range", "a range in an index of the reference",
        filtered(ZONEMAP, "c < 2", [2, 9], by="reference")),
    case("index/any/zonemap/content", "what it holds", dump(ZONEMAP, _ZONE_ROWS)),
    case("index/any/zonemap/own-content", "what one of the reference holds",
        dump(ZONEMAP, _ZONE_ROWS, by="reference")),
    case("index/any/zonemap/plain", "files of 2.0, whose sizes nobody says",
        unsized(filtered(replace(ZONEMAP, version="2.0"), "c IS NULL", [1, 6]))),
    fault("zone-behind", "a zone that begins at row 2**32", "L.index.zones.order",
        values("zonemap.lance", "zone_start", words(2 ** 32), 8)),
    fault("zone-long", "a zone of 2**32 rows and one", "L.index.zones.order",
        values("zonemap.lance", "zone_length", words(2 ** 32 + 1), 0)),
    fault("metadata", "the number of a buffer is no number", "L.index.files.metadata",
        metadata(_ZONES, "null_bitmap", "one")),
    fault("buffer", "the metadata name a buffer that is not there", "L.index.files.buffer",
        metadata(_ZONES, "null_bitmap", "7")),
    fault("rows-count", "a set of more fragments than it has bytes", "L.index.rows.count",
        index_files.held_bytes(_ZONES, b"\xff\xff\xff\xff", 0)),
    fault("rows-order", "a fragment that occurs twice in a set of rows", "L.index.rows.order",
        index_files.held_bytes(_ZONES, b"\x00", 30)),
    fault("rows-bitmap", "a bitmap that ends after its set", "L.index.rows.bitmap",
        index_files.held_bytes(_ZONES, b"\xff", 9)),
    fault("rows-cookie", "a bitmap with another first word", "L.table.roaring.cookie",
        index_files.held_bytes(_ZONES, b"\x00", 12)),
    fault("rows-end", "bytes after the last fragment of a set", "L.index.rows.end",
        index_files.held_bytes(_ZONES, b"\x01", 0)),
    fault("order", "a zone that begins after every row", "L.index.zones.order",
        values(_ZONES, "zone_start", b"\x01", 4)),
    lint("nulls", "a zone counts more rows that are null than the set has", "L.index.zones.nulls",
        values(_ZONES, "null_count", b"\x02")),
    lint("ruled-out", "an upper bound below a value of its zone", "L.index.segment.complete",
        values(_ZONES, "max", words(4, width=4), 4)),
    case("index/any/zonemap/moved", "zones whose rows moved", "L.index.reuse.applied",
        filtered(indexed.then(ZONEMAP, indexed.compact), "c = 1", [2, 9])),
    case("index/any/zonemap/minus-nan", "the negative NaN, which is below the bounds of its zone",
        filtered(Indexed(pa.array([1.0, -float("nan"), 2.0, 3.0, 4.0, *[5.0] * 7]), "ZONEMAP",
                {"rows_per_zone": 5}), "c = CAST('-NaN' AS DOUBLE)", [1])),
    case("index/any/zonemap/prefix", "texts that begin with another",
        filtered(Indexed(indexed.TEXTS_INDICES, "ZONEMAP", {"rows_per_zone": 2}), "c LIKE 'ap%'",
            [0, 1, 4, 10])),
    *faults("index/any/{zonemap,bloomfilter}/plain", lint("bare-fragment",
            "a fragment that is covered and has no zones", "L.index.segment.complete",
            index({"fragment_bitmap": BitMap([0, 1, 2]).serialize()}, FOURTH))),
    *index_files.damaged("bloomfilter"),
    *index_files.damaged("zonemap"),
    case("index/any/rtree/least-pages", "pages of two boxes", "L.index.rtree.levels",
        filtered(Indexed(POINTS, "RTREE", {"page_size": 2}, "2.0", extension="geoarrow.wkb"),
            "st_intersects(c, 'POLYGON((1 1,4 1,4 4,1 4,1 1))')", [3, 9, 10])),
    case("index/any/rtree/nullable", "a set of rows that might be null by its field", _NULLS),
    lint("no-nulls", "null in place of the set of rows that are", "L.index.rtree.nulls",
        index_files.nulls("nulls.lance", 0)),
    case("index/any/rtree/of-nulls", "no point at all", "L.index.rtree.levels",
        filtered(Indexed(points([None] * 12), "RTREE", {"page_size": 4}, "2.0",
                extension="geoarrow.wkb"), "c IS NULL", [*range(7), *range(8, 12)])),
    case("index/any/rtree/plain",
        "points of a box, of two pages; one lies in a row that was appended",
        ("L.index.rtree.levels", "L.index.rtree.pages", "L.index.rtree.boxes",
            "L.index.rtree.order", "L.index.rtree.nulls"),
        filtered(RTREE, f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10])),
    lint("bbox", "a box of all that ends before the last", "L.index.rtree.boxes",
        index_files.metadata_text(DATA_PLACE, "bbox", lambda old: old.replace("9.0", "8.0"))),
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
    case("index/any/rtree/nulls", "rows that are null are known exactly",
        filtered(RTREE, "c IS NULL", [2, 11])),
    case("index/any/rtree/none", "a box without points",
        filtered(RTREE, f"st_intersects(c, '{_box(7, 8)}')", [])),
    case("index/any/rtree/next", "index files of 2.1",
        filtered(Indexed(POINTS, "RTREE", {}, "2.1", extension="geoarrow.wkb"),
            f"st_within(c, '{_box(4, 10)}')", [4, 6])),
    case("index/any/rtree/touch", "points on the edges of a box",
        filtered(RTREE, f"st_intersects(c, '{_box(2, 5)}')", [3, 6, 9, 10])),
    case("index/any/rtree/tall", "a box higher than its points lie from the left",
        filtered(RTREE, "st_intersects(c, 'POLYGON((0.5 4,3 4,3 6,0.5 6,0.5 4))')", [1])),
    case("index/any/rtree/wide", "a box further to the right than its points lie from below",
        filtered(RTREE, "st_intersects(c, 'POLYGON((7 -1,10 -1,10 1,7 1,7 -1))')", [5])),
    case("index/any/rtree/own-plain", "points of a box, in an index of the reference",
        filtered(RTREE, f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10], by="reference")),
    case("index/any/rtree/structs", "points that are structs of their places",
        filtered(Indexed(pa.array(
                    [place and {"x": float(place[0]), "y": float(place[1])} for place in PLACES],
                    pa.struct([("x", pa.float64()), ("y", pa.float64())])), "RTREE",
                {"page_size": 4}, "2.1", extension="geoarrow.point"),
            f"st_intersects(c, '{_box(1, 4)}')", [3, 9, 10])),
    case("index/any/rtree/unit", "points between 0 and 1 on either axis",
        filtered(replace(RTREE, values=points([(0.1 * k % 0.7, 0.07 * k) for k in range(12)])),
            "st_intersects(c, 'POLYGON((0 0,0.25 0,0.25 0.25,0 0.25,0 0))')", [0, 1, 2])),
    lint("order", "a leaf so wide that its middle lies further along the curve",
        "L.index.rtree.order", values("page_data.lance", "xmax", struct.pack("<d", 0.6), 8 * 4)),
    case("index/any/rtree/scattered", "points in all corners", "L.index.rtree.order",
        filtered(Indexed(points([(n * 37 % 64, n * 23 % 64) for n in range(12)]), "RTREE",
                {"page_size": 4}, "2.0", extension="geoarrow.wkb"),
            "st_intersects(c, 'POLYGON((30 0,64 0,64 30,30 30,30 0))')", [1, 3, 6])),
    *index_files.damaged("rtree"),
)  # fmt: skip
