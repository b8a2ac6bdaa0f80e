"""K-means: the nearest centroids, and how centroids are trained."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.fast import indices as fast_kmeans
from lanceref.kernels import kmeans
from lanceref.kernels.distance import distances
from lanceref.kernels.kmeans import assign, distances_to, divide, train

DTYPES = (np.float16, np.float32, np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_worked_assignments(dtype):
    """By l2 the nearer, by dot the one further out in the direction of the vector."""
    centroids = np.array([(1, 0), (10, 1), (0, 2)], dtype)
    vectors = np.array([(2, 0), (0, 3)], dtype)
    ids = assign(vectors, centroids, "l2")
    assert ids.tolist() == [0, 2]
    assert distances_to(vectors, centroids, ids, "l2").tolist() == [1, 1]
    ids = assign(vectors, centroids, "dot")
    assert ids.tolist() == [1, 2]
    assert distances_to(vectors, centroids, ids, "dot").tolist() == [-19, -5]


@pytest.mark.parametrize(
    ("centroids", "vectors", "ids"),
    [
        ([5, 1, 3, 1], [2, 1, 0], [1, 1, 1]),
        ([4096.5, 4096.25, 4096], [4096.125 + 2**-10, 4096.125 - 2**-10, 4096.375], [1, 2, 0]),
    ],
    ids=["equally near", "far from zero"],
)
def test_the_first_of_the_nearest_is_taken(centroids, vectors, ids):
    """Also where scores are rounded to more than the distances differ."""
    rows = (np.array(one, np.float32)[:, None] for one in (vectors, centroids))
    assert assign(*rows, "l2").tolist() == ids


@given(
    hnp.arrays(np.float32, (40, 3), elements=st.floats(-10, 10, width=16)),
    hnp.arrays(np.float32, (7, 3), elements=st.floats(-10, 10, width=16)),
    st.sampled_from([1, 20, 2**17]),
)
def test_as_all_distances_say(vectors, centroids, block):
    """The nearest is the first of the smallest in the table of distances, in any blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_kmeans, "BLOCK_SCORES", block)
        ids = assign(vectors, centroids, "l2")
    table = distances(vectors, centroids, "l2")
    assert ids.tolist() == table.argmin(axis=1).tolist()
    far = distances_to(vectors, centroids, ids, "l2")
    np.testing.assert_allclose(far, table.min(axis=1), rtol=1e-6)


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


def test_an_empty_cluster_gets_half_of_the_largest():
    """With equal vectors, one cluster has all; the others are moved apart from it by a little."""
    found = train(np.ones((8, 2), np.float32), 3, "l2", np.random.default_rng(SEED), rounds=1)
    step = 1 / 1024
    assert found[1].tolist() == [1 + step, 1 - step]
    np.testing.assert_allclose(found[0], [(1 - step) ** 2, (1 + step) ** 2], atol=1e-6)
    np.testing.assert_allclose(found[2], [(1 - step) * (1 + step)] * 2, atol=1e-6)


@pytest.mark.parametrize(
    ("vectors", "metric", "wanted"),
    [
        (np.float32([(2, 0), (4, 0), (0, 3), (0, 5)]), "dot", [[0, 1], [1, 0]]),
        (np.array([[0b111], [0b110], [0b100], [0b000]], np.uint8), "hamming", [[0b100]]),
    ],
    ids=["dot", "hamming"],
)
def test_centroids_of_other_metrics(vectors, metric, wanted):
    """Of dot they have length one; of hamming the bits of more than half of the vectors."""
    found = train(vectors, len(wanted), metric, np.random.default_rng(1))
    assert sorted(found.tolist()) == wanted


def test_more_centroids_than_are_trained_at_once(monkeypatch):
    """Parts of the vectors get their share; every cluster that is there gets one."""
    monkeypatch.setattr(kmeans, "MOST_AT_ONCE", 16)
    vectors, points = clusters(40, 30, 8)
    found = train(vectors, 40, "l2", np.random.default_rng(SEED))
    assert found.shape == (40, 8)
    assert lost(vectors, found) < lost(vectors, points[:20])


@pytest.mark.parametrize(("rows", "samples"), [(255, [255]), (256, [128, 256])])
def test_many_vectors_are_trained_on_few_of_them_first(monkeypatch, rows, samples):
    """From twice 32 for each centroid on; each round sees whole samples."""
    true, seen = kmeans.partial_sums, set()

    def partial_sums(vectors, *more):
        seen.add(len(vectors))
        return true(vectors, *more)

    monkeypatch.setattr(kmeans, "partial_sums", partial_sums)
    train(clusters(4, 64, 2)[0][:rows], 4, "l2", np.random.default_rng(SEED))
    assert samples == sorted(seen)


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
