"""Bitpacking, encoded."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from lanceref.codecs.bitpack import (
    BLOCK,
    block_widths,
    blocks_of,
    encode_inline,
    encode_inline_chunks,
    encode_out_of_line,
    inline_encoding,
    out_of_line_bytes,
    out_of_line_encoding,
    pack,
    tail_is_packed,
    unpack,
)
from lanceref.codecs.blocks import decode_block

from .encoded_runs import decoded
from .runs import cursor_of


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_every_width_unpacks_to_what_was_packed(bits):
    """Widths 0 to T: two blocks of random values come back."""
    numbers = np.random.default_rng(bits).integers(0, 2**64, (2, BLOCK), np.uint64)
    for width in range(bits + 1):
        mask = np.uint64((1 << width) - 1)
        blocks = (numbers & mask).astype(f"<u{bits // 8}")
        out = np.empty_like(blocks)
        unpack(pack(blocks, width), width, out)
        assert np.array_equal(out, blocks), width


def test_the_worked_block_is_packed_byte_for_byte():
    """[5, 0, 3] over and over at width 3: the first bytes are 1d 3a 74 e8."""
    values = np.array([5, 0, 3] * 400, "<u4")[:BLOCK]

    blocks = encode_inline(values)

    assert bytes(blocks.buffers[0][0][:8]) == bytes.fromhex("03000000 1d3a74e8")
    assert blocks.buffers[0][1].tolist() == [4 + 3 * 128]


def test_each_block_has_its_own_width():
    """Zeros take the width word alone; the last block may be short."""
    values = np.array([0] * BLOCK + [7] * 10, "<u2")

    assert block_widths(values).tolist() == [0, 3]
    assert encode_inline(values).buffers[0][1].tolist() == [2, 2 + 3 * 128]
    assert decoded(encode_inline(values)).data.view("<u2").tolist() == values.tolist()


@given(st.integers(1, 3000), st.integers(0, 12), st.integers(0, 4))
def test_inline_blocks_may_be_wider_than_needed(count, width, extra):
    """Any width from what the values need up to T gives them back."""
    values = np.random.default_rng(count).integers(0, 1 << width, count).astype("<u2")

    blocks = encode_inline(values, np.minimum(block_widths(values) + extra, 16))

    assert decoded(blocks).data.view("<u2").tolist() == values.tolist()


@given(st.integers(1, 3000), st.integers(1, 15))
def test_out_of_line_blocks_come_back(count, width):
    """With a raw tail and with a packed one; the size is what was foretold."""
    values = np.random.default_rng(count).integers(0, 1 << width, count).astype("<u2")

    data = encode_out_of_line(values, np.array([count]), width)[0]

    assert len(data) == out_of_line_bytes(count, 16, width)
    back = decode_block(out_of_line_encoding(16, width), cursor_of(bytes(data)), count)
    assert back.data.view("<u2").tolist() == values.tolist()


def test_a_tail_is_packed_when_that_is_smaller():
    """At width 3 of 16 a tail of 200 values is packed, one of 100 stays raw."""
    assert tail_is_packed(200, 16, 3)
    assert not tail_is_packed(100, 16, 3)
    counts = np.array([BLOCK + 100, BLOCK + 200])
    _, sizes = encode_out_of_line(np.zeros(counts.sum(), "<u2"), counts, 3)
    assert sizes.tolist() == [384 + 200, 2 * 384]


def test_a_block_alone_is_its_width_and_words():
    """A block of at most 1,024 values decodes with the inline description."""
    values = np.array([1, 2, 3], "<u8")

    data = encode_inline_chunks(values, np.array([3]))[0]

    back = decode_block(inline_encoding(64), cursor_of(bytes(data)), 3)
    assert back.data.view("<u8").tolist() == [1, 2, 3]


def test_short_blocks_are_padded_with_zeros():
    """1,025 values are two blocks."""
    blocks = blocks_of(np.ones(BLOCK + 1, "<u4"))

    assert blocks.shape == (2, BLOCK)
    assert int(blocks[1].sum()) == 1
