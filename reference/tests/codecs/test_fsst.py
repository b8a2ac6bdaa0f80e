"""FSST as the writer does it: symbols are trained, values are coded by the longest of them."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from lanceref.codecs.compressive import decode_zipped
from lanceref.codecs.symbol_coder import apply, code_values, encode, make_coder, shrinks, train
from lanceref.codecs.variable import symbol_table as written_table
from lanceref.fast import codecs as fast_fsst

from .encodings import fsst
from .encodings import variable as strings
from .runs import CTX, PLACE, plain, variable
from .slow_forms import SYMBOLS, decode_codes, draw_codes, symbol_table

PIECES = [b"a", b"b", b"\0", b"\xff", b"ab", b"abc", b"abcdefgh", b"xyz"]
WORDS = [b"http://", b"www.", b"example", b".com/", b"index", b".html", b"?q="]


def _code_slowly(symbols, text):
    """Code one value symbol by symbol: the longest that fits, or 256 and the byte."""
    numbers = []
    while text:
        fitting = [symbol for symbol in symbols if text.startswith(symbol)]
        best = max(fitting, key=len, default=None)
        numbers.append(256 + text[0] if best is None else symbols.index(best))
        text = text[1 if best is None else len(best) :]
    return numbers


@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join), max_size=12),
    st.lists(st.sampled_from(PIECES), unique=True, max_size=8),
    st.sampled_from([1, 3, 256]),
)
def test_values_are_coded_as_by_the_slow_form(texts, symbols, few):
    """Side by side, one by one, or both; of symbols with one hash only the first is kept."""
    hashed = [symbol for symbol in symbols if len(symbol) > 2]
    symbols = [s for s in symbols if len(s) < 3 or s == next(h for h in hashed if h[:3] == s[:3])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_fsst, "FEW", few)
        codes, counts = code_values(make_coder(symbols), variable(texts))

    wanted = [_code_slowly(symbols, text) for text in texts]
    assert [number for numbers in wanted for number in numbers] == codes.tolist()
    assert [len(numbers) for numbers in wanted] == counts.tolist()


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(b"".join), min_size=1))
def test_trained_symbols_spell_the_values(texts):
    """Whatever table was trained, codes and escapes give the values back, cut anywhere."""
    symbols = train(variable(texts))
    coded = apply(symbols, variable(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_fsst, "SLAB", 8)
        again = apply(symbols, variable(texts))

    assert len(symbols) <= 255
    assert texts == [decode_codes(symbols, value) for value in plain(coded)]
    assert plain(coded) == plain(again)
    assert symbol_table(symbols) == written_table(symbols, is_on=True)


def test_training_finds_repeated_text():
    """Values of a few words take less than a third of their bytes; those alone, and as texts."""
    texts = [b"".join(WORDS[(i + j) % 7] for j in range(6)) for i in range(500)]
    codes, _ = code_values(make_coder(train(variable(texts))), variable(texts))
    addresses = [f"https://example.org/item/{i * 7919 % 2000}".encode() for i in range(2000)]
    table, stored = encode(variable(addresses))
    found = decode_zipped(fsst(table, strings(32)), stored, CTX, PLACE)

    assert len(codes) < sum(map(len, texts)) / 3
    assert int(stored.offsets[-1]) < sum(map(len, addresses)) / 2
    assert addresses == plain(found)


@pytest.mark.parametrize(("text", "smaller"), [(b"abc", False), (b"abab", True), (b"c", False)])
def test_a_table_is_used_where_codes_are_fewer_than_bytes(text, smaller):
    """Of `abc` a code and an escaped byte are as many."""
    assert smaller == shrinks([b"ab"], variable([text]))


@given(st.data(), SYMBOLS, st.integers(1, 9), st.sampled_from([0, fast_fsst.PAIRED]))
@settings(max_examples=150)
def test_codes_are_expanded_wherever_slabs_are_cut(draw, symbols, slab, paired):
    """Random tables and codes give what the slow form gives, in NumPy, one by one or in pairs."""
    values = draw_codes(draw, symbols)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_fsst, "SLAB", 2 * slab)
        patch.setattr(fast_fsst, "PAIRED", paired)
        patch.setattr(fast_fsst.KERNEL_USE, "enough", 1 << 62)
        patch.setattr(fast_fsst.KERNEL_USE, "smallest", 1 << 62)
        encoding = fsst(symbol_table(symbols), strings(32))
        found = decode_zipped(encoding, variable(values), CTX, PLACE)

    assert [decode_codes(symbols, value) for value in values] == plain(found)
