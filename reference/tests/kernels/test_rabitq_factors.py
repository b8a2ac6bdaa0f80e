"""Factors of RabitQ."""

import numpy as np
import pytest
from lanceref.kernels.rabitq_estimate import error_factors, factors, residual_factors

Z = np.array([[1, -3]], np.float32)
W = np.array([[0.5, -0.5]], np.float32)
G = np.array([[2, 1]], np.float32)
N2 = np.array([10], np.float32)


@pytest.mark.parametrize(
    ("metric", "add", "scale"), [("l2", 10 + 20 * 0.5 / 2, -10), ("dot", 1 + 1 + 10 * 0.25, -5)]
)
def test_worked_factors(metric, add, scale):
    """Of z = (1, -3) and g = (2, 1): a = 2, h = 1/2, z.g = -1."""
    found = factors(Z, W, G, N2, metric)
    assert (found.add.tolist(), found.scale.tolist()) == ([add], [scale])


def test_worked_errors():
    """n2 d / 4 / a ** 2 = 10 * 2 / 4 / 4 = 1.25 is 0.25 more than 1, over d - 1 = 1."""
    wanted = np.sqrt(10) * 1.9 * 0.5
    np.testing.assert_allclose(error_factors(Z, W, N2, "dot"), [wanted], rtol=1e-6)
    np.testing.assert_allclose(error_factors(Z, W, N2, "l2"), [2 * wanted], rtol=1e-6)


def test_worked_factors_of_older_indices():
    """ip = 4 / sqrt(2): the sum of sizes over the root of the dimension."""
    found = residual_factors(Z, W, G, N2, "l2")
    assert found.add.tolist() == [10]
    np.testing.assert_allclose(found.scale, [-20 / (4 / np.sqrt(2))], rtol=1e-6)
    found = residual_factors(Z, W, G, N2, "dot")
    assert found.add.tolist() == [2]
    np.testing.assert_allclose(found.scale, [-10 / (4 / np.sqrt(2))], rtol=1e-6)


@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_a_vector_at_its_centroid(metric):
    """Without a residual nothing is divided by 0: the distance is that of the centroid."""
    zero, none = np.zeros((1, 2), np.float32), np.zeros(1, np.float32)
    found = factors(zero, W, G, none, metric)
    assert found.scale.tolist() == [0]
    assert found.add.tolist() == [0 if metric == "l2" else 1]
    assert error_factors(zero, W, none, metric).tolist() == [0]
