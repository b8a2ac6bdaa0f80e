"""SQ storage."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.index.vector.sq_storage import SQ, Sq, SqRows
from lanceref.index.vector.storage import Model, compact, parse_object
from lanceref.kernels.distance import distances
from lanceref.kernels.scalar_quantizer import Bounds, quantize, squares_of

from .indexed import near, opened, points, table, write

PLACE = Context("f").at(0, 0)
VALUES = points()


def quantizer(metric="l2", bounds=(-12.0, 12.0)) -> Sq:
    """Return a quantizer of vectors of 8 numbers."""
    return Sq(Model(metric, np.zeros((1, 8), np.float32)), Bounds(*bounds))


def test_metadata():
    """What is written is read."""
    text = compact(quantizer().metadata())
    assert '{"dim":8,"num_bits":8,"bounds":{"start":-12.0,"end":12.0}}' == text
    found = SQ.parse(parse_object(text, PLACE, "x"), None, quantizer().model, PLACE)
    assert Bounds(-12, 12) == found.bounds


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        ({"dim": 7}, "dimension"),
        ({"num_bits": 4}, "bits"),
        ({"num_bits": None}, "bits"),
        ({"bounds": None}, "bounds"),
        ({"bounds": {"start": 1}}, "bounds"),
        ({"bounds": {"start": 2, "end": 1}}, "bounds"),
        ({"bounds": {"start": float("nan"), "end": 1}}, "bounds"),
        ({"bounds": {"start": -(10**400), "end": 1}}, "bounds"),
        ({"bounds": {"start": 0, "end": float("inf")}}, "bounds"),
        ({"bounds": {"start": "0", "end": True}}, "bounds"),
    ],
)
def test_wrong_metadata(change, clause):
    """Each fault breaks its clause."""
    given = {**quantizer().metadata(), **change}
    with pytest.raises(FormatError, match=rf"L\.index\.vector\.sq\.{clause}"):
        SQ.parse(given, None, quantizer().model, PLACE)


@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_distances_between_rows(metric):
    """Points are as far from each other as rows are."""
    sq = quantizer(metric)
    stored = sq.open_rows(sq.encode(VALUES, np.zeros(600, np.int64)), 0)
    between = distances(stored.points()[:1], stored.points(), metric)[0]
    query = stored.points()[0] if metric == "dot" else VALUES[0]
    near = stored.score(query, "normal")
    np.testing.assert_allclose(between, near(slice(None)), rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(near(slice(None))[5:7], near(np.array([5, 6])))


def test_what_bytes_stand_for():
    """The first of 255 steps is the lower bound, the last the upper one."""
    sq = quantizer(bounds=(-1, 50))
    vectors = np.array([[-9, -1, -0.79, -0.7, 0, 49.9, 50, 99]], np.float32)
    stored = sq.open_rows(sq.encode(vectors, np.zeros(1, np.int64)), 0)
    expected = [[-1, -1, -0.8, -0.8, 0, 49.8, 50, 50]]
    np.testing.assert_allclose(stored.points() - 1, expected, atol=1e-5)


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_what_is_built_is_found(tmp_path, dtype, metric):
    """Nine of ten neighbours at least, and all when they are looked at again."""
    dataset = write(points(dtype=dtype), tmp_path)
    dataset.create_index("v", "IVF_SQ", num_partitions=3, metric=metric)
    for q in points(dtype=dtype)[:5]:
        wanted, _ = near(dataset, q, k=20, use_index=False, metric=metric)
        found, _ = near(dataset, q, k=20, nprobes=3)
        assert 17 <= len({*found} & {*wanted})
        again, _ = near(dataset, q, k=20, nprobes=3, refine_factor=4)
        assert {*wanted} == {*again}


@pytest.fixture
def scaled(tmp_path):
    """Two segments, the vectors of one much longer than those of the other."""
    values = points(500)
    values[250:] *= 8
    dataset = write(values, tmp_path)
    parts = [
        dataset.create_index_uncommitted(
            "v", "IVF_SQ", fragment_ids=[number], ivf_centroids=values[::250]
        )
        for number in range(2)
    ]
    return dataset, values, parts


def test_segments_of_other_bounds_are_merged(scaled):
    """Bytes become those by the bounds of all."""
    dataset, values, parts = scaled
    merged = dataset.merge_existing_index_segments(parts)
    dataset.commit_existing_index_segments("v_idx", "v", [merged])
    bounds = opened(dataset).auxiliary.quantizer.bounds
    assert (bounds.start, bounds.end) == (float(values.min()), float(values.max()))
    for q in values[250:255]:
        wanted, _ = near(dataset, q, k=10, use_index=False)
        found, _ = near(dataset, q, k=10, nprobes=2)
        assert 8 <= len({*found} & {*wanted})


@pytest.mark.parametrize("dimension", [1, 7, 64, 300])
@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_the_nearest_are_found_by_half_of_the_bytes(metric, dimension):
    """With the same distances to the last bit, of kept rows only, however few they are."""
    random = np.random.default_rng(dimension)
    values = random.normal(size=(3000, dimension)).astype(np.float32)
    bounds = Bounds(-4.0, 4.0)
    codes = quantize(values, bounds)
    stored = SqRows(codes, squares_of(codes), Model(metric, values[:1]), bounds)
    near = stored.score(values[9], "normal")(slice(None))
    for share in (1.0, 0.5, 0.001):
        kept = random.random(len(values)) < share
        for k in (0, 1, 20):
            rows, found = stored.nearest(values[9], "normal", kept, k)
            assert (np.diff(rows) > 0).all()
            assert kept[rows].all()
            np.testing.assert_array_equal(found, near[rows])
            np.testing.assert_array_equal(np.sort(found)[:k], np.sort(near[kept])[:k])
    if (metric, dimension) == ("l2", 7):
        assert len(stored.nearest(values[9], "normal", near >= 0, 1)[0]) < 1500


@pytest.mark.parametrize("wanted", [5, 12, 20, 40])
def test_few_rows_that_are_kept_are_all_found(wanted):
    """Of 1000 rows 20 count: as many as are wanted are found, the nearest of them."""
    values = np.random.default_rng(6).normal(size=(1000, 16)).astype("f4")
    quantizer = Sq(Model("l2", values[:1]), Bounds(-4.0, 4.0))
    stored = quantizer.open_rows(quantizer.encode(values, np.zeros(1000, np.int64)), 0)
    kept = np.arange(1000) % 50 == 3
    every = stored.score(values[0], "normal")(slice(None))[kept]
    rows, near = stored.nearest(values[0], "normal", kept, wanted)

    assert kept[rows].all()
    assert np.sort(every)[:wanted].tolist() == np.sort(near)[:wanted].tolist()


@pytest.mark.oracle
def test_the_oracle_merges_bytes_of_other_bounds(scaled):
    """It keeps the bounds of the first segment: rows of the second are not found."""
    import lance

    dataset, values, _ = scaled
    theirs = lance.dataset(dataset.uri)
    parts = [
        theirs.create_index_uncommitted(
            "v", "IVF_SQ", fragment_ids=[number], ivf_centroids=values[::250]
        )
        for number in range(2)
    ]
    merged = theirs.merge_existing_index_segments(parts)
    theirs = theirs.commit_existing_index_segments("v_idx", "v", [merged])
    asked = {"column": "v", "q": values[250], "k": 10}
    wanted = theirs.to_table(nearest={**asked, "use_index": False})["i"].to_pylist()
    found = theirs.to_table(nearest={**asked, "nprobes": 2})["i"].to_pylist()
    assert len({*found} & {*wanted}) < 5


@pytest.mark.oracle
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_bytes_are_those_of_the_oracle(tmp_path, dtype, metric):
    """With the same centroids every byte, every bound and every distance is the same."""
    import lance

    values = points(dtype=dtype)
    ours = write(values, tmp_path)
    ours.create_index("v", "IVF_SQ", ivf_centroids=values[:4], metric=metric)
    theirs = lance.write_dataset(table(values), tmp_path / "o", max_rows_per_file=250)
    theirs.create_index("v", "IVF_SQ", ivf_centroids=values[:4], metric=metric)
    import pylanceref

    held, wanted = opened(ours), opened(pylanceref.dataset(tmp_path / "o"))
    assert wanted.auxiliary.quantizer.bounds == held.auxiliary.quantizer.bounds
    for number in range(4):
        assert wanted.keys(number).tolist() == held.keys(number).tolist()
        codes = [one.rows(number)["__sq_code"].astype(int) for one in (wanted, held)]
        apart = np.abs(codes[0] - codes[1])
        assert apart.max(initial=0) <= (1 if metric == "cosine" else 0)
        assert apart.sum() <= apart.size * 1e-3
    asked = {"column": "v", "q": values[7], "k": 30, "nprobes": 2}
    one, other = (data.to_table(nearest=asked) for data in (lance.dataset(ours.uri), ours))
    np.testing.assert_allclose(one["_distance"], other["_distance"], rtol=1e-5, atol=1e-4)
