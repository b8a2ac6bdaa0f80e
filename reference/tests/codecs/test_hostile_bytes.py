"""Hostile bytes: what each codec refuses, where it says so, and what it never allocates."""

from contextlib import nullcontext

import lanceref
import numpy as np
import pyarrow as pa
import pytest
from lanceref.codecs.blocks import decode_block
from lanceref.codecs.buffers import remaining_buffer
from lanceref.codecs.compressive import decode_mini
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, LimitExceeded
from lanceref.core.limits import Limits

from .encodings import constant, delta, flat, general, out_of_line, range_, rle
from .encodings import variable as strings
from .runs import buffers_of, cursor_of, words


def test_an_lz4_block_that_falls_short_is_refused_whatever_the_room_held_before():
    """The end of the block lies where the last one, just freed, left the same bytes."""
    good, encoding = np.random.default_rng(1).bytes(400), general("lz4_raw", flat(8))

    def stored(data):
        """A literal of 270 to 524 bytes after the size 400."""
        return words([400], 32) + b"\xf0\xff" + bytes([len(data) - 270]) + data

    for _ in range(5):
        found = decode_mini(encoding, buffers_of([stored(good)]), 400)
        assert good == found.data.tobytes()
        with pytest.raises(CorruptPage, match="a block that ends early"):
            decode_mini(encoding, buffers_of([stored(good[8:])]), 400)


@pytest.mark.parametrize("plain", [True, False])
def test_the_chunks_of_a_run_share_the_budget(tmp_path, plain):
    """Many chunks that each stay below the limit are refused when together they do not."""
    zstd = {"lance-encoding:compression": "zstd", "lance-encoding:rle-threshold": "0"}
    field = pa.field("c", pa.float64(), metadata=zstd)
    rows = pa.table([np.arange(10_000) % 7 / 3], schema=pa.schema([field]))
    lanceref.write_file(tmp_path / "c.lance", rows)
    size = (tmp_path / "c.lance").stat().st_size

    for expansion, refused in ((8 * 10_000 + 1000, False), (40_000, True)):
        limits = Limits(expansion_bytes=expansion - size, expansion_factor=1)
        file = lanceref.open_file(tmp_path / "c.lance", limits=limits)
        with pytest.raises(LimitExceeded) if refused else nullcontext():
            assert file.read(plain=plain) == rows


def test_a_bare_frame_is_read_up_to_the_limit():
    """A zstd frame that does not state its size stops at the budget."""
    frame = pa.Codec("zstd").compress(bytes(5_000_000), asbytes=True)
    limits = Limits(expansion_bytes=1_000_000, expansion_factor=0)
    buffers = buffers_of([frame], Context("test.lance", limits=limits))
    with pytest.raises(LimitExceeded):
        decode_mini(general("zstd", flat(8)), buffers, 5_000_000)


REFUSED = [
    (strings(32), words([32, 20, 1, 3, 6], 32) + b"catdog", "variable.offsets", "offsets [1, 3"),
    (strings(32), b" " + words([2, 21, 1, 3, 6], 32) + b"catdog", "variable.offsets", "offsets [1"),
    (delta(2**64 - 1, flat(64)), words([1], 64), "delta.overflow", f"{2**64}"),
    (delta(2**32 - 1, flat(32), 32), words([1], 32), "delta.overflow", f"{2**32}"),
    (general("zstd", flat(8)), words([2], 64), "general.size", "zstd: "),
]
"""Description, bytes, clause, and how what is found begins."""


@pytest.mark.parametrize(("encoding", "data", "clause", "found"), REFUSED)
def test_a_block_is_refused_by_its_clause(encoding, data, clause, found):
    """A first offset above 0 under either header, a sum above the words, a size without a frame."""
    with pytest.raises(CorruptPage) as caught:
        decode_block(encoding, remaining_buffer(cursor_of(data)), 2)
    assert f"L.codec.{clause}" == caught.value.clause
    assert f"{caught.value.found}".startswith(found)


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
        decode_block(encoding, remaining_buffer(cursor_of(data, ctx)), 10**6)
