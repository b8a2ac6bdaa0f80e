"""Run lengths, encoded."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.rle import (
    encode_blocks,
    encode_mini,
    rle_encoding,
    runs_of,
    starts_of,
)

from .encoded_runs import decoded
from .runs import cursor_of


def test_long_runs_are_cut_at_255():
    """300 nines and 300 eights are runs of 255, 45, 255, 45."""
    values, lengths = runs_of(np.array([9] * 300 + [8] * 300, "<u8"), np.zeros(0, np.int64))

    assert values.tolist() == [9, 9, 8, 8]
    assert lengths.tolist() == [255, 45, 255, 45]


def test_runs_do_not_cross_chunks():
    """Four equal values in chunks of two are two runs."""
    blocks = encode_mini(np.array([7] * 4, "<u4"), np.array([2, 2]))

    (values, value_sizes), (lengths, length_sizes) = blocks.buffers
    assert values.view("<u4").tolist() == [7, 7]
    assert lengths.tolist() == [2, 2]
    assert (value_sizes.tolist(), length_sizes.tolist()) == ([4, 4], [1, 1])


def test_no_value_is_no_run():
    """An empty sequence has no start."""
    assert starts_of(np.zeros(0, "<u4")).tolist() == []


@given(st.lists(st.integers(0, 3), min_size=1, max_size=900), st.integers(0, 9))
def test_runs_of_chunks_come_back(values, log):
    """Whatever the chunks, the values are those that were written."""
    numbers = np.repeat(np.array(values, "<u2"), 1 + log)
    per_chunk = 1 << log
    counts = np.minimum(per_chunk, len(numbers) - np.arange(0, len(numbers), per_chunk))

    back = decoded(encode_mini(numbers, counts))

    assert back.data.view("<u2").tolist() == numbers.tolist()


def test_blocks_of_runs_stand_one_after_another():
    """Three chunks, one of them empty: runs end with the chunk, a long one is cut at 255."""
    data, sizes = encode_blocks(np.array([5] * 3 + [6] + [6] * 300, "<u2"), np.array([4, 0, 300]))

    assert [14, 8, 14] == sizes.tolist()
    assert [4, 5, 6, 3, 1] == [*data[:1], *data[8:12].view("<u2"), *data[12:14]]
    assert [0, 4, 6, 6, 255, 45] == [data[14], data[22], *data[30:34].view("<u2"), *data[34:]]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=900))
def test_a_block_of_runs_comes_back(values):
    """The size of the values lies before them."""
    data = encode_blocks(np.array(values, "<u2"), np.array([len(values)]))[0]

    back = decode_block(rle_encoding(16), cursor_of(bytes(data)), len(values))

    assert back.data.view("<u2").tolist() == values
