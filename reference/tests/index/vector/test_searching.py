"""Search: partitions that are looked at, walks in graphs, and how answers are joined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.vector.searching import (
    Neighbours,
    SearchParameters,
    probes,
    ranking,
    sum_distances,
)
from lanceref.index.vector.storage import Model


def test_partitions_by_hand():
    """By the distance of the centroids, the first of those as near first."""
    model = Model("l2", np.array([[3], [1], [9], [1]], np.float32))
    assert [1, 3, 0, 2] == ranking(model, np.array([0], np.float32))[0].tolist()
    dot = Model("dot", model.centroids)
    assert [2, 0, 1, 3] == ranking(dot, np.array([1], np.float32))[0].tolist()


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
