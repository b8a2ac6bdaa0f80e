"""Search: partitions that are looked at, walks in graphs, and how answers are joined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.vector.searching import (
    Neighbours,
    SearchParameters,
    probes,
    ranking,
    search,
    sum_distances,
    walk,
)
from lanceref.index.vector.storage import Model
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import GraphParameters

from .indexed import opened, points, write

VALUES = points()


@pytest.fixture
def index(tmp_path):
    """Six partitions."""
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", "IVF_FLAT", ivf_centroids=VALUES[:6])
    return opened(dataset)


def every(keys):
    """All rows count."""
    return np.ones(len(keys), np.bool_), keys


def test_partitions_by_hand():
    """By the distance of the centroids, the first of those as near first."""
    model = Model("l2", np.array([[3], [1], [9], [1]], np.float32))
    assert [1, 3, 0, 2] == ranking(model, np.array([0], np.float32))[0].tolist()
    dot = Model("dot", model.centroids)
    assert [2, 0, 1, 3] == ranking(dot, np.array([1], np.float32))[0].tolist()


def test_one_partition_has_its_rows_only(index):
    """More are looked at only where it has too few."""
    query = VALUES[10:11]
    number = int(ranking(index.head.model, query[0])[0][0])
    own = set(index.keys(number).tolist())
    assert set(search(index, query, SearchParameters(5, 1, 1), every)[0].ids.tolist()) <= own
    assert 600 == len(search(index, query, SearchParameters(600, 1), every)[0].ids)
    assert len(own) == len(search(index, query, SearchParameters(600, 1, 1), every)[0].ids)


def test_all_partitions_have_the_true_neighbours(index):
    """With their distances."""
    near = ((VALUES - VALUES[10]) ** 2).sum(1)
    (found,) = search(index, VALUES[10:11], SearchParameters(20, 6, 6), every)
    np.testing.assert_allclose(np.sort(near)[:20], found.distances, rtol=1e-5, atol=1e-5)


def test_rows_that_do_not_count_are_not_found(index):
    """Others are instead, under the ids they have now."""

    def odd(keys):
        kept = keys % 2 == 1
        return kept, keys[kept] + np.uint64(10**6)

    (found,) = search(index, VALUES[10:11], SearchParameters(600, 1), odd)
    assert 300 == len(found.ids)
    assert all(key > 10**6 and key % 2 for key in found.ids.tolist())


GROWING = (1.01 ** np.arange(60)).astype(np.float32)


def first(near, asked, metric="l2", rows=10**6) -> int:
    """Return how many are searched first."""
    return probes(np.array(near, np.float32), asked, metric, rows)[0]


@pytest.mark.parametrize(
    ("k", "counts"), [(1, (19, 5, 5)), (2, (24, 6, 6)), (10, (24, 6, 6)), (11, (29, 11, 7))]
)
def test_as_many_as_are_about_as_near(k, counts):
    """Within bounds, and there are no more than there are."""
    assert counts[0] == first(GROWING, SearchParameters(k))
    assert counts[1] == first(GROWING**99, SearchParameters(k))
    assert min(counts[2], 7) == first(GROWING[:7] ** 99, SearchParameters(k))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (SearchParameters(1, 3), (19, 60)),
        (SearchParameters(1, 30), (30, 60)),
        (SearchParameters(1, None, 3), (3, 3)),
        (SearchParameters(1, 99, 99), (60, 60)),
        (SearchParameters(30, final_k=1), (19, 60)),
    ],
)
def test_what_a_caller_asks_for(asked, wanted):
    """Bounds hold; what is wanted in the end decides, not what is compared again."""
    assert wanted == probes(GROWING, asked, "l2", 10**6)


ROWS = st.lists(st.tuples(st.integers(0, 99), st.sampled_from([0.0, 1.0, 2.0, np.inf, np.nan])))


def of(rows) -> Neighbours:
    """Return neighbours by id and distance."""
    ids, near = [one for one, _ in rows], [one for _, one in rows]
    return Neighbours(np.array(ids, np.uint64), np.array(near, np.float32))


@given(ROWS, st.integers(1, 20))
def test_the_nearest_stand_first(rows, k):
    """Those as near lie by their id; what is no number is nowhere."""
    found = of(rows).within((None, None)).best(k)
    wanted = sorted((near, id_) for id_, near in rows if not np.isnan(near))[:k]
    assert wanted == list(zip(found.distances.tolist(), found.ids.tolist(), strict=True))


def test_the_ends_of_a_range():
    """The lower end is in it, the upper one is not."""
    rows = of([(1, 1), (2, 2), (3, 3)])
    assert [1, 2] == rows.within((1, 3)).ids.tolist()
    assert [2, 3] == rows.within((1.5, None)).ids.tolist()
    assert [] == rows.within((3, 1)).ids.tolist()


def test_sums_over_the_queries_of_one_row():
    """A row counts once; where it is not found it is as far as the furthest that is."""
    found = sum_distances([of([(1, 1.0), (2, 2.0), (1, 4.0)]), of([(2, 8.0), (3, 9.0)])])
    assert [(1, 10), (2, 10), (3, 13)] == list(
        zip(found.ids.tolist(), found.distances.tolist(), strict=True)
    )


CORNERS = np.random.default_rng(4).normal(size=(300, 4)).astype(np.float32)


GRAPH = build(CORNERS, "l2", GraphParameters(8, 40, 4))


KEYS = np.arange(300, dtype=np.uint64) + np.uint64(1000)


ALL = np.ones(300, np.bool_)


def score(rows):
    """Return the distances from the first vector."""
    return ((CORNERS[rows] - CORNERS[0]) ** 2).sum(1)


def walked(asked, kept=ALL):
    """Return what a walk finds."""
    return walk(GRAPH, score, asked, kept, KEYS[kept])


def test_walks_leave_out_rows_that_do_not_count():
    """Ids are those of rows that count."""
    kept = np.arange(300) % 3 == 1
    answer = walked(SearchParameters(10, ef=100), kept)
    near = [row for row in np.argsort(score(slice(None))).tolist() if kept[row]][:10]
    assert (np.array(near) + 1000).tolist() == answer.ids.tolist()
