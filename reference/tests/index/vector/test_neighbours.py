"""Neighbours."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.vector.searching import NO_NEIGHBOURS, Neighbours, concat, sum_distances

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


@given(ROWS, ROWS, st.integers(1, 20))
def test_the_best_of_parts_are_the_best(some, others, k):
    """It makes no difference whether parts are cut before."""
    one, other = of(some).within((None, None)), of(others).within((None, None))
    both, cut = concat([one, other]).best(k), concat([one.best(k), other.best(k)]).best(k)
    assert both.ids.tolist() == cut.ids.tolist()


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


def test_every_row_is_1_from_a_vector_that_nothing_is_near():
    """It is 0 long, or has no direction."""
    found = sum_distances([of([(4, 0.5), (7, 2.0)]), NO_NEIGHBOURS])
    assert [1.5, 3.0] == found.distances.tolist()
