"""Graph search: rows that count, and how many a walk keeps."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.index.vector import searching
from lanceref.index.vector.searching import SearchParameters, walk, worth_walking
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import GraphParameters

VALUES = np.random.default_rng(4).normal(size=(300, 4)).astype(np.float32)
GRAPH = build(VALUES, "l2", GraphParameters(8, 40, 4))
KEYS = np.arange(300, dtype=np.uint64) + np.uint64(1000)
ALL = np.ones(300, np.bool_)


def score(rows):
    """Return the distances from the first vector."""
    return ((VALUES[rows] - VALUES[0]) ** 2).sum(1)


def found(asked, kept=ALL):
    """Return what a walk finds."""
    return walk(GRAPH, score, asked, kept, KEYS[kept])


@pytest.mark.parametrize(("count", "worth"), [(0, False), (9, False), (10, True), (100, True)])
def test_one_row_in_ten(count, worth):
    """Fewer are compared one by one."""
    assert worth == worth_walking(np.arange(100) < count)


def test_a_walk_finds_the_nearest():
    """With their ids and distances, the nearest first."""
    near = np.argsort(score(slice(None)))[:5]
    answer = found(SearchParameters(5, ef=60))
    assert (near + 1000).tolist() == answer.ids.tolist()
    assert score(near).tolist() == answer.distances.tolist()


def test_rows_that_do_not_count_are_not_found():
    """Ids are those of rows that count."""
    kept = np.arange(300) % 3 == 1
    answer = found(SearchParameters(10, ef=100), kept)
    near = [row for row in np.argsort(score(slice(None))).tolist() if kept[row]][:10]
    assert (np.array(near) + 1000).tolist() == answer.ids.tolist()


def test_a_range_holds_its_lower_end():
    """Rows outside are walked over."""
    near = np.sort(score(slice(None)))
    answer = found(SearchParameters(10, ef=300, range=(float(near[3]), float(near[7]))))
    assert near[3:7].tolist() == answer.distances.tolist()


def test_fewer_kept_than_wanted_is_refused():
    """And half as many again are kept when nothing is said."""
    with pytest.raises(QueryRefused, match="ef must be greater than or equal to k"):
        found(SearchParameters(10, ef=9))
    assert 10 == len(found(SearchParameters(10, ef=10)).ids)


def test_large_partitions_are_asked_row_by_row(monkeypatch):
    """The answer is the same, for a few distances only."""
    asked = []

    def counted(rows):
        near = score(rows)
        asked.append(len(near))
        return near

    whole = found(SearchParameters(3))
    monkeypatch.setattr(searching, "WHOLE_ROWS", 0)
    part = walk(GRAPH, counted, SearchParameters(3), ALL, KEYS)
    assert whole.ids.tolist() == part.ids.tolist()
    assert sum(asked) < 300
