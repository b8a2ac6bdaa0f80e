"""FSST, encoded."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.choose import fsst_encoding
from lanceref.codecs.compressive import decode_zip_variable
from lanceref.codecs.fsst import TABLE_BYTES, parse_table
from lanceref.codecs.fsst_encode import apply, encode, symbol_table
from lanceref.codecs.variable import variable_encoding
from lanceref.fast import fsst as fast_fsst

from .encoded_runs import texts_of, variable
from .runs import CTX, PLACE


def test_few_bytes_are_stored_as_they_are():
    """Below 32 KiB the table is switched off."""
    table, stored = encode(variable([b"abc", b""]))

    assert table == bytes.fromhex("00000000 54535346") + bytes(TABLE_BYTES - 8)
    assert texts_of(stored) == [b"abc", b""]


def test_a_table_is_read_as_it_was_written():
    """Symbols, then their lengths, then zeros."""
    table = parse_table(symbol_table([b"ab", b"c"], is_on=True), PLACE)

    assert (table.is_on, table.num_symbols) == (True, 2)
    assert table.lengths[:2].tolist() == [2, 1]


@given(st.lists(st.binary(max_size=12), min_size=1, max_size=50))
def test_coded_values_come_back(texts):
    """With symbols that match some of the bytes; all others are escaped."""
    symbols = [b"\x00\x01", b"ab", b"\xff", b"abc", b"\x00"]
    table = symbol_table(symbols, is_on=True)

    encoding = fsst_encoding(table, variable_encoding(32))
    back = decode_zip_variable(encoding, apply(symbols, variable(texts)), CTX, PLACE)

    assert texts_of(back) == texts


def test_long_text_is_coded_and_comes_back():
    """2,000 addresses take less than half their bytes."""
    texts = [f"https://example.org/item/{i * 7919 % 2000}".encode() for i in range(2000)]

    table, stored = encode(variable(texts))

    assert int(stored.offsets[-1]) < sum(map(len, texts)) / 2
    encoding = fsst_encoding(table, variable_encoding(32))
    assert texts_of(decode_zip_variable(encoding, stored, CTX, PLACE)) == texts
    assert np.all(np.diff(stored.offsets) > 0)


def test_values_that_symbols_do_not_shrink_are_stored_as_they_are():
    """Random bytes, and long texts of which each repeats something else."""
    noise = [np.random.default_rng(one).bytes(500) for one in range(200)]
    alone = [f"{number}".encode() * 1024 for number in range(1000)]
    for texts in (noise, alone):
        table, stored = encode(variable(texts))

        assert (table[0], table[3]) == (0, 0)
        assert texts_of(stored) == texts


@given(st.lists(st.binary(max_size=12), min_size=1, max_size=30), st.integers(1, 40))
def test_slabs_leave_no_trace(texts, slab):
    """Values coded a few at a time give the same bytes."""
    symbols = [b"\x00\x01", b"ab", b"\xff", b"abc", b"\x00"]
    whole = apply(symbols, variable(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_fsst, "SLAB_BYTES", slab)
        patch.setattr(fast_fsst, "SLAB_VALUES", 1 + slab // 4)
        cut = apply(symbols, variable(texts))

    assert whole.offsets.tolist() == cut.offsets.tolist()
    assert whole.data.tobytes() == cut.data.tobytes()
