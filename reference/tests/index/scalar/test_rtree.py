"""RTREE: boxes of geometries in a tree."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
import shapely
from lanceref.core.errors import FormatError, LanceError, OperationRefused
from lanceref.index.scalar.rtree import DATA, NULLS, check, hilbert_numbers, leaves_of
from pylanceref.indices import IndexConfig

from ..rewriting import rewritten
from ..tables import asked, assert_same, ids, index_reads, scanned, write
from .geometries import TYPES, column, conditions

SMALL = IndexConfig("rtree", {"page_size": 4})


def segments_of(dataset):
    """Return the segments of a version, opened anew."""
    return pylanceref.dataset(dataset.uri)._snapshot.indices.segments


def test_empty_geometries_are_nowhere(tmp_path):
    """Null is in its own file."""
    points = [{"x": 1.0, "y": 2.0}, None, {"x": float("nan"), "y": float("nan")}]
    table = column("geoarrow.point", 0)
    dataset = write(pa.table([pa.array(points, TYPES["geoarrow.point"])], table.schema), tmp_path)
    dataset.create_scalar_index("g", "RTREE")
    (segment,) = segments_of(dataset)
    boxes, rows = leaves_of(segment)
    assert (boxes.tolist(), rows.tolist()) == ([[1, 2, 1, 2]], [0])
    assert dataset.index_statistics("g_idx")["indices"] == [
        {
            "page_size": 4096,
            "num_pages": 1,
            "num_items": 1,
            "bbox": {"minx": 1.0, "miny": 2.0, "maxx": 1.0, "maxy": 2.0},
            "page_offsets": [0],
        }
    ]
    assert ids(dataset, "g is null") == [1]
    assert ids(dataset, "g is not null") == [0, 2]
    assert ids(dataset, "st_intersects(g, 'POINT EMPTY')") == []


def test_nothing_at_all(tmp_path):
    """A tree without boxes has no pages."""
    dataset = write(column("geoarrow.point", 0), tmp_path)
    dataset.create_scalar_index("g", "RTREE")
    assert dataset.index_statistics("g_idx")["indices"] == [
        {
            "page_size": 4096,
            "num_pages": 0,
            "num_items": 0,
            "bbox": {"minx": None, "miny": None, "maxx": None, "maxy": None},
            "page_offsets": [],
        }
    ]
    dataset.insert(column("geoarrow.point", 20))
    dataset.optimize.optimize_indices()
    assert_same(dataset, ["g is null", "st_within(g, 'POLYGON((0 0,9 0,9 9,0 9,0 0))')"])


@pytest.mark.parametrize("name", TYPES)
def test_what_is_found_is_what_a_scan_finds(tmp_path, name):
    """With rows deleted, added, taken in and moved."""
    dataset = write(column(name), tmp_path, max_rows_per_file=30)
    dataset.create_scalar_index("g", SMALL)
    dataset.delete("_rowoffset in (3, 50, 51)")
    dataset.insert(column(name, 20, seed=3))
    assert_same(dataset, conditions())
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    assert len(segments_of(dataset)) == 2
    assert_same(dataset, conditions(20))
    dataset.optimize.optimize_indices(num_indices_to_merge=2)
    assert len(segments_of(dataset)) == 1
    assert_same(dataset, conditions(20))
    dataset.optimize.compact_files()
    assert_same(dataset, conditions(20))


def test_stable_row_ids(tmp_path):
    """Rows are named by their ids, which stay when rows move."""
    dataset = write(
        column("geoarrow.box"), tmp_path, max_rows_per_file=30, enable_stable_row_ids=True
    )
    dataset.create_scalar_index("g", SMALL)
    dataset.delete("_rowoffset = 3")
    dataset.optimize.compact_files()
    (segment,) = segments_of(dataset)
    assert len(segment.covers) == 1
    assert_same(dataset, conditions(40))


def test_segments_are_built_apart(tmp_path):
    """And made one."""
    dataset = write(column("geoarrow.wkb"), tmp_path, max_rows_per_file=40)
    made = [
        dataset.create_index_uncommitted("g", "RTREE", fragment_ids=[number]) for number in (0, 1)
    ]
    dataset.commit_existing_index_segments(
        "g_idx", "g", [dataset.merge_existing_index_segments(made)]
    )
    assert_same(dataset, conditions(40))


def test_conditions_that_an_index_does_not_answer(tmp_path):
    """Denied, with the column in the second place, of geometries that are apart."""
    dataset = write(column("geoarrow.point"), tmp_path)
    dataset.create_scalar_index("g", "RTREE")
    box = "'POLYGON((0 0,9 0,9 9,0 9,0 0))'"
    for condition in (
        f"not st_intersects(g, {box})",
        f"st_contains({box}, g)",
        f"st_disjoint(g, {box})",
        f"st_distance(g, {box}) < 1",
    ):
        assert not asked(dataset, condition)
        ids(dataset, condition)
    assert ids(dataset, f"st_contains({box}, g)") == ids(dataset, f"st_within(g, {box})")


def test_what_cannot_be_indexed(tmp_path):
    """Numbers, structs without a name, pages of one box."""
    table = pa.table({"n": [1.0], "p": [{"x": 1.0, "y": 2.0}]})
    dataset = write(table, tmp_path)
    for name in ("n", "p"):
        with pytest.raises(OperationRefused, match="cannot index"):
            dataset.create_scalar_index(name, "RTREE")
    points = write(column("geoarrow.point"), tmp_path / "points")
    with pytest.raises(OperationRefused, match="page_size"):
        points.create_scalar_index("g", IndexConfig("rtree", {"page_size": 1}))


def test_only_pages_that_may_hold_something_are_read(tmp_path):
    """The geometries are not."""
    source = random.Random(1)
    discs = [
        shapely.Point(source.random() * 1000, source.random() * 1000).buffer(1) for _ in range(5000)
    ]
    dataset = write(pa.table({"g": shapely.to_wkb(discs)}), tmp_path)
    condition = "st_intersects(g, 'POINT(500 500)')"
    everything = index_reads(dataset, condition)
    dataset.create_scalar_index("g", IndexConfig("rtree", {"page_size": 64}))
    assert index_reads(dataset, condition) * 10 < everything


def test_levels_that_are_not_those_of_the_boxes_are_refused(tmp_path):
    """Also ids of other pages, and nulls that are no set."""
    dataset = write(column("geoarrow.point", 40), tmp_path)
    dataset.create_scalar_index("g", SMALL)

    def caught(change) -> str:
        (segment,) = segments_of(dataset)
        change(segment)
        with pytest.raises(FormatError) as error:
            opened = lanceref.index.registry.BY_NAME["RTREE"].open(segment)
            from lanceref.index.geometry import binary_of
            from lanceref.index.predicate import Intersects, IsNull

            opened.search(Intersects(binary_of("POLYGON((0 0,30 0,30 30,0 30,0 0))")))
            opened.search(IsNull())
        return error.value.clause

    for key, value in (
        ("num_items", "999999999999"),
        ("num_items", "3"),
        ("page_size", "1"),
        ("page_size", "5000"),
        ("num_pages", "1"),
    ):
        found = caught(lambda one, k=key, v=value: one.file(DATA).metadata.update({k: v}))
        assert found == "L.index.rtree.levels", key

    def other_pages(segment) -> None:
        file, take = segment.file(DATA), segment.file(DATA).take
        file.take = lambda name, rows, type_: (
            take(name, rows, type_)
            if name == "bbox"
            else pa.array(np.asarray(take(name, rows, type_)) + np.uint64(1))
        )

    assert caught(other_pages) == "L.index.rtree.pages"

    def no_nulls(segment) -> None:
        rewritten(segment, NULLS, {"nulls": pa.array([], pa.binary())})

    assert caught(no_nulls) == "L.index.rtree.nulls"


def test_damaged_files_lose_no_rows(tmp_path):
    """A file with bytes turned gives the rows or an error, or else a look at all rows says so."""
    dataset = write(column("geoarrow.box", 60), tmp_path)
    dataset.create_scalar_index("g", SMALL)
    condition = "st_intersects(g, 'POLYGON((0 0,30 0,30 30,0 30,0 0))') or g is null"
    wanted = ids(dataset, condition)
    (segment,) = segments_of(dataset)
    source = random.Random(5)
    lost = 0
    for file in segment.entry.files:
        path = Path(dataset.uri, segment.folder, file.path)
        whole = path.read_bytes()
        for cut in (0, 1, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:cut])
            with pytest.raises(LanceError):
                ids(pylanceref.dataset(dataset.uri), condition)
        for _ in range(60):
            at = source.randrange(len(whole))
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
            try:
                found = ids(pylanceref.dataset(dataset.uri), condition)
            except LanceError:
                continue
            if found != wanted:
                lost += 1
                assert lanceref.validate(dataset.uri, deep=True), at
        path.write_bytes(whole)
    assert lost


def test_boxes_that_lie_are_reported(tmp_path):
    """Leaves off the curve by a look at all, boxes that are not those of their pages at once."""
    dataset = write(column("geoarrow.box", 60), tmp_path)
    dataset.create_scalar_index("g", SMALL)
    assert not lanceref.validate(dataset.uri, deep=True)

    def found(start: int, end: int) -> list[str]:
        """Return what is wrong when some boxes are taken in the opposite order."""
        (segment,) = segments_of(dataset)
        file, take = segment.file(DATA), segment.file(DATA).take

        def turned(name, rows, type_):
            own = np.arange(file.num_rows)
            own[start:end] = own[start:end][::-1]
            return take(name, np.arange(file.num_rows), type_).take(pa.array(own[rows]))

        file.take = turned
        file.ctx = replace(file.ctx, findings=[])
        with file.ctx.piece():
            check(segment)
        return [one.clause for one in file.ctx.findings]

    assert found(0, 1) == []
    assert found(0, 4) == ["L.index.rtree.order"]
    assert found(3, 5) == ["L.index.rtree.order", "L.index.rtree.boxes"]
    assert found(60, 75) == ["L.index.rtree.boxes"]


@pytest.mark.oracle
@pytest.mark.parametrize("name", TYPES)
def test_the_oracle_finds_the_same(tmp_path, name):
    """Boxes are the same up to the order of neighbours at one place of the curve."""
    import lance
    from lance.indices import IndexConfig as Config

    made = {}
    for library in (lance, pylanceref):
        path = str(tmp_path / library.__name__)
        lance.write_dataset(column(name), path, max_rows_per_file=30)
        config = Config("rtree", SMALL.parameters) if library is lance else SMALL
        library.dataset(path).create_scalar_index("g", config)
        made[library] = path
    theirs, own = (segments_of(pylanceref.dataset(path))[0] for path in made.values())
    assert dict(theirs.file(DATA).metadata) == dict(own.file(DATA).metadata)
    assert theirs.file(NULLS).read("nulls").equals(own.file(NULLS).read("nulls"))
    first, second = leaves_of(theirs), leaves_of(own)
    assert np.array_equal(hilbert_numbers(first[0]), hilbert_numbers(second[0]))
    assert {(*box, row) for box, row in zip(first[0].tolist(), first[1].tolist(), strict=True)} == {
        (*box, row) for box, row in zip(second[0].tolist(), second[1].tolist(), strict=True)
    }
    assert not lanceref.validate(made[lance], deep=True)
    for path in made.values():
        readers = lance.dataset(path), pylanceref.dataset(path)
        asking = list(conditions())
        for condition, found in zip(asking, scanned(readers[0], asking), strict=True):
            for reader in readers:
                assert sorted(ids(reader, condition)) == sorted(found), condition


@pytest.mark.oracle
def test_where_the_oracle_exchanges_the_sides(tmp_path):
    """A literal before a column is taken for the second geometry."""
    import lance

    path = str(tmp_path / "t")
    lance.write_dataset(column("geoarrow.point"), path)
    box = "st_geomfromtext('POLYGON((0 0,9 0,9 9,0 9,0 0))')"
    inside = ids(lance.dataset(path), f"st_within(g, {box})")
    assert len(inside) > 3
    assert ids(lance.dataset(path), f"st_contains({box}, g)") == []
    assert ids(lance.dataset(path), f"st_within({box}, g)") == inside
    assert ids(pylanceref.dataset(path), f"st_contains({box}, g)") == inside
    assert ids(pylanceref.dataset(path), f"st_within({box}, g)") == []
