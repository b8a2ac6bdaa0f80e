"""FSST, coding."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from lanceref.codecs.fsst_encode import code_values, make_coder
from lanceref.fast import fsst as fast_fsst

from .encoded_runs import variable

PIECES = [b"a", b"b", b"\0", b"\xff", b"ab", b"abc", b"abcdefgh", b"xyz"]


def code_slowly(symbols, text):
    """Code one value symbol by symbol: the slow clear form, for tables without equal hashes."""
    numbers = []
    while text:
        fitting = [symbol for symbol in symbols if text.startswith(symbol)]
        best = max(fitting, key=len, default=None)
        numbers.append(256 + text[0] if best is None else symbols.index(best))
        text = text[1 if best is None else len(best) :]
    return numbers


def test_the_longest_symbol_wins_and_the_rest_is_escaped():
    """'abcdx' with a, ab, abc: 'abc', then d and x as they are."""
    symbols = [b"a", b"ab", b"abc"]

    codes, counts = code_values(make_coder(symbols), variable([b"abcdx", b"ab", b""]))

    assert codes.tolist() == [2, 256 + ord("d"), 256 + ord("x"), 1]
    assert counts.tolist() == [3, 1, 0]


def test_a_symbol_does_not_cross_a_value():
    """'ab' in two values of one byte each is not one symbol."""
    codes, _ = code_values(make_coder([b"ab", b"a"]), variable([b"a", b"b"]))

    assert codes.tolist() == [1, 256 + ord("b")]


def test_the_last_byte_of_a_value_is_a_symbol_whatever_follows():
    """'a' has a symbol of its own beside 'a' and zero, and 'ab'."""
    codes, _ = code_values(make_coder([b"a\0", b"ab", b"a"]), variable([b"a", b"b"]))

    assert codes.tolist() == [2, 256 + ord("b")]


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join), max_size=12),
    st.lists(st.sampled_from(PIECES), unique=True, max_size=8),
    st.sampled_from([1, 3, 256]),
)
def test_values_are_coded_as_by_the_slow_form(texts, symbols, few):
    """Side by side, one by one, or first the one and then the other."""
    hashed = [symbol for symbol in symbols if len(symbol) > 2]
    symbols = [s for s in symbols if len(s) < 3 or s == next(h for h in hashed if h[:3] == s[:3])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_fsst, "FEW", few)
        codes, counts = code_values(make_coder(symbols), variable(texts))

    wanted = [code_slowly(symbols, text) for text in texts]
    assert codes.tolist() == [number for numbers in wanted for number in numbers]
    assert counts.tolist() == [len(numbers) for numbers in wanted]
