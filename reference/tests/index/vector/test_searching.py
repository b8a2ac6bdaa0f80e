"""Search in a vector index."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.index.vector.searching import SearchParameters, ranking, search
from lanceref.index.vector.storage import Model

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


@pytest.mark.parametrize("type_", ["IVF_HNSW_FLAT", "IVF_HNSW_SQ", "IVF_HNSW_PQ"])
def test_where_there_is_a_graph_it_is_walked(type_, tmp_path):
    """Whatever its vectors are kept as: fewer than are wanted may not be kept on the way."""
    dataset = write(VALUES, tmp_path)
    more = {"num_sub_vectors": 4} if type_.endswith("PQ") else {}
    dataset.create_index("v", type_, num_partitions=1, **more)

    def few(keys):
        return keys < 3, keys[keys < 3]

    for alive in (every, few):  # few are held against the query one by one
        with pytest.raises(QueryRefused, match="ef must be"):
            search(opened(dataset), VALUES[:1], SearchParameters(20, ef=10), alive)
    assert 3 == len(search(opened(dataset), VALUES[:1], SearchParameters(20), few)[0].ids)
