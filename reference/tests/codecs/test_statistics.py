"""Statistics of values."""

import numpy as np
from lanceref.codecs.encoder_inputs import (
    byte_entropy,
    max_value_bytes,
    packed_bytes,
    run_bytes,
    unsigned,
)
from lanceref.codecs.values import FixedSizeList, Rows

from .encoded_runs import fixed, variable


def test_the_longest_value_counts():
    """Fixed width, longest string, all items of a list, all fields of a row."""
    assert max_value_bytes(fixed([1, 2], 64)) == 8
    assert max_value_bytes(variable([b"a", b"abc"])) == 3
    assert max_value_bytes(FixedSizeList(3, 1, None, fixed([1, 2, 3], 16))) == 6
    assert max_value_bytes(Rows(1, (fixed([1], 16), fixed([1], 8)))) == 3


def test_runs_take_a_value_and_a_length_for_each_255():
    """300 equal values of four bytes are one run of two pieces."""
    assert run_bytes(np.array([5] * 300 + [6], "<u4"), 99) == (2, 3 * 5)


def test_packed_values_take_a_word_and_their_width():
    """1,024 values below 8 take 4 + 3 x 128 bytes."""
    assert packed_bytes(np.array([7] * 1024, "<u4"), np.array([3])) == 4 + 384


def test_entropy_is_the_mean_of_the_byte_positions():
    """64 values 0 to 63: six bits in the lowest byte, none in the other three."""
    assert byte_entropy(fixed(range(64))) == 1.5
    assert byte_entropy(fixed([0] * 64)) == 0


def test_fixed_values_are_integers():
    """Little-endian."""
    assert unsigned(fixed([1, 258], 16)).tolist() == [1, 258]
