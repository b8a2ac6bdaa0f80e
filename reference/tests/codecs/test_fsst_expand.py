"""FSST codes, expanded: singly and in pairs, with escapes wherever they fall."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import fsst
from lanceref.fast import fsst as fast_fsst

from .runs import PLACE, plain
from .test_fsst import SYMBOLS, coded, decode_slowly, strings, table_bytes

SYMBOL_A, SYMBOL_HTTP = b"a", b"http"


@pytest.mark.parametrize("paired", [0, 1 << 20])
def test_escapes_at_both_places_of_a_pair_by_hand(paired, monkeypatch):
    """With `a` and `http`: 0 1 | 255 120 | 0 255 | 255 1 is `ahttpxa`, ff, `http`."""
    monkeypatch.setattr(fast_fsst, "PAIRED", paired)
    table = fsst.parse_table(table_bytes([SYMBOL_A, SYMBOL_HTTP]), PLACE)
    codes = np.array([0, 1, 255, 120, 0, 255, 255, 1], np.uint8)
    literal = np.array([0, 0, 0, 1, 0, 0, 1, 0], np.bool_)
    cuts = np.array([0, 1, 4, 5, 7, 8])

    offsets, data = fast_fsst.expand(table.symbols, table.lengths, codes, literal, cuts)

    assert b"ahttpxa\xffhttp" == data.tobytes()
    assert [0, 1, 6, 7, 8, 12] == offsets.tolist()


@given(st.data(), SYMBOLS, st.integers(1, 9), st.sampled_from([0, 4, 1 << 20]))
@settings(max_examples=300)
def test_slabs_and_pairs_may_be_cut_anywhere(draw, symbols, slab, paired):
    """Random tables and codes give what the slow form gives, wherever slabs are cut."""
    values = coded(draw, symbols)
    table = fsst.parse_table(table_bytes(symbols), PLACE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_fsst, "SLAB", 2 * slab)
        patch.setattr(fast_fsst, "PAIRED", paired)
        decoded = fsst.decode(table, strings(values), PLACE)

    assert [decode_slowly(symbols, value) for value in values] == plain(decoded)


def test_assignment_through_overlapping_words_keeps_the_order():
    """NumPy writes in the order of the indices: a later word overwrites what it shares."""
    out = np.zeros(40_008, np.uint8)
    words = np.ndarray((40_001,), "<u8", out.data, strides=(1,))
    at = np.arange(20_000) * 2
    words[at] = np.uint64(0x0101010101010101) * (at % 251).astype(np.uint64)

    assert np.array_equal(np.repeat(at % 251, 2), out[:40_000])
