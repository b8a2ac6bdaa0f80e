"""Distances between vectors."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.kernels import distance
from lanceref.kernels.distance import distances, distances_from, estimates, normalized, squares_of

FLOATS = (np.float16, np.float32, np.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("metric", "wanted"),
    [("l2", [0, 25, 50]), ("dot", [-24, 1, 26]), ("cosine", [0, 1, 2])],
)
def test_worked_numbers(metric, wanted, dtype):
    """Of (3, 4) from itself, from zero or a right angle, and from its opposite."""
    other = (0, 0) if metric != "cosine" else (4, -3)
    if metric == "l2":
        rows = np.array([(3, 4), other, (-2, -1)], dtype)
    else:
        rows = np.array([(3, 4), other, (-3, -4)], dtype)
    found = distances(np.array([(3, 4)], dtype), rows, metric)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [wanted], atol=1e-6)


def test_hamming_counts_bits():
    """Bits that differ are counted over all bytes."""
    rows = np.array([[0, 0], [255, 1], [3, 7]], np.uint8)
    found = distances(np.array([[0, 0], [255, 255]], np.uint8), rows, "hamming")
    assert found.tolist() == [[0, 9, 5], [16, 7, 11]]


def test_near_vectors_keep_their_digits():
    """The distance of vectors far from zero and near each other is right to seven digits."""
    rows = np.full((1, 4), 1000, np.float32) + np.float32(2**-8)
    found = distances(np.full((1, 4), 1000, np.float32), rows, "l2")
    assert found[0, 0] == 4 * 2.0**-16


def test_float64_is_computed_wide():
    """Of float64, differences below what float32 tells apart are seen."""
    rows = np.array([[1e9 + 0.5]], np.float64)
    assert distances(np.array([[1e9]]), rows, "l2")[0, 0] == 0.25


def test_vectors_of_zeros_have_no_cosine():
    """No number is returned for the cosine with zero; nor has zero a direction."""
    zero, one = np.zeros((1, 2), np.float32), np.ones((1, 2), np.float32)
    assert np.isnan(distances(one, zero, "cosine")).all()
    assert np.isnan(normalized(zero)).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_normalized_vectors_have_length_one(dtype):
    """(3, 4) becomes (0.6, 0.8) in its own type, also where its squares are beyond that."""
    found = normalized(np.array([(3, 4), (300, 400)], dtype))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array([(0.6, 0.8)] * 2, dtype))


@given(
    hnp.arrays(np.float32, (3, 5), elements=st.floats(-100, 100, width=32)),
    hnp.arrays(np.float32, (11, 5), elements=st.floats(-100, 100, width=32)),
    st.sampled_from(["l2", "dot"]),
    st.integers(1, 30),
)
def test_blocks_make_no_difference(queries, rows, metric, values):
    """Whatever is looked at together, the distances are those of float64."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance, "BLOCK_VALUES", values)
        found = distances(queries, rows, metric)
    wide = distances(queries.astype(np.float64), rows.astype(np.float64), metric)
    np.testing.assert_allclose(found, wide, rtol=1e-5, atol=0.05)


@pytest.mark.parametrize("metric", distance.METRICS)
def test_no_rows_no_distances(metric):
    """Without queries or vectors the table is empty."""
    none, some = np.zeros((0, 8), np.uint8), np.ones((2, 8), np.uint8)
    assert distances(none, some, metric).shape == (0, 2)
    assert distances(some, none, metric).shape == (2, 0)


@given(
    hnp.arrays(np.float32, 5, elements=st.floats(-100, 100, width=32)),
    hnp.arrays(np.float32, (11, 5), elements=st.floats(-100, 100, width=32)),
    st.sampled_from(distance.METRICS),
    st.sampled_from(FLOATS),
)
def test_one_query_and_few_vectors(query, rows, metric, dtype):
    """They are as far as any; estimates are off by no more than they say."""
    of_rows = np.uint8 if metric == "hamming" else dtype
    query, rows = np.abs(query).astype(of_rows), np.abs(rows).astype(of_rows)
    wanted = distances(query[None], rows, metric)[0]
    found = distances_from(query, rows, metric)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=0.05)
    if metric == "l2":
        np.testing.assert_array_equal(found, wanted)
        near, error = estimates(query, rows, squares_of(rows))
        true = ((rows.astype(np.float64) - query.astype(np.float64)) ** 2).sum(1)
        assert (np.abs(near - true) <= error).all()
        assert (np.abs(near - found) <= error).all()
        assert error <= 1e-4 * (squares_of(rows).max() + (query.astype(np.float64) ** 2).sum() + 1)


def test_estimates_of_what_is_too_large_say_nothing():
    """Where a square is beyond the numbers, the error is too."""
    rows = np.array([[1e30, 0], [0, 1]], np.float32)
    _, error = estimates(rows[1], rows, squares_of(rows))
    assert not np.isfinite(error)
