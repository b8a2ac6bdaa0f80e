"""Hilbert order of boxes."""

from __future__ import annotations

import numpy as np
from lanceref.index.scalar.rtree import curve_numbers, hilbert_numbers


def test_the_curve_of_two_by_two():
    """It opens to the right: up, to the right, down."""
    x, y = (np.array(one, np.uint32) << 15 for one in ([0, 0, 1, 1], [0, 1, 1, 0]))
    assert (curve_numbers(x, y) >> 30).tolist() == [0, 1, 2, 3]


def test_neighbours_on_the_curve_are_neighbours():
    """Each step leads to a point beside the last."""
    x, y = (one.ravel().astype(np.uint32) for one in np.meshgrid(range(32), range(32)))
    order = np.argsort(curve_numbers(x, y))
    steps = abs(np.diff(x[order].astype(int))) + abs(np.diff(y[order].astype(int)))
    assert (steps == 1).all()


def test_centres_are_cut_down_to_the_grid():
    """The last lies on the highest line."""
    boxes = np.array([[0, 0, 0, 0], [2, 0, 2, 0], [0.99, 0, 1, 0]], np.float64)
    x = np.array([0, 65535, int(0.995 / 2 * 65535)], np.uint32)
    assert np.array_equal(hilbert_numbers(boxes), curve_numbers(x, np.zeros(3, np.uint32)))


def test_an_axis_without_width():
    """And one without an end: all lie at its beginning."""
    same = np.array([[1, 5, 1, 5]] * 3, np.float64)
    assert hilbert_numbers(same).tolist() == [0, 0, 0]
    endless = np.array([[1, 1, 1, 1], [np.inf, 1, np.inf, 1]])
    assert hilbert_numbers(endless).tolist() == [0, 0]
    assert hilbert_numbers(np.empty((0, 4))).tolist() == []
