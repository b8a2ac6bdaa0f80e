"""Positions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.errors import CorruptPage, FormatError
from lanceref.index.full_text.positions import (
    encode_position_blobs,
    parse_position_blobs,
    parse_positions,
    position_runs,
)

from .plain_encoding import encode_positions
from .test_bit_packer import cursor
from .test_posting_blocks import PLACE

lists = st.lists(st.sets(st.integers(0, 5000), min_size=1, max_size=300), min_size=1, max_size=4)


def test_worked_positions():
    """Positions 1 and 4, then 2 in the next document: steps 1, 3 and 2."""
    own = [np.array([1, 4], np.uint32), np.array([2], np.uint32)]
    assert bytes.fromhex("010302") == encode_positions(own)
    assert [bytes.fromhex("02000000"), bytes.fromhex("01000000 04000000")] == encode_position_blobs(
        own[0]
    )


@given(lists)
def test_what_is_written_is_read(documents):
    """In both layouts."""
    own = [np.array(sorted(one), np.uint32) for one in documents]
    counts = np.array([len(one) for one in own], np.uint32)
    found = parse_positions(cursor(encode_positions(own)), counts)
    assert [one.tolist() for one in own] == [one.tolist() for one in found]
    for one in own:
        blobs = [cursor(blob) for blob in encode_position_blobs(one)]
        assert one.tolist() == parse_position_blobs(blobs, len(one), PLACE).tolist()


@given(st.lists(lists, min_size=1, max_size=3))
def test_positions_of_many_blocks_are_those_of_each(blocks):
    """Whether a block fills groups or not."""
    own = [[np.array(sorted(one), np.uint32) for one in block] for block in blocks]
    every = [one for block in own for one in block]
    counts = np.array([len(one) for one in every], np.uint32)
    sizes = np.array([len(block) for block in own])
    found = position_runs(np.concatenate(every), counts, sizes)
    assert [encode_positions(block) for block in own] == found.as_bytes()


def test_damage_is_refused():
    """Bytes left over, missing bytes, and counts that disagree."""
    with pytest.raises(CorruptPage, match=r"L\.index\.fts\.positions\.end"):
        parse_positions(cursor(b"\x01\x02"), np.array([1], np.uint32))
    with pytest.raises(FormatError, match=r"L\.index\.fts\.positions\.end"):
        parse_positions(cursor(b"\x01"), np.array([2], np.uint32))
    blobs = [cursor(b"\x03\x00\x00\x00"), cursor(bytes(8))]
    with pytest.raises(CorruptPage, match=r"L\.index\.fts\.positions\.end"):
        parse_position_blobs(blobs, 2, PLACE)
    with pytest.raises(CorruptPage, match=r"L\.index\.fts\.positions\.end"):
        parse_position_blobs([], 2, PLACE)
