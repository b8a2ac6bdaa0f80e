"""Estimated distances of RabitQ."""

import numpy as np
import pytest
from lanceref.kernels.distance import distances
from lanceref.kernels.rabitq_codes import extended_codes, halves, sign_columns, signs_in
from lanceref.kernels.rabitq_estimate import (
    FINE_STEPS,
    by_codes,
    by_residual,
    by_signs,
    error_factors,
    factors,
    query_terms,
    residual_factors,
    sign_sums,
    sign_table,
)

DIM = 64


def partition(num_rows, seed=0):
    """Return a centroid, rows around it and a query, all taken for rotated."""
    random = np.random.default_rng(seed)
    center = random.normal(size=DIM)
    rows = center + random.normal(size=(num_rows, DIM))
    return (one.astype(np.float32) for one in (center, rows, random.normal(size=DIM)))


def estimate(center, rows, query, metric, num_bits):
    """Return the estimated distances, by signs or with codes of `num_bits` bits, and the errors."""
    z = rows - center
    squares = np.einsum("ij,ij->i", z, z)
    columns = sign_columns(z)
    centers = np.broadcast_to(center, z.shape)
    far = distances(query[None], center[None], "l2")[0, 0]
    asked = query_terms(query, center, far, metric)
    sums = sign_sums(query, sign_table(columns), FINE_STEPS)
    codes = extended_codes(z, num_bits) if num_bits else np.zeros(z.shape, np.uint8)
    w = halves(signs_in(columns), codes, num_bits)
    found = factors(z, w, centers, squares, metric)
    bound = error_factors(z, w, squares, metric) * asked.error
    if num_bits:
        return by_codes(asked, sums, codes, num_bits, found), bound
    return by_signs(asked, sums, found), bound


def test_worked_sums():
    """Signs choose components: of 1 .. 8 the bits 0b10000001 choose 1 and 8."""
    columns = np.array([[0b10000001, 0, 255]], np.uint8)
    assert sign_sums(np.arange(1, 9, dtype=np.float32), sign_table(columns)).tolist() == [9, 0, 36]


def test_sums_of_full_blocks_are_rounded():
    """Between -1 and 2.5, 255 steps: 32 rows have sums of whole steps, the 33rd has its own."""
    rotated = np.array([1, 1.5, -1, 0, 0, 0, 0, 0], np.float32)
    sums = sign_sums(rotated, sign_table(np.full((1, 33), 1, np.uint8)))
    size = 3.5 / 255
    # 1 is 2 / size = 145.7 steps up, and of the other half 0 is 1 / size = 72.9
    np.testing.assert_allclose(sums[:32], (146 + 73) * size - 2, rtol=1e-5)
    assert sums[32] == 1
    fine = sign_sums(rotated, sign_table(np.full((1, 33), 1, np.uint8)), FINE_STEPS)
    np.testing.assert_allclose(fine, 1, atol=1e-4)


def test_a_query_of_zeros_has_exact_sums():
    """Where all sums are equal there are no steps between them."""
    sums = sign_sums(np.zeros(8, np.float32), sign_table(np.full((1, 40), 7, np.uint8)))
    assert not sums.any()


@pytest.mark.parametrize("metric", ["l2", "dot"])
@pytest.mark.parametrize("num_bits", [0, 1, 2, 3, 4, 5, 6, 7, 8])
def test_estimates_come_near(metric, num_bits):
    """Estimates are not off on the whole, and by half as much with each bit, about."""
    center, rows, query = partition(300)
    found, bound = estimate(center, rows, query, metric, num_bits)
    off = found - distances(query[None], rows, metric)[0]
    allowed = 20 if metric == "l2" else 8
    assert np.sqrt(np.mean(off**2)) < allowed / 1.8**num_bits
    assert abs(off.mean()) < allowed / 1.8**num_bits / 4
    if num_bits == 0:
        assert (np.abs(off) <= bound).mean() > 0.9


@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_estimates_of_older_indices_come_near(metric):
    """With the residual of the query they are as near as those by signs."""
    center, rows, query = partition(300)
    z = rows - center
    squares = np.einsum("ij,ij->i", z, z)
    columns = sign_columns(z)
    w = halves(signs_in(columns), np.zeros(z.shape, np.uint8), 0)
    found = residual_factors(z, w, np.broadcast_to(center, z.shape), squares, metric)
    residual = query - center
    far = distances(query[None], center[None], metric)[0, 0] - (metric == "dot")
    near = by_residual(residual, sign_sums(residual, sign_table(columns)), found, far)
    off = near - distances(query[None], rows, metric)[0]
    assert np.sqrt(np.mean(off**2)) < (22 if metric == "l2" else 11)


def test_without_a_centroid_dot_has_no_slope():
    """Where g is zero, alpha is 0, and the base is that of f(A) = 1 - y.g."""
    asked = query_terms(np.ones(8, np.float32), np.zeros(8, np.float32), np.float32(8), "dot")
    assert (asked.slope, asked.base) == (0, 1)
    np.testing.assert_allclose(asked.error, np.sqrt(8), rtol=1e-6)
