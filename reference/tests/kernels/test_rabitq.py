"""RabitQ: rotation, signs, extended codes, factors and estimated distances."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.kernels import rabitq_codes, rabitq_estimate
from lanceref.kernels.distance import distances


def test_a_worked_rotation():
    """Without turned signs four transforms of a power of two are none; a turned sign stays in."""
    one = np.arange(1, 9, dtype=np.float32)[None]
    plain = rabitq_estimate.FastRotation(np.zeros((4, 1), np.uint8))
    np.testing.assert_allclose(plain.rotate(one), one, rtol=1e-6)
    last = rabitq_estimate.FastRotation(np.array([[0], [0], [0b101], [0]], np.uint8))
    wanted = one - 2 * np.array([1, 0, 3, 0, 0, 0, 0, 0]) @ np.eye(8)
    np.testing.assert_allclose(last.rotate(one), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dim", [8, 24, 40, 64, 72, 120])
def test_lengths_and_angles_stay(dim):
    """Products of vectors are those of the rotated ones, also where d is no power of two."""
    random = np.random.default_rng(dim)
    vectors = random.normal(size=(30, dim)).astype(np.float32)
    rotated = rabitq_estimate.draw_rotation(dim, random).rotate(vectors)
    np.testing.assert_allclose(rotated @ rotated.T, vectors @ vectors.T, atol=1e-3)
    assert np.abs(rotated - vectors).max() > 0.5


def test_worked_signs():
    """Component i is bit i of its byte; zero counts as positive, minus zero does not."""
    rotated = np.array([[1, -1, 0.0, -0.0, 2, -2, -3, 4]], np.float32)
    columns = rabitq_codes.sign_columns(rotated)
    assert columns.tolist() == [[0b10010101]]
    assert rabitq_codes.signs_in(columns).tolist() == [
        [True, False, True, False, True, False, False, True]
    ]


@pytest.mark.parametrize("packed", [True, False])
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 4), st.integers(0, 100))))
def test_signs_come_back(packed, columns):
    """What was stored of columns is read as them."""
    stored = rabitq_codes.stored_from(columns, packed=packed)
    assert stored.shape == columns.shape[::-1]
    np.testing.assert_array_equal(rabitq_codes.columns_of(stored, packed=packed), columns)


ONE_BIT = {
    # bits of a code, component, bit of its code: byte and bit in the block
    (1, 9, 0): (1, 1),
    (2, 17, 1): (1, 3),
    (3, 33, 2): (16 + 1, 4),
    (4, 16, 0): (8, 0),
    (4, 25, 3): (9, 7),
    (5, 63, 4): (32 + 7, 7),
    (6, 50, 3): (16 + 2, 7),
    (7, 50, 4): (32 + 2, 6),
    (8, 63, 7): (63, 7),
}


def test_worked_places():
    """One bit of one code is one bit of the block."""
    for (num_bits, component, place), (byte, at) in ONE_BIT.items():
        codes = np.zeros((1, 64), np.uint8)
        codes[0, component] = 1 << place
        stored = rabitq_codes.block_bytes(codes, num_bits)
        assert stored.shape == (1, 8 * num_bits)
        assert np.flatnonzero(stored).tolist() == [byte]
        assert stored[0, byte] == 1 << at


@given(st.integers(1, 8), st.data())
def test_codes_come_back(num_bits, data):
    """Codes of any dimension come back; after them lie zeros."""
    shape = st.tuples(st.integers(0, 5), st.integers(1, 150))
    codes = data.draw(hnp.arrays(np.uint8, shape, elements=st.integers(0, 2**num_bits - 1)))
    dim = codes.shape[1]
    stored = rabitq_codes.block_bytes(codes, num_bits)
    assert stored.shape == (len(codes), rabitq_codes.width_of(dim, num_bits))
    np.testing.assert_array_equal(rabitq_codes.codes_in(stored, dim, num_bits), codes)
    whole = rabitq_codes.codes_in(stored, 8 * rabitq_codes.width_of(dim, 1), num_bits)
    assert not whole[:, dim:].any()


def test_worked_codes():
    """(1, 3) points to w = (1/2, 3/2) exactly; a negative component has its bits turned round."""
    rotated = np.array([[1, 3], [1, -3], [-2, -2]], np.float32)
    codes = rabitq_codes.extended_codes(rotated, 1)
    assert codes[:2].tolist() == [[0, 1], [0, 0]]
    w = rabitq_codes.halves(~np.signbit(rotated), codes, 1)
    assert w[:2].tolist() == [[0.5, 1.5], [0.5, -1.5]]
    assert abs(w[2, 0]) == abs(w[2, 1]) and (w[2] < 0).all()


Z = np.array([[1, -3]], np.float32)
W = np.array([[0.5, -0.5]], np.float32)
G = np.array([[2, 1]], np.float32)
N2 = np.array([10], np.float32)


@pytest.mark.parametrize(
    ("metric", "add", "scale"), [("l2", 10 + 20 * 0.5 / 2, -10), ("dot", 1 + 1 + 10 * 0.25, -5)]
)
def test_worked_factors(metric, add, scale):
    """Of z = (1, -3) and g = (2, 1): a = 2, h = 1/2, z.g = -1; older ones have 5 / sqrt(2)."""
    found = rabitq_estimate.factors(Z, W, G, N2, metric)
    assert (found.add.tolist(), found.scale.tolist()) == ([add], [scale])
    older, twice = rabitq_estimate.residual_factors(Z, W, G, N2, metric), 2 if metric == "l2" else 1
    assert [10 if metric == "l2" else 2] == older.add.tolist()
    np.testing.assert_allclose(older.scale, [-twice * 5 / np.sqrt(2)], rtol=1e-6)
    found = rabitq_estimate.error_factors(Z, W, N2, metric)
    np.testing.assert_allclose(found, [twice * np.sqrt(10) * 1.9 * 0.5], rtol=1e-6)
    assert [0] == rabitq_estimate.error_factors(Z[:, :1], W[:, :1], N2, metric).tolist()


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
    columns = rabitq_codes.sign_columns(z)
    centers = np.broadcast_to(center, z.shape)
    far = distances(query[None], center[None], "l2")[0, 0]
    asked = rabitq_estimate.query_terms(query, center, far, metric)
    sums = rabitq_estimate.sign_sums(query, columns, rabitq_estimate.FINE_STEPS)
    codes = rabitq_codes.extended_codes(z, num_bits) if num_bits else np.zeros(z.shape, np.uint8)
    w = rabitq_codes.halves(rabitq_codes.signs_in(columns), codes, num_bits)
    found = rabitq_estimate.factors(z, w, centers, squares, metric)
    away = query - (center if metric == "l2" else asked.slope * center)
    bound = rabitq_estimate.error_factors(z, w, squares, metric) * np.linalg.norm(away)
    if num_bits:
        return rabitq_estimate.by_codes(asked, sums, codes, num_bits, found), bound
    return rabitq_estimate.by_signs(asked, sums, found), bound


@pytest.mark.parametrize("steps", [rabitq_estimate.STEPS, rabitq_estimate.FINE_STEPS])
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 100), st.booleans())
def test_sums_of_full_blocks_are_rounded_to_steps(steps, seed, width, count, level):
    """By half a step of each four components at most; those of the rows after them are exact."""
    random = np.random.default_rng(seed)
    turned = np.zeros(8 * width) if level else random.normal(size=8 * width)
    columns = random.integers(0, 256, (width, count), np.uint8)
    found = rabitq_estimate.sign_sums(turned.astype(np.float32), columns, steps)
    exact = rabitq_codes.signs_in(columns) @ turned
    room = 2 * width * (0 if level else 2 * np.abs(turned).max() * 4 / steps / 2)

    np.testing.assert_allclose(found, exact, rtol=0, atol=room + 1e-4)
    full = count - count % 32
    np.testing.assert_allclose(found[full:], exact[full:], rtol=0, atol=1e-5)


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
