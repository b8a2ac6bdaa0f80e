"""Extended codes of RabitQ."""

import numpy as np
import pytest
from lanceref.kernels import rabitq_codes
from lanceref.kernels.rabitq_codes import best_scales, extended_codes, halves


def cosines(first, second):
    """Return the cosine of each row with the other."""
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.einsum("ij,ij->i", first.astype(float), second) / lengths


def test_worked_codes():
    """(1, 3) points to w = (1/2, 3/2) exactly; a negative component has its bits turned round."""
    rotated = np.array([[1, 3], [1, -3], [-2, -2]], np.float32)
    codes = extended_codes(rotated, 1)
    assert codes[:2].tolist() == [[0, 1], [0, 0]]
    w = halves(~np.signbit(rotated), codes, 1)
    assert w[:2].tolist() == [[0.5, 1.5], [0.5, -1.5]]
    assert abs(w[2, 0]) == abs(w[2, 1]) and (w[2] < 0).all()


def test_halves_of_signs_alone():
    """Without codes every component is a half, up or down."""
    signs = np.array([[True, False]])
    assert halves(signs, np.zeros((1, 2), np.uint8), 0).tolist() == [[0.5, -0.5]]


def test_without_direction_codes_are_zero():
    """Zero and what is not finite have codes 0, and are no hindrance to others."""
    rotated = np.array([[0, 0], [np.nan, 1], [np.inf, 1], [1, 3]], np.float32)
    assert extended_codes(rotated, 2)[:3].tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("num_bits", range(1, 9))
def test_more_bits_point_nearer(num_bits):
    """Each bit more makes w point at least as nearly to z; 8 bits are nearly exact."""
    rotated = np.random.default_rng(2).normal(size=(200, 24)).astype(np.float32)
    signs = ~np.signbit(rotated)
    codes = extended_codes(rotated, num_bits)
    assert codes.max() <= 2**num_bits - 1
    w = halves(signs, codes, num_bits)
    fewer = np.zeros_like(codes) if num_bits == 1 else extended_codes(rotated, num_bits - 1)
    assert (np.sign(w) == np.sign(rotated)).all()
    assert cosines(rotated, w).mean() > cosines(rotated, halves(signs, fewer, num_bits - 1)).mean()
    assert num_bits < 8 or cosines(rotated, w).min() > 0.9999


@pytest.mark.parametrize("num_bits", [1, 3, 5])
def test_no_other_scale_is_better(num_bits):
    """Among many t from the start of the sweep to its end, none points nearer."""
    random = np.random.default_rng(num_bits)
    units = np.abs(random.normal(size=(50, 16))).astype(np.float32)
    units /= np.linalg.norm(units, axis=1)[:, None]
    most = 2**num_bits - 1

    def quality(scales):
        sizes = np.minimum(np.floor(scales[:, None] * units + 1e-5), most)
        return cosines(units, sizes + 0.5)

    found = quality(best_scales(units, num_bits))
    first = rabitq_codes.SHARES[num_bits]
    for share in np.linspace(first, 1, 300):
        assert (found >= quality(share * (most + 10) / units.max(axis=1)) - 1e-6).all()


def test_blocks_make_no_difference(monkeypatch):
    """However many rows are swept together, the codes are the same."""
    rotated = np.random.default_rng(4).normal(size=(100, 16)).astype(np.float32)
    whole = extended_codes(rotated, 4)
    monkeypatch.setattr(rabitq_codes, "BLOCK_EVENTS", 16 * 16 * 3)
    np.testing.assert_array_equal(extended_codes(rotated, 4), whole)
