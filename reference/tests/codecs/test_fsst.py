"""FSST: the table, escapes, a scalar decoder against the vectorised one."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import fsst
from lanceref.codecs.values import Variable
from lanceref.core.errors import CorruptPage

from .runs import PLACE, plain


def table_bytes(symbols, is_on=True):
    """Write a symbol table."""
    header = bytes([len(symbols), 0, 0, int(is_on)]) + b"TSSF"
    cells = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    return (header + cells + bytes(map(len, symbols))).ljust(2312, b"\0")


def strings(values):
    """Return byte strings as values."""
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64)
    return Variable(offsets, np.frombuffer(b"".join(values), np.uint8))


def decode_slowly(symbols, codes):
    """Decode one value code by code: the slow clear form."""
    out, at = b"", 0
    while at < len(codes):
        if codes[at] == 255:
            out, at = out + codes[at + 1 : at + 2], at + 2
        else:
            out, at = out + symbols[codes[at]], at + 1
    return out


SYMBOLS = st.lists(st.binary(min_size=1, max_size=8), min_size=1, max_size=20)


def coded(draw, symbols):
    """Draw codes of some values: symbols and escapes, 255 among the escaped."""
    code = st.integers(0, len(symbols) - 1).map(lambda c: bytes([c]))
    escape = st.sampled_from([0, 1, 254, 255]).map(lambda c: bytes([255, c]))
    value = st.lists(code | escape, max_size=12).map(b"".join)
    return draw.draw(st.lists(value, max_size=10))


def test_symbols_and_escapes_by_hand():
    """With `http` and `a`, the codes 0 1 255 120 are `httpax`; 255 255 is the byte ff."""
    table = fsst.parse_table(table_bytes([b"http", b"a"]), PLACE)

    decoded = fsst.decode(table, strings([b"\x00\x01\xff\x78", b"", b"\xff\xff\x01"]), PLACE)

    assert [b"httpax", b"", b"\xffa"] == plain(decoded)


@given(st.data(), SYMBOLS)
@settings(max_examples=200)
def test_codes_of_any_table_decode_like_the_slow_form(draw, symbols):
    """Random tables and codes give the same bytes."""
    values = coded(draw, symbols)
    table = fsst.parse_table(table_bytes(symbols), PLACE)

    decoded = fsst.decode(table, strings(values), PLACE)

    assert [decode_slowly(symbols, value) for value in values] == plain(decoded)


def test_a_table_that_is_off_leaves_values_as_they_are():
    """Bytes are verbatim when the header says so."""
    table = fsst.parse_table(table_bytes([b"ab"], is_on=False), PLACE)

    assert [b"\x00\xff"] == plain(fsst.decode(table, strings([b"\x00\xff"]), PLACE))


@pytest.mark.parametrize(
    "table",
    [
        table_bytes([b"ab"])[:-1],
        table_bytes([b"ab"]).replace(b"TSSF", b"FSST"),
        table_bytes([b"ab", b""]),
        table_bytes([b"abcdefgh"])[:16] + b"\x09" + bytes(2295),
    ],
)
def test_faulty_tables_are_refused(table):
    """A table has 2 312 bytes, its magic, and lengths of 1 to 8."""
    with pytest.raises(CorruptPage, match=r"L\.codec\.fsst\.table"):
        fsst.parse_table(table, PLACE)


@pytest.mark.parametrize(
    ("values", "clause"),
    [
        ([b"\x00", b"\x02"], "L.codec.fsst.code"),
        ([b"\x00\xff", b"\x00"], "L.codec.fsst.escape"),
        ([b"\x00\xff\xff\xff"], "L.codec.fsst.escape"),
    ],
)
def test_faulty_codes_are_refused(values, clause):
    """A code has a symbol, and an escape is followed by a byte of the same value."""
    table = fsst.parse_table(table_bytes([b"a", b"b"]), PLACE)

    with pytest.raises(CorruptPage) as caught:
        fsst.decode(table, strings(values), PLACE)

    assert clause == caught.value.clause


@given(st.lists(st.binary(max_size=6)), SYMBOLS)
def test_any_codes_decode_or_are_refused(values, symbols):
    """Any bytes give values or a LanceError."""
    table = fsst.parse_table(table_bytes(symbols), PLACE)
    try:
        decoded = plain(fsst.decode(table, strings(values), PLACE))
    except CorruptPage as error:
        assert error.clause in ("L.codec.fsst.code", "L.codec.fsst.escape")
    else:
        assert [decode_slowly(symbols, value) for value in values] == decoded
