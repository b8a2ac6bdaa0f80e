"""Hostile bytes: what each codec refuses, where it says so, and what it never allocates."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.compressive import decode_mini
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, LimitExceeded
from lanceref.core.limits import Limits

from .encodings import constant, flat, general, out_of_line, range_, rle
from .runs import cursor_of, run_of, words
from .slow_forms import compress


def test_an_lz4_block_that_falls_short_is_refused_whatever_the_room_held_before():
    """The end of the block lies where the last one, just freed, left the same bytes."""
    good, encoding = np.random.default_rng(1).bytes(400), general("lz4_raw", flat(8))

    def stored(data):
        """A literal of 270 to 524 bytes after the size 400."""
        return words([400], 32) + b"\xf0\xff" + bytes([len(data) - 270]) + data

    for _ in range(5):
        found = decode_mini(encoding, run_of([stored(good)], counts=[400]))
        assert good == found.data.tobytes()
        with pytest.raises(CorruptPage, match="a block that ends early"):
            decode_mini(encoding, run_of([stored(good[8:])], counts=[400]))


def test_the_chunks_of_a_run_share_the_budget():
    """Many chunks that each stay below the limit are refused when together they do not."""
    limits = Limits(expansion_bytes=1000, expansion_factor=0)
    run = run_of([compress("zstd", bytes(400))] * 3, counts=[400] * 3)
    with pytest.raises(LimitExceeded) as caught:
        decode_mini(
            general("zstd", flat(8)), replace(run, ctx=Context("test.lance", limits=limits))
        )

    assert run.place(0, 2).offset == caught.value.offset


def test_a_bare_frame_is_read_up_to_the_limit():
    """A zstd frame that does not state its size stops at the budget."""
    frame = pa.Codec("zstd").compress(bytes(5_000_000), asbytes=True)
    limits = Limits(expansion_bytes=1_000_000, expansion_factor=0)
    run = run_of([frame], counts=[5_000_000], ctx=Context("test.lance", limits=limits))
    with pytest.raises(LimitExceeded):
        decode_mini(general("zstd", flat(8)), run)


EXPANDING = [
    (constant(5), b""),
    (range_(0, 1), b""),
    (rle(flat(64), flat(32)), words([8, 0], 64) + words([10**6], 32)),
    (out_of_line(64, 0), b""),
]


@pytest.mark.parametrize(("encoding", "data"), EXPANDING)
def test_a_few_bytes_expand_only_as_far_as_the_limits_allow(encoding, data):
    """A million values from almost no bytes are refused where the caller allows 1 000 bytes."""
    ctx = Context("test.lance", limits=Limits(expansion_bytes=1000, expansion_factor=1))
    with pytest.raises(LimitExceeded, match=r"L\.codec\.limits\.expansion"):
        decode_block(encoding, cursor_of(data, ctx), 10**6)
