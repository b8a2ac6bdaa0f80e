"""Text matching."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.query.text_matching import follows


def asked(text: str, phrase: str, slop: int = 0) -> bool:
    """Return whether a text of letters has a phrase of letters."""
    positions = [
        np.array([at for at, own in enumerate(text) if own == one], np.uint32) for one in phrase
    ]
    return all(map(len, positions)) and follows(positions, [1] * (len(phrase) - 1), slop)


@pytest.mark.parametrize(
    ("text", "phrase", "slop", "wanted"),
    [
        ("ab", "ab", 0, True),
        ("axb", "ab", 0, False),
        ("axb", "ab", 1, True),
        ("ba", "ab", 3, False),
        ("aba", "aba", 1, True),
        ("abxab", "abb", 2, True),
        ("abxab", "abb", 1, False),
        ("aab", "aab", 0, True),
        ("axxbxc", "abc", 1, False),
    ],
)
def test_worked_phrases(text, phrase, slop, wanted):
    """In order, each at most `slop` late; the third from last is D.index.fts-slop."""
    assert wanted is asked(text, phrase, slop)


@given(st.text("abx", max_size=8), st.text("ab", min_size=2, max_size=3), st.integers(0, 3))
def test_every_choice_of_places_is_tried(text, phrase, slop):
    """As if all were tried one by one."""
    choices = product(*([at for at, own in enumerate(text) if own == one] for one in phrase))
    wanted = any(all(0 < b - a <= 1 + slop for a, b in pairwise(one)) for one in choices)
    assert wanted is asked(text, phrase, slop)
