"""Near pairs: rows of two blocks that are not farther from each other than a threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels.distance import distances
from lanceref.kernels.near_pairs import between, block, seem_near

ROWS = np.array([[0, 3], [4, 0], [0, 0], [0, -6]], np.float32)


def _mask(left, right, metric, threshold):
    found = seem_near(block(left, metric), block(right, metric), metric, np.float32(threshold))
    return found.tolist()


def test_few_seem_near():
    """Of (0, 3) the squared distance from (4, 0) is 25, from (0, 0) 9, from (0, -6) 81."""
    assert [[True, False, False, False]] == _mask(ROWS[:1], ROWS, "l2", 8.9)
    assert [[True, False, True, False]] == _mask(ROWS[:1], ROWS, "l2", 9)
    assert [[True, True, True, False]] == _mask(ROWS[:1], ROWS, "l2", 25)


def test_dot_and_cosine():
    """Of (0, 3) the products with the others are 0, 0, -18; a row of zeros may be anywhere."""
    assert [[True, False, False, False]] == _mask(ROWS[:1], ROWS, "dot", 0.5)
    assert [[True, True, True, False]] == _mask(ROWS[:1], ROWS, "dot", 1)
    assert [[True, False, True, False]] == _mask(ROWS[:1], ROWS, "cosine", 0.5)
    assert [[True, True, True, True]] == _mask(ROWS[:1], ROWS, "cosine", 2)


def test_bits():
    """Bytes that are no whole words are compared too."""
    rows = np.array([[0] * 9, [255] + [0] * 8, [0] * 8 + [3]], np.uint8)
    assert [[True, False, True]] == _mask(rows[:1], rows, "hamming", 2)
    assert [[True, True, True]] == _mask(rows[:1], rows, "hamming", 8)
    assert [8, 10] == between(rows[[0, 1]], rows[[1, 2]], "hamming").tolist()


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("l2", [25, 9, 81]), ("dot", [1, 1, 19]), ("cosine", [1, np.nan, 2])],
)
def test_distances_between_rows_of_the_same_place(metric, expected):
    """Each is computed alone; with a row of zeros there is no angle."""
    near = between(ROWS[[0, 0, 0]], ROWS[[1, 2, 3]], metric)
    np.testing.assert_allclose(near, expected, rtol=1e-7)
    assert np.float32 == near.dtype


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_equal_rows_are_nowhere_apart(dtype):
    """Also by cosine, which a product would tell only within rounding."""
    rows = np.random.default_rng(3).normal(size=(50, 24)).astype(dtype)
    assert not between(rows, rows.copy(), "l2").any()
    assert not between(rows, rows.copy(), "cosine").any()


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_what_is_too_large_may_be_near(metric):
    """Sums of squares that float32 has not say nothing: these pairs are looked at."""
    rows = np.array([[1e30, 1e30], [-1e30, 0], [np.nan, 1], [np.inf, 1]], np.float64)
    near = seem_near(block(rows, metric), block(rows, metric), metric, np.float32(0))
    assert near[2:].all() and near[:, 2:].all()
    assert near.diagonal().all() or metric == "cosine"


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["l2", "cosine", "dot"]),
    st.sampled_from(["f2", "f4", "f8"]),
    st.floats(-3, 3, width=32),
    st.floats(-4, 4),
)
def test_no_near_pair_is_missed(seed, metric, dtype, threshold, size):
    """Whatever the size of the numbers, a pair that is near seems so."""
    source = np.random.default_rng(seed)
    rows = (source.normal(size=(40, 12)) * 10**size).astype(dtype)
    rows[20:] = rows[:20] * source.choice([1, 1.0001, 2], (20, 1))
    near = seem_near(block(rows, metric), block(rows, metric), metric, np.float32(threshold))
    left, right = np.divmod(np.arange(1600), 40)
    exact = between(rows[left], rows[right], metric).reshape(40, 40)
    assert not (~near & (exact <= threshold)).any()
    scale = np.abs(rows.astype("f8")).max() ** 2 * 12 if metric != "cosine" else 2
    finite = np.isfinite(exact)
    plain = distances(rows, rows, metric)
    np.testing.assert_allclose(exact[finite], plain[finite], atol=1e-5 * max(scale, 1))
