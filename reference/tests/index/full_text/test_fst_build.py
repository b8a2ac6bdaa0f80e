"""Token dictionaries, built."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.full_text.fst import build_fst, checksum, parse_fst

from .test_bit_packer import cursor


def test_a_worked_dictionary():
    """One token "ab" with the number 0: "b" to the end, then "a" to the node before."""
    body = bytes.fromhex("0300000000000000 0000000000000000 00 10 9a c5") + struct.pack(
        "<QQ", 1, 19
    )
    assert body + struct.pack("<I", checksum(body)) == build_fst([(b"ab", 0)])


def test_endings_are_shared():
    """Two tokens with one ending are hardly longer than one."""
    one = len(build_fst([(b"xylophone", 0)]))
    assert len(build_fst([(b"xylophone", 0), (b"yxylophone"[:1] + b"ylophone", 0)])) < one + 8


@given(st.dictionaries(st.binary(max_size=6), st.integers(0, 2**32 - 1), max_size=60))
def test_what_is_built_is_read(tokens):
    """Whatever the tokens and their numbers."""
    wanted = sorted(tokens.items())
    fst = parse_fst(cursor(build_fst(wanted)))
    assert wanted == list(fst.items())
    assert all(fst.get(token) == number for token, number in wanted)
