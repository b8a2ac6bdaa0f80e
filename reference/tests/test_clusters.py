"""K-means over vectors: what is near, what is refused, and as the oracle has it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pylanceref import clusters
from pylanceref.clusters import KMeans

POINTS = np.array([[0, 0], [0, 1], [9, 9], [9, 8]], np.float32)


def _lists(vectors):
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])


@pytest.mark.parametrize("metric", ["l2", "Euclidean", "dot", "cosine"])
def test_near_vectors_are_of_one_cluster(metric):
    """By arrays of either library; the centroids are those of the clusters."""
    points = POINTS + 1 if metric in ("l2", "Euclidean") else np.eye(2, dtype="f4").repeat(2, 0)
    model = KMeans(2, metric)
    assert model.centroids is None
    model.fit(points)
    found = [
        model.predict(data)
        for data in (points, _lists(points), pa.FixedShapeTensorArray.from_numpy_ndarray(points))
    ]

    assert found[0] == found[1] == found[2]
    assert pa.uint32() == found[0].type
    first, second, third, fourth = found[0].to_pylist()
    assert first == second != third == fourth
    again = KMeans(2, metric, centroids=model.centroids.storage)
    assert found[0] == again.predict(points)
    assert f"lance.KMeans(k=2, metric_type={model._metric_type})" == repr(again)


def test_a_slice_of_vectors_is_those():
    """Not the ones before it."""
    model = KMeans(4, centroids=_lists(POINTS))

    assert [1, 2, 3] == model.predict(_lists(POINTS)[1:]).to_pylist()


CASES = [
    (np.zeros((2, 2)), ValueError, "Numpy array must be float32 type, got: float64"),
    (np.zeros(2, np.float32), ValueError, "Numpy array must be a 2-D array, got 1-D"),
    (pa.array([[1.0, 2.0]], pa.list_(pa.float64(), 2)), ValueError, "got: double"),
    ([1], ValueError, "Data must be a FixedSizeListArray, Tensor or numpy array"),
    (np.zeros((2, 3), np.float32), ValueError, "kmean model 2 != data 3"),
]


@pytest.mark.parametrize(("data", "kind", "told"), CASES, ids=range(len(CASES)))
def test_other_data_is_refused(data, kind, told):
    """Of another type, shape or dimension."""
    with pytest.raises(kind, match=told):
        KMeans(4, centroids=_lists(POINTS)).predict(data)


def test_what_cannot_be_trained_or_asked_is_refused():
    """Too few vectors, none at all, tensors of tensors, another metric."""
    with pytest.raises(RuntimeError, match="must fit"):
        KMeans(2).predict(POINTS)
    with pytest.raises(RuntimeError, match=r"n\(4\) is smaller than k\(5\)"):
        KMeans(5).fit(POINTS)
    with pytest.raises(ValueError, match="must be a 1-D array, got 2-D"):
        KMeans(1).fit(pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((2, 2, 2), "f4")))
    with pytest.raises(ValueError, match="Invalid metric_type: hamming"):
        KMeans(1, "hamming")


@pytest.mark.oracle
@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_the_oracle_assigns_alike(metric):
    """Vectors to given centroids."""
    import lance.util

    vectors = np.random.default_rng(1).normal(size=(200, 8)).astype(np.float32)
    given = _lists(vectors[:5])
    models = [one.KMeans(5, metric, centroids=given) for one in (clusters, lance.util)]
    assert models[0].predict(vectors) == models[1].predict(vectors)
