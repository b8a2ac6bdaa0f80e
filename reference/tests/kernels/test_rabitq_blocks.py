"""Blocks of extended codes."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.kernels.rabitq_codes import bit_places, block_bytes, codes_in, width_of

ONE_BIT = {
    # bits of a code, component, bit of its code: byte and bit in the block
    (1, 9, 0): (1, 1),
    (2, 17, 1): (1, 3),
    (2, 50, 0): (2, 6),
    (3, 17, 1): (1, 3),
    (3, 33, 2): (16 + 1, 4),
    (3, 8, 2): (16 + 0, 1),
    (4, 16, 0): (8, 0),
    (4, 25, 3): (9, 7),
    (5, 17, 0): (1, 4),
    (5, 33, 3): (17, 3),
    (5, 63, 4): (32 + 7, 7),
    (6, 20, 5): (20, 5),
    (6, 50, 3): (16 + 2, 7),
    (7, 50, 4): (32 + 2, 6),
    (7, 1, 6): (48 + 1, 0),
    (8, 63, 7): (63, 7),
}


@pytest.mark.parametrize("bit", ONE_BIT)
def test_worked_places(bit):
    """One bit of one code is one bit of the block."""
    num_bits, component, place = bit
    codes = np.zeros((1, 64), np.uint8)
    codes[0, component] = 1 << place
    stored = block_bytes(codes, num_bits)
    byte, at = ONE_BIT[bit]
    assert stored.shape == (1, 8 * num_bits)
    assert np.flatnonzero(stored).tolist() == [byte]
    assert stored[0, byte] == 1 << at


@pytest.mark.parametrize("num_bits", range(1, 9))
def test_every_bit_has_a_place(num_bits):
    """No two bits of codes share one of the block."""
    assert sorted(bit_places(num_bits).tolist()) == list(range(64 * num_bits))


@given(st.integers(1, 8), st.data())
def test_codes_come_back(num_bits, data):
    """Codes of any dimension come back; after them lie zeros."""
    shape = st.tuples(st.integers(0, 5), st.integers(1, 150))
    codes = data.draw(hnp.arrays(np.uint8, shape, elements=st.integers(0, 2**num_bits - 1)))
    dim = codes.shape[1]
    stored = block_bytes(codes, num_bits)
    assert stored.shape == (len(codes), width_of(dim, num_bits))
    np.testing.assert_array_equal(codes_in(stored, dim, num_bits), codes)
    whole = codes_in(stored, 8 * width_of(dim, 1), num_bits)
    assert not whole[:, dim:].any()
