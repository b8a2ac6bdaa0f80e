"""The nearest centroids."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.fast import kmeans
from lanceref.fast.kmeans import score_blocks
from lanceref.kernels.distance import distances
from lanceref.kernels.kmeans import assign, distances_to

DTYPES = (np.float16, np.float32, np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_worked_numbers(dtype):
    """By l2 the nearer, by dot the one further out in the direction of the vector."""
    centroids = np.array([(1, 0), (10, 1), (0, 2)], dtype)
    vectors = np.array([(2, 0), (0, 3)], dtype)
    ids = assign(vectors, centroids, "l2")
    assert ids.tolist() == [0, 2]
    assert distances_to(vectors, centroids, ids, "l2").tolist() == [1, 1]
    ids = assign(vectors, centroids, "dot")
    assert ids.tolist() == [1, 2]
    assert distances_to(vectors, centroids, ids, "dot").tolist() == [-19, -5]


def test_bits_are_compared_by_hamming():
    """Bytes go to the centroid from which fewest bits differ."""
    vectors = np.array([[7], [240]], np.uint8)
    centroids = np.array([[0], [255], [3]], np.uint8)
    ids = assign(vectors, centroids, "hamming")
    assert ids.tolist() == [2, 0]
    assert distances_to(vectors, centroids, ids, "hamming").tolist() == [1, 4]


def test_of_equally_near_the_first_is_taken():
    """Equal centroids, and those on both sides of a vector, do not share vectors."""
    centroids = np.array([[5.0], [1], [3], [1]], np.float32)
    assert assign(np.array([[2], [1], [0]], np.float32), centroids, "l2").tolist() == [1, 1, 1]


def test_far_from_zero_the_nearest_is_found():
    """Where scores are rounded to more than the distances differ, distances decide."""
    centroids = np.array([[4096 + 0.5], [4096.25], [4096]], np.float32)
    vectors = np.array([[4096.125 + 2**-10], [4096.125 - 2**-10], [4096.375]], np.float32)
    assert assign(vectors, centroids, "l2").tolist() == [1, 2, 0]


@given(
    hnp.arrays(np.float32, (40, 3), elements=st.floats(-10, 10, width=16)),
    hnp.arrays(np.float32, (7, 3), elements=st.floats(-10, 10, width=16)),
    st.sampled_from([1, 20, 2**17]),
)
def test_as_all_distances_say(vectors, centroids, block):
    """The nearest is the first of the smallest in the table of distances, in any blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kmeans, "BLOCK_SCORES", block)
        ids = assign(vectors, centroids, "l2")
    table = distances(vectors, centroids, "l2")
    assert ids.tolist() == table.argmin(axis=1).tolist()
    far = distances_to(vectors, centroids, ids, "l2")
    np.testing.assert_allclose(far, table.min(axis=1), rtol=1e-6)


@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_distances_to_given_centroids(metric):
    """The distance is that from the centroid that is named, be it near or not."""
    random = np.random.default_rng(1)
    vectors, centroids = random.normal(size=(50, 4)), random.normal(size=(5, 4))
    ids = random.integers(0, 5, 50)
    wanted = distances(vectors, centroids, metric)[np.arange(50), ids]
    np.testing.assert_allclose(distances_to(vectors, centroids, ids, metric), wanted, rtol=1e-5)


def test_blocks_of_wide_vectors_are_short():
    """However few centroids there are: a block is a copy."""
    wide = np.zeros((1025, 4096), np.float32)

    assert [1024, 1] == [len(scores) for _, scores in score_blocks(wide, wide[:1], "l2")]
