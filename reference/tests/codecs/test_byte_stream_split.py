"""Byte-stream split: the order of bytes, ragged chunks, damage."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from lanceref.codecs.flat import decode_streams
from lanceref.core.errors import CorruptPage

from .runs import damaged, gives_values_or_refuses, plain, run_of, words


def split(values, bits):
    """Write byte i of value j at i * n + j."""
    raw = words(values, bits)
    return b"".join(raw[byte :: bits // 8] for byte in range(bits // 8))


def test_bytes_of_equal_rank_stand_together():
    """01020304 and 11121314 are stored as 04 14 03 13 02 12 01 11."""
    stored = bytes.fromhex("0414031302120111")

    assert stored == split([0x01020304, 0x11121314], 32)
    assert [0x01020304, 0x11121314] == plain(decode_streams(run_of([stored], counts=[2]), 32))


@given(
    st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=5), min_size=1, max_size=4),
    st.sampled_from([32, 64]),
)
def test_values_of_any_chunks_come_back(chunks, bits):
    """Chunks of any count are joined in order."""
    run = run_of([split(values, bits) for values in chunks], counts=[len(v) for v in chunks])

    assert [v for values in chunks for v in values] == plain(decode_streams(run, bits))


def test_a_chunk_of_another_size_is_refused():
    """The streams fill the buffer."""
    with pytest.raises(CorruptPage, match=r"L\.codec\.byte-stream-split\.size"):
        decode_streams(run_of([bytes(9)], counts=[2]), 32)


@given(st.data())
def test_damaged_chunks_are_refused_or_read(draw):
    """Any bytes give values or a LanceError."""
    run = run_of([split([1, 2, 3], 32), split([4], 32)], counts=[3, 1])

    gives_values_or_refuses(lambda part: decode_streams(part, 32), damaged(draw, run))
