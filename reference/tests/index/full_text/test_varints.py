"""Varints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage, Truncated
from lanceref.index.full_text.packed_integers import parse_varint, parse_varints, varint_runs

from .plain_encoding import encode_varint, encode_varints
from .test_bit_packer import cursor


def test_worked_numbers():
    """300 is 0b10_0101100: the low seven bits first."""
    assert bytes.fromhex("ac02") == encode_varint(300)
    assert bytes.fromhex("ffffffff0f") == encode_varint(2**32 - 1)
    assert b"\x00\x7f" == encode_varints([0, 127])


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20))
def test_what_is_written_is_read(values):
    """Whatever the numbers; many at once are encoded as one by one."""
    own = np.array(values, np.uint32)
    assert [encode_varint(one) for one in values] == varint_runs(own).as_bytes()
    assert values == parse_varints(cursor(encode_varints(values)), len(values), "n").tolist()


@given(st.binary(min_size=12, max_size=60), st.integers(8, 12))
def test_many_are_parsed_as_one_by_one(data, count):
    """Whatever the bytes: the same numbers and the same place after them, or the same refusal."""
    whole, single = cursor(data), cursor(data)
    try:
        expected = [parse_varint(single, "n") for _ in range(count)]
    except (CorruptPage, Truncated) as error:
        with pytest.raises(type(error)):
            parse_varints(whole, count, "n")
        return
    assert parse_varints(whole, count, "n").tolist() == expected
    assert whole.position == single.position


@pytest.mark.parametrize("data", ["ffffffff10", "8080808080"])
def test_more_than_32_bits_are_refused(data):
    """Also when a sixth byte would have to follow."""
    with pytest.raises(CorruptPage, match=r"L\.index\.fts\.varint"):
        parse_varint(cursor(bytes.fromhex(data)), "n")


def test_missing_bytes_are_refused():
    """A count is bounded by a byte each."""
    with pytest.raises(Truncated, match=r"L\.index\.fts\.varint"):
        parse_varints(cursor(b"\x01\x02"), 3, "n")
