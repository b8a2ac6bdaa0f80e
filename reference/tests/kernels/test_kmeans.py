"""K-means."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.kernels import kmeans
from lanceref.kernels.kmeans import assign, distances_to, divide, train

SEED = 7


def clusters(num, size, dim, dtype=np.float32):
    """Return vectors around `num` points far apart, and the points."""
    random = np.random.default_rng(SEED)
    points = random.normal(size=(num, dim)) * 30
    noise = random.normal(size=(num, size, dim))
    return (points[:, None] + noise).reshape(-1, dim).astype(dtype), points.astype(dtype)


def lost(vectors, centroids):
    """Return the sum of distances to the nearest centroids."""
    return distances_to(vectors, centroids, assign(vectors, centroids, "l2"), "l2").sum()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_two_clusters_on_a_line(dtype):
    """Of 0, 1, 10, 11 the centroids are 0.5 and 10.5, in the type of the vectors."""
    vectors = np.array([[0], [1], [10], [11]], dtype)
    found = train(vectors, 2, "l2", np.random.default_rng(SEED))
    assert found.dtype == dtype
    assert sorted(found.ravel().tolist()) == [0.5, 10.5]


def test_every_vector_may_be_a_centroid():
    """As many centroids as vectors are the vectors themselves."""
    vectors = np.arange(6, dtype=np.float32).reshape(6, 1) * 4
    found = train(vectors, 6, "l2", np.random.default_rng(SEED))
    assert sorted(found.ravel().tolist()) == vectors.ravel().tolist()


def test_an_empty_cluster_gets_half_of_the_largest():
    """With equal vectors, one cluster has all; the others are moved apart from it by a little."""
    found = train(np.ones((8, 2), np.float32), 3, "l2", np.random.default_rng(SEED), rounds=1)
    step = 1 / 1024
    assert found[1].tolist() == [1 + step, 1 - step]
    np.testing.assert_allclose(found[0], [(1 - step) ** 2, (1 + step) ** 2], atol=1e-6)
    np.testing.assert_allclose(found[2], [(1 - step) * (1 + step)] * 2, atol=1e-6)


def test_of_dot_centroids_have_length_one():
    """They point to where their vectors are."""
    vectors = np.array([(2, 0), (4, 0), (0, 3), (0, 5)], np.float32)
    found = train(vectors, 2, "dot", np.random.default_rng(1))
    assert sorted(found.tolist()) == [[0, 1], [1, 0]]


def test_of_hamming_a_centroid_has_the_bits_of_most():
    """A bit is set when more than half of the vectors have it."""
    vectors = np.array([[0b111], [0b110], [0b100], [0b000]], np.uint8)
    found = train(vectors, 1, "hamming", np.random.default_rng(SEED))
    assert found.tolist() == [[0b100]]


def test_rounds_reduce_the_distances():
    """After more rounds, vectors are not further from their centroids."""
    vectors, _ = clusters(20, 50, 8)
    sums = [
        lost(vectors, train(vectors, 20, "l2", np.random.default_rng(3), rounds))
        for rounds in (1, 3, 50)
    ]
    assert sums[0] > sums[1] >= sums[2]


def test_more_centroids_than_are_trained_at_once(monkeypatch):
    """Parts of the vectors get their share; every cluster that is there gets one."""
    monkeypatch.setattr(kmeans, "MOST_AT_ONCE", 16)
    vectors, points = clusters(40, 30, 8)
    found = train(vectors, 40, "l2", np.random.default_rng(SEED))
    assert found.shape == (40, 8)
    assert lost(vectors, found) < lost(vectors, points[:20])


def test_many_vectors_are_sampled(monkeypatch):
    """Not more vectors are looked at than belong to the number of centroids."""
    monkeypatch.setattr(kmeans, "ROWS_PER_CENTROID", 1)
    vectors = np.arange(100, dtype=np.float32).reshape(100, 1)
    found = train(vectors, 4, "l2", np.random.default_rng(SEED))
    assert set(found.ravel().tolist()) <= set(vectors.ravel().tolist())


def test_shares_are_in_proportion():
    """10 of 6, 3 and 1 are 6, 3 and 1; 5 are 3, 1.5 and 0.5, where the earlier half wins."""
    assert divide(10, np.array([6, 3, 1])).tolist() == [6, 3, 1]
    assert divide(5, np.array([6, 3, 1])).tolist() == [3, 2, 0]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=16), st.floats(0, 1))
def test_shares_add_up(sizes, share):
    """All centroids are given away, none to a part that has too few vectors."""
    k = round(share * sum(sizes))
    if k:
        shares = divide(k, np.array(sizes))
        assert shares.sum() == k
        assert (shares <= sizes).all() and (shares >= 0).all()


@pytest.mark.parametrize("metric", ["l2", "dot", "hamming"])
def test_parts_together_say_what_the_whole_says(metric):
    """Rounds over three parts give the centroids of rounds over all vectors, but for rounding."""
    random = np.random.default_rng(3)
    vectors = random.standard_normal((300, 8)).astype(np.float32)
    if metric == "hamming":
        vectors = random.integers(0, 256, (300, 8), np.uint8)
    first = kmeans.initial_centroids(vectors, 5, metric, random)
    lengths = kmeans.squared_lengths(vectors, metric)

    def rounds(parts):
        return kmeans.lloyd(
            lambda given: [kmeans.partial_sums(part, given, metric) for part in parts],
            first,
            metric,
            lengths,
            4,
        )

    together, apart = rounds([vectors]), rounds(np.split(vectors, [50, 120]))
    np.testing.assert_allclose(together.astype(float), apart.astype(float), atol=1e-5)
