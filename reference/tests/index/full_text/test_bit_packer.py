"""Bit-packed groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage, Truncated
from lanceref.index.full_text.packed_integers import group_runs, parse_group, unpack

from .plain_encoding import encode_group, pack


def cursor(data: bytes) -> Cursor:
    """Return a cursor over bytes."""
    return Cursor(memoryview(data), 0, Context("f"))


def test_numbers_take_turns_in_the_lanes():
    """With one bit, numbers 0 and 4 are bits 0 and 1 of word 0, number 1 is bit 0 of word 1."""
    numbers = np.zeros(128, np.uint32)
    numbers[[0, 4, 1]] = 1
    assert bytes.fromhex("03000000 01000000 00000000 00000000") == pack(numbers, 1)


def test_a_number_crosses_words():
    """With 20 bits the second number of a lane lies in bits 20 to 39 of the lane."""
    numbers = np.zeros(128, np.uint32)
    numbers[4] = 0xFFFFF
    words = np.frombuffer(pack(numbers, 20), "<u4")
    assert [0xFFF00000, 0xFF] == [words[0], words[4]]


@given(st.integers(0, 32), st.sampled_from([4, 8]), st.randoms())
def test_what_is_packed_comes_back(width, lanes, random):
    """For every width and both numbers of lanes."""
    numbers = np.array([random.getrandbits(width) for _ in range(32 * lanes)], np.uint32)
    assert unpack(memoryview(pack(numbers, width)), width, lanes).tolist() == numbers.tolist()
    group = encode_group(numbers)
    assert [group] == group_runs(numbers[np.newaxis]).as_bytes()
    assert parse_group(cursor(group), lanes, "n").tolist() == numbers.tolist()


def test_a_width_above_32_is_refused():
    """A width of 33 bits is none, and one without its numbers is cut off."""
    with pytest.raises(CorruptPage, match=r"L\.index\.fts\.posting\.width"):
        parse_group(cursor(b"\x21" + bytes(600)), 4, "n")
    with pytest.raises(Truncated, match=r"L\.index\.fts\.posting\.width"):
        parse_group(cursor(b"\x02" + bytes(31)), 4, "n")
