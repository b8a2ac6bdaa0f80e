"""Cases of zone maps and Bloom filters."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyroaring import BitMap

from lance_conformance.recipes.cases.index import scalar_tables as s
from lance_conformance.recipes.cases.index.index_files import (
    damaged,
    held_bytes,
    metadata,
    unsized,
    values,
)
from lance_conformance.recipes.cases.index.scalar_tables import early_index
from lance_conformance.recipes.constructors import case, fault, faults, lint
from lance_conformance.recipes.edits import FOURTH, index
from lance_conformance.recipes.handmade_files import words
from lance_conformance.recipes.indexed import COVERED, Indexed, filtered, held_by
from lance_conformance.recipes.model import Recipe

BLOOMFILTER = Indexed(s.INTS, "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01})

_ZONES = "zonemap.lance"
ZONEMAP = Indexed(s.INTS, "ZONEMAP", {"rows_per_zone": 2})
_ZONE_ROWS = pa.table({"min": pa.array([3, 1, 3, 2, 5, 1], pa.int32()),
    "max": pa.array([3, 5, 3, 2, 9, 1], pa.int32()), "null_count": pa.array([1, 0, 0, 1, 0, 0],
    pa.uint32()), "nan_count": pa.array([0] * 6, pa.uint32()), "fragment_id": pa.array(
    [0, 0, 0, 1, 1, 1], pa.uint64()), "zone_start": pa.array([0, 2, 4, 0, 2, 4], pa.uint64()),
    "zone_length": pa.array([2, 2, 1, 2, 2, 1], pa.uint64())})  # fmt: skip


CASES: tuple[Recipe, ...] = (
    case("index/any/bloomfilter/least", "filters of the least size", "L.index.bloom.size",
        unsized(filtered(replace(BLOOMFILTER, version="2.0"), "c = 3", [0, 4, 10])),
        reachable=False),
    case("index/any/bloomfilter/4-0-1-nulls", "rows that are null, which the filters do not say",
        ("L.index.zones.nulls", "L.index.zones.order"),
        early_index("4.0.1", "BLOOMFILTER", "c IS NULL", [1, 6], facts=False)),
    case("index/any/bloomfilter/equals", "a value whose zones the filters name", COVERED,
        filtered(BLOOMFILTER, "c = 3", [0, 4, 10])),
    case("index/any/bloomfilter/among", "some values", COVERED,
        filtered(BLOOMFILTER, "c IN (1, 9)", [2, 8, 9])),
    case("index/any/bloomfilter/nulls", "rows that are null are known exactly", COVERED,
        filtered(BLOOMFILTER, "c IS NULL", [1, 6])),
    case("index/any/bloomfilter/zeros", "zero is looked for with either sign", COVERED,
        filtered(Indexed(s.FLOATS, "BLOOMFILTER", BLOOMFILTER.parameters), "c = 0", [0, 1, 10])),
    case("index/any/bloomfilter/blocks", "filters of many blocks", COVERED, filtered(Indexed(s.INTS,
        "BLOOMFILTER", {"number_of_items": 1000, "probability": 0.0001}), "c = 3", [0, 4, 10])),
    case("index/any/bloomfilter/own-equals", "a value in an index of the reference", COVERED,
        filtered(BLOOMFILTER, "c = 1", [2, 9], by="reference")),
    case("index/any/bloomfilter/minus-zero", "zero, of which a zone has the negative one alone",
        (*COVERED, "L.index.bloom.data"),
        filtered(Indexed(pa.array([-0.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, -0.0, 6.0]),
                "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01}), "c = 0", [0, 10])),
    case("index/any/bloomfilter/low-bits", "a value whose hash ends with five bits 0",
        (*COVERED, "L.index.bloom.data"),
        filtered(Indexed(pa.array([52, None, 1, 132, 3, 2, None, 5, 9, 1, 3, 8], pa.int32()),
                "BLOOMFILTER", {"number_of_items": 2, "probability": 0.01}), "c = 52", [0])),
    case("index/any/bloomfilter/plain", "files of 2.0, whose sizes nobody says", COVERED,
        unsized(filtered(replace(BLOOMFILTER, version="2.0"), "c = 3", [0, 4, 10])),
        reachable=False),
    fault("fragment-behind", "a zone of fragment 2**32", "L.index.zones.order",
        values("bloomfilter.lance", "fragment_id", words(2 ** 32), 40)),
    fault("size", "filters of two sizes", "L.index.bloom.data",
        values("bloomfilter.lance", "bloom_filter_data", b"\x1f", 0, "string ends")),
    fault("small", "a filter of 16 bytes", "L.index.bloom.data", values("bloomfilter.lance",
        "bloom_filter_data", b"\x10", 0, "string ends"), also="L.index.bloom.size"),
    case("index/any/bloomfilter/wide", "filters of more than one block", COVERED,
        filtered(Indexed(pa.array(range(12), pa.int32()), "BLOOMFILTER",
                {"number_of_items": 60, "probability": 0.01}, "2.0"), "c = 3", [3])),
    fault("blocks", "filters of three blocks and of five", "L.index.bloom.data",
        values("bloomfilter.lance", "bloom_filter_data", b"`", 0, "string ends")),
    case("index/any/zonemap/4-0-1-values", "zones that do not say which rows are null",
        ("L.index.zones.nulls", "L.index.files.metadata"),
        early_index("4.0.1", "ZONEMAP", "c = 5", [3, 7])),
    case("index/any/zonemap/4-0-1-nulls", "rows that are null, which the zones do not say",
        ("L.index.zones.nulls", "L.index.segment.coverage"),
        early_index("4.0.1", "ZONEMAP", "c IS NULL", [1, 6], facts=False)),
    case("index/any/zonemap/range", "a range that rules zones out", COVERED,
        filtered(ZONEMAP, "c >= 5", [3, 8, 11])),
    case("index/any/zonemap/nulls", "rows that are null are known exactly", COVERED,
        filtered(ZONEMAP, "c IS NULL", [1, 6])),
    case("index/any/zonemap/nan", "a zone with NaN has no upper bound",
        (*COVERED, "L.index.zonemap.bounds"),
        filtered(Indexed(s.FLOATS, "ZONEMAP", {"rows_per_zone": 2}), "c > 1.75", [2, 8, 11])),
    case("index/any/zonemap/bytes", "bounds that are null rule nothing out", (*COVERED,
        "L.index.zonemap.bounds"), filtered(Indexed(pa.array([bytes([n, n + 1,
        n + 2][:2]) if n else None for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12)], pa.binary(2)),
        "ZONEMAP", {"rows_per_zone": 2}), "c = X'0203'", [1])),
    case("index/any/zonemap/own-range", "a range in an index of the reference", COVERED,
        filtered(ZONEMAP, "c < 2", [2, 9], by="reference")),
    case("index/any/zonemap/content", "what it holds",
        ("L.index.segment.complete", "L.index.files.column"), held_by(ZONEMAP, _ZONE_ROWS)),
    case("index/any/zonemap/own-content", "what one of the reference holds",
        ("L.index.segment.complete", "L.index.files.column"),
        held_by(ZONEMAP, _ZONE_ROWS, by="reference")),
    case("index/any/zonemap/plain", "files of 2.0, whose sizes nobody says", COVERED,
        unsized(filtered(replace(ZONEMAP, version="2.0"), "c IS NULL", [1, 6])), reachable=False),
    fault("zone-behind", "a zone that begins at row 2**32", "L.index.zones.order",
        values("zonemap.lance", "zone_start", words(2 ** 32), 8)),
    fault("zone-long", "a zone of 2**32 rows and one", "L.index.zones.order",
        values("zonemap.lance", "zone_length", words(2 ** 32 + 1), 0)),
    fault("metadata", "the number of a buffer is no number", "L.index.files.metadata",
        metadata(_ZONES, "null_bitmap", "one")),
    fault("buffer", "the metadata name a buffer that is not there", "L.index.files.buffer",
        metadata(_ZONES, "null_bitmap", "7")),
    fault("rows-count", "a set of more fragments than it has bytes", "L.index.rows.count",
        held_bytes(_ZONES, b"\xff\xff\xff\xff", 0)),
    fault("rows-order", "a fragment that occurs twice in a set of rows", "L.index.rows.order",
        held_bytes(_ZONES, b"\x00", 30)),
    fault("rows-bitmap", "a bitmap that ends after its set", "L.index.rows.bitmap",
        held_bytes(_ZONES, b"\xff", 9)),
    fault("rows-cookie", "a bitmap with another first word", "L.table.roaring.cookie",
        held_bytes(_ZONES, b"\x00", 12)),
    fault("rows-end", "bytes after the last fragment of a set", "L.index.rows.end",
        held_bytes(_ZONES, b"\x01", 0)),
    fault("order", "a zone that begins after every row", "L.index.zones.order",
        values(_ZONES, "zone_start", b"\x01", 4)),
    lint("nulls", "a zone counts more rows that are null than the set has", "L.index.zones.nulls",
        values(_ZONES, "null_count", b"\x02")),
    case("index/any/zonemap/moved", "zones whose rows moved", (*COVERED, "L.index.reuse.applied"),
        filtered(s.and_then(ZONEMAP, s.compacted), "c = 1", [2, 9])),
    case("index/any/zonemap/minus-nan", "the negative NaN, which is below the bounds of its zone",
        COVERED, filtered(Indexed(pa.array([1.0, -float("nan"), 2.0, 3.0, 4.0, *[5.0] * 7]),
        "ZONEMAP", {"rows_per_zone": 5}), "c = CAST('-NaN' AS DOUBLE)", [1])),
    case("index/any/zonemap/prefix", "texts that begin with another", COVERED,
        filtered(Indexed(s.TEXTS_INDICES, "ZONEMAP", {"rows_per_zone": 2}), "c LIKE 'ap%'",
            [0, 1, 4, 10])),
    *faults("index/any/{zonemap,bloomfilter}/plain", lint("bare-fragment",
        "a fragment that is covered and has no zones", "L.index.segment.complete",
        index({"fragment_bitmap": BitMap([0, 1, 2]).serialize()}, FOURTH))),
    *damaged("bloomfilter"),
    *damaged("zonemap"),
)  # fmt: skip
