"""Variable-width values, encoded."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.variable import (
    chunk_counts,
    encode_block,
    encode_mini,
    variable_encoding,
)

from .encoded_runs import decoded, texts_of, variable
from .runs import cursor_of

TEXTS = st.lists(st.binary(max_size=20), min_size=1, max_size=60)


def test_a_chunk_is_offsets_bytes_and_padding():
    """['ab', '', 'c']: four offsets from 16, three bytes, one byte of padding."""
    blocks = encode_mini(variable([b"ab", b"", b"c"]), 32, np.array([3]))

    data, sizes = blocks.buffers[0]
    assert data[:16].view("<u4").tolist() == [16, 18, 18, 19]
    assert bytes(data[16:]) == b"abcH"
    assert sizes.tolist() == [20]


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        ([b"x" * 100] * 5, [5]),
        ([b"x" * 100] * 80, [32, 32, 16]),
        ([b"x" * 3000] * 4, [2, 2]),
        ([b""] * 1500, [512, 988]),
        ([b"a"], [1]),
        ([b"x" * 3000] * 3, [2, 1]),
    ],
)
def test_chunks_aim_at_4096_bytes(texts, counts):
    """2, 4, 8, … values while they fit; the rest is one chunk when it does."""
    assert chunk_counts(variable(texts), 32, 4096, 4096).tolist() == counts


def test_a_chunk_holds_no_more_values_than_allowed():
    """Empty strings could go on; the number of values bounds them."""
    assert chunk_counts(variable([b""] * 100), 32, 1 << 20, 32).tolist() == [32, 32, 32, 4]


@given(TEXTS, st.sampled_from([32, 64]), st.integers(0, 5))
def test_strings_of_any_chunks_come_back(texts, bits, log):
    """Offsets of both widths, chunks of any power of two."""
    counts = np.minimum(1 << log, len(texts) - np.arange(0, len(texts), 1 << log))

    assert texts_of(decoded(encode_mini(variable(texts), bits, counts))) == texts


@given(TEXTS, st.sampled_from([32, 64]))
def test_a_block_of_strings_comes_back(texts, bits):
    """The form of dictionaries."""
    data = encode_block(variable(texts), bits)

    back = decode_block(variable_encoding(bits), cursor_of(data), len(texts))

    assert texts_of(back) == texts


def test_the_dictionary_block_of_the_chapter():
    """'cat' and 'dog': 32 bits, bytes at 20, offsets 0, 3, 6."""
    data = encode_block(variable([b"cat", b"dog"]), 32)

    assert np.frombuffer(data[:20], "<u4").tolist() == [32, 20, 0, 3, 6]
    assert data[20:] == b"catdog"
