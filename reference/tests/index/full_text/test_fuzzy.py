"""Fuzzy matching."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.full_text.fst import build_fst, near, parse_fst

from .test_bit_packer import cursor

text = st.text("abé", max_size=5)


def found(tokens, wanted, edits, prefix="") -> list[str]:
    """Return the tokens near another, by a dictionary and by a list, which must agree."""
    numbered = {token: number for number, token in enumerate(sorted(tokens, key=str.encode))}
    fst = parse_fst(cursor(build_fst((token.encode(), n) for token, n in numbered.items())))
    own = list(near(fst, wanted, edits, prefix))
    assert sorted(own) == sorted(near(numbered, wanted, edits, prefix))
    return own


def distance(one: str, other: str) -> int:
    """Return the edits between two texts, slowly."""
    if not one or not other:
        return len(one) + len(other)
    same = distance(one[1:], other[1:])
    if one[0] == other[0]:
        return same
    return 1 + min(same, distance(one[1:], other), distance(one, other[1:]))


def test_worked_words():
    """An exchange of neighbours is two edits; a prefix must be there."""
    words = ["box", "fix", "fo", "fox", "foxes", "ofx"]
    assert ["box", "fix", "fo", "fox"] == found(words, "fox", 1)
    assert ["fix", "fo", "fox"] == found(words, "fox", 1, "f")
    assert words == found(words, "fox", 2)


@given(st.sets(text.filter(bool), max_size=12), text, st.integers(0, 3))
def test_all_near_tokens_are_found(tokens, wanted, edits):
    """Exactly those that are so many edits away."""
    near_ones = [one for one in tokens if distance(one, wanted) <= edits]
    assert sorted(near_ones, key=str.encode) == found(tokens, wanted, edits)
