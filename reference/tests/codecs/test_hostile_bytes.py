"""Hostile bytes: what each codec refuses, where it says so, and what it never allocates."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from lanceref.codecs.compressive import (
    decode_block,
    decode_blocks,
    decode_mini,
)
from lanceref.core.context import Context
from lanceref.core.errors import CorruptPage, LimitExceeded
from lanceref.core.limits import Limits

from .encodings import (
    constant,
    dictionary,
    flat,
    general,
    inline,
    lists,
    out_of_line,
    range_,
    rle,
    split,
)
from .encodings import variable as strings
from .runs import (
    cursor_of,
    damaged,
    gives_values_or_refuses,
    run_of,
    words,
)
from .slow_forms import (
    compress,
    dictionary_frame,
    pack_block,
    pack_inline,
    pack_out_of_line,
    run_frame,
    run_parts,
    string_block,
    string_chunk,
)

RUNS, FRAME = rle(flat(16), flat(8)), dictionary(flat(32), flat(64), 3)
TRIPLES = lists(3, flat(16), True)


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


def _run(*chunks, counts):
    return run_of(*zip(*chunks), counts=counts)


DAMAGED = {
    "bits": (flat(1), _run([bytes(40)], [bytes(8)], counts=[320, 64])),
    "numbers": (flat(24), _run([bytes(39)], [bytes(6)], counts=[13, 2])),
    "streams": (split(flat(32)), _run([bytes(12)], [bytes(4)], counts=[3, 1])),
    "packed": (
        inline(32),
        _run([pack_inline([1] * 9, 32, 2)], [pack_inline([3], 32, 3)], counts=[9, 1]),
    ),
    "runs": (
        RUNS,
        _run(run_parts([(1, 2), (2, 255)])[:2], run_parts([(3, 1)])[:2], counts=[257, 1]),
    ),
    "lz4": (
        general("lz4_raw", flat(8)),
        _run([compress("lz4_raw", b"ab" * 40)], [compress("lz4_raw", b"c")], counts=[80, 1]),
    ),
    "zstd": (
        general("zstd", flat(8)),
        _run([compress("zstd", b"ab" * 40)], [compress("zstd", b"c")], counts=[80, 1]),
    ),
    "strings": (
        strings(32),
        _run([string_chunk([b"ab", b"", b"cde"], 32)], [string_chunk([b"f"], 32)], counts=[3, 1]),
    ),
    "wide strings": (
        strings(64),
        _run([string_chunk([b"ab", b"", b"cde"], 64)], [string_chunk([b"f"], 64)], counts=[3, 1]),
    ),
    "lists": (TRIPLES, _run([b"\x07", bytes(6)], [b"\x3f", bytes(12)], counts=[1, 2])),
    "blocks of packed": (
        out_of_line(16, 2),
        _run(
            [pack_out_of_line([1] * 1030, 16, 2, True)],
            [pack_block([1] * 1024, 16, 2)],
            counts=[1030, 100],
        ),
    ),
    "frames of runs": (
        RUNS,
        _run([run_frame([(1, 2), (2, 255)])], [run_frame([(3, 1)])], counts=[257, 1]),
    ),
    "dictionaries": (
        FRAME,
        _run(
            [dictionary_frame([2, 0, 2], [5, 6, 7])],
            [dictionary_frame([1], [8, 9, 1])],
            counts=[3, 1],
        ),
    ),
    "block of strings": (strings(64), _run([string_block([b"ab", b"", b"cde"], 64)], counts=[3])),
}
"""Description, and sound chunks; the last ones are blocks."""


@pytest.mark.parametrize("name", DAMAGED)
@given(draw=st.data())
@settings(max_examples=60)
def test_damaged_chunks_are_refused_or_read(name, draw):
    """Any bytes, sizes and counts give values or a LanceError with clause, place and words."""
    encoding, run = DAMAGED[name]
    decode = decode_blocks if list(DAMAGED).index(name) >= 10 else decode_mini

    gives_values_or_refuses(lambda part: decode(encoding, part), damaged(draw, run))
