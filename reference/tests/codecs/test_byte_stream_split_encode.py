"""Byte stream split, encoded."""

import hypothesis.strategies as st
from hypothesis import given
from lanceref.codecs.encoder_inputs import flat_chunk
from lanceref.codecs.flat import encode_streams

from .encoded_runs import decoded, fixed


def test_bytes_are_sorted_by_their_position():
    """Two values of four bytes: their first bytes, their second bytes, …"""
    blocks = encode_streams(fixed([0x04030201, 0x14131211]), 1024)

    assert blocks.buffers[0][0].tolist() == [1, 0x11, 2, 0x12, 3, 0x13, 4, 0x14]


def test_chunks_hold_1024_values_of_32_bits():
    """512 of 64 bits."""
    assert encode_streams(fixed(range(1500)), flat_chunk(4, 1)).counts.tolist() == [1024, 476]
    assert encode_streams(fixed(range(600), 64), flat_chunk(8, 1)).counts.tolist() == [512, 88]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50), st.sampled_from([2, 8, 64]))
def test_split_values_come_back(values, per_chunk):
    """Chunks of any size."""
    back = decoded(encode_streams(fixed(values, 64), per_chunk))

    assert back.data.view("<u8").tolist() == values
