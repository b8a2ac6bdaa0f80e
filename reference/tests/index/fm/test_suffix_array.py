"""Suffix arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.fm.partition import suffix_array


def array_of(text: bytes) -> list[int]:
    """Return the suffix array of a text."""
    return suffix_array(np.frombuffer(text, np.uint8)).tolist()


def test_worked_example():
    """The endings of banana: a, ana, anana, banana, na, nana."""
    assert array_of(b"banana") == [5, 3, 1, 0, 4, 2]
    assert array_of(b"") == []


def test_a_beginning_comes_first():
    """Also where what follows is the smallest byte, over more than the first bytes."""
    text = b"\x00" * 40
    assert array_of(text) == list(range(39, -1, -1))


@given(st.text("ab\x00\xff", max_size=200).map(lambda text: text.encode("latin-1")))
def test_as_sorted_by_hand(text):
    """Equal to sorting the endings themselves."""
    assert array_of(text) == sorted(range(len(text)), key=lambda start: text[start:])
