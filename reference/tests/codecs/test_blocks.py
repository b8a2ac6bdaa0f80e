"""Blocks: one buffer or those of many chunks, strings and lists, and what may not be a block."""

import pytest
from lanceref.codecs import blocks
from lanceref.codecs.blocks import decode_block, decode_levels
from lanceref.core.context import Context
from lanceref.core.errors import LimitExceeded, UnknownEncoding
from lanceref.core.limits import Limits

from .encodings import (
    constant,
    flat,
    fsst,
    general,
    inline,
    lists,
    out_of_line,
    range_,
    rle,
    variable,
)
from .runs import cursor_of, plain, run_of, words
from .test_bitpack import inline as pack_inline
from .test_bitpack import out_of_line as pack_out_of_line
from .test_fsst import table_bytes
from .test_general import compress
from .test_rle import frame
from .test_variable import block

TABLE = table_bytes([b"http"])

BLOCKS = [
    (flat(16), words([1, 0], 16), [1, 0]),
    (inline(16), pack_inline([1, 0], 16, 1), [1, 0]),
    (out_of_line(16, 1), pack_out_of_line([1, 0], 16, 1, True), [1, 0]),
    (out_of_line(16, 2), pack_out_of_line([1, 0], 16, 2, False), [1, 0]),
    (rle(flat(16), flat(8)), frame([(1, 1), (0, 1)]), [1, 0]),
    (general("zstd", flat(16)), compress("zstd", words([1, 0], 16)), [1, 0]),
]


@pytest.mark.parametrize(("encoding", "data", "wanted"), BLOCKS, ids=lambda e: str(e)[:30])
def test_levels_of_many_chunks_are_joined(encoding, data, wanted):
    """A block codec decodes the levels of every chunk, and a single buffer alike."""
    run = run_of([data, data], counts=[2, 2])

    assert wanted * 2 == decode_levels(encoding, run).tolist()
    assert wanted == plain(decode_block(encoding, cursor_of(data), 2))


def test_blocks_of_strings_and_lists():
    """Dictionaries hold strings, compressed or not, and lists."""
    texts = block([b"a", b"bc"], 32)

    assert [b"a", b"bc"] == plain(decode_block(variable(32), cursor_of(texts), 2))
    packed = cursor_of(compress("lz4_raw", texts))
    assert [b"a", b"bc"] == plain(decode_block(general("lz4_raw", variable(32)), packed, 2))
    assert [[1, 2]] == plain(decode_block(lists(2, flat(8)), cursor_of(b"\1\2"), 1))


def test_a_block_without_payload_takes_an_empty_cursor():
    """Constants and ranges lie in the description."""
    assert [3, 4] == plain(decode_block(range_(3, 1), cursor_of(b""), 2))


@pytest.mark.parametrize("encoding", [variable(32), fsst(TABLE, variable(32))])
def test_strings_are_blocks_of_a_single_buffer(encoding):
    """A dictionary of strings is one buffer; two of them are no run of levels, codes no block."""
    data = block([b"a"], 32)

    with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.context"):
        blocks.decode_blocks(encoding, run_of([data, data], counts=[1, 1]))


def test_integers_come_in_one_width():
    """Positions of any width come as 64-bit integers; strings are none."""
    assert [1, 2] == blocks.integers(flat(16), run_of([words([1, 2], 16)], counts=[2])).tolist()
    assert [] == blocks.integers(constant(), run_of([b""], counts=[0])).tolist()
    with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.context"):
        blocks.integers(variable(32), run_of([block([b"a"], 32)], counts=[1]))
    with pytest.raises(UnknownEncoding, match=r"L\.codec\.encoding\.context"):
        blocks.integers(flat(24), run_of([bytes(3)], counts=[1]))


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        (constant(5), b""),
        (range_(0, 1), b""),
        (rle(flat(64), flat(32)), words([8, 0], 64) + words([10**6], 32)),
        (out_of_line(64, 0), b""),
    ],
)
def test_a_few_bytes_expand_only_as_far_as_the_limits_allow(encoding, data):
    """A million values from almost no bytes are refused where the caller allows 1 000 bytes."""
    ctx = Context("test.lance", limits=Limits(expansion_bytes=1000, expansion_factor=1))

    with pytest.raises(LimitExceeded, match=r"L\.codec\.limits\.expansion"):
        decode_block(encoding, cursor_of(data, ctx), 10**6)
