"""Scalar quantizer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels.distance import distances
from lanceref.kernels.scalar_quantizer import (
    Bounds,
    bounds_of,
    dot_distances,
    l2_distances,
    numbers_of,
    quantize,
    squares_of,
)


def test_bytes_by_hand():
    """Fractions are cut, what is outside gets the nearest byte."""
    vectors = np.array([[0, 10, 5, 9.99, -3, 11, float("nan")]])
    assert [[0, 255, 127, 254, 0, 255, 0]] == quantize(vectors, Bounds(0, 10)).tolist()
    assert [[0, 0]] == quantize(np.array([[1.0, 2]]), Bounds(1, 1)).tolist()


def test_distances_by_hand():
    """A step is a 255th of the width, in float32."""
    codes = np.array([[0, 1], [3, 1]], np.uint8)
    bounds = Bounds(0, 510)
    assert [4 * 4, 4 * 1] == l2_distances(
        np.array([2, 1], np.uint8), codes, squares_of(codes), bounds
    ).tolist()
    assert [1 - 10, 1 - 16] == dot_distances(np.array([1.0, 5]), codes, bounds).tolist()
    shifted = Bounds(1, 511)
    assert [1 - 16, 1 - 22] == dot_distances(np.array([1.0, 5]), codes, shifted).tolist()


@pytest.mark.parametrize("width", [8, 256, 257, 2000])
def test_sums_of_squares_are_whole(width):
    """However long vectors are."""
    codes = np.random.default_rng(0).integers(0, 256, (20, width)).astype(np.uint8)
    codes[0], codes[1] = 0, 255
    wanted = ((codes.astype(np.int64) - codes[1]) ** 2).sum(1)
    found = l2_distances(codes[1], codes, squares_of(codes), Bounds(0, 255))
    assert wanted.astype(np.float32).tolist() == found.tolist()


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50), st.integers(0, 99))
def test_numbers_are_at_most_half_a_step_away(values, more):
    """From the middle of their byte, within bounds that may be wider."""
    vectors = np.array([values], np.float32)
    bounds = bounds_of(vectors).union(Bounds(0, float(more)))
    step = (bounds.end - bounds.start) / 255
    gap = np.abs(numbers_of(quantize(vectors, bounds), bounds) - vectors)
    assert (gap <= step * 0.5001 + 1e-9).all() or gap.max() <= step


def test_distances_are_about_the_true_ones():
    """Of vectors within the bounds."""
    vectors = np.random.default_rng(0).normal(size=(200, 16)).astype(np.float32)
    bounds = bounds_of(vectors)
    codes = quantize(vectors, bounds)
    near = distances(vectors[:1], vectors, "l2")[0]
    np.testing.assert_allclose(
        near, l2_distances(codes[0], codes, squares_of(codes), bounds), atol=1.5
    )
    near = distances(vectors[:1], vectors, "dot")[0]
    np.testing.assert_allclose(near, dot_distances(vectors[0], codes, bounds), atol=0.5)
