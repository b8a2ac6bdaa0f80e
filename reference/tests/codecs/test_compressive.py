"""The three ways of calling: what stands where, and what is refused there."""

import numpy as np
import pytest
from lanceref.codecs.blocks import decode_block, decode_levels
from lanceref.codecs.compressive import (
    decode_mini,
    decode_zip_fixed,
    decode_zip_variable,
    num_buffers,
)
from lanceref.core.errors import CorruptPage, UnknownEncoding

from .encodings import (
    delta,
    flat,
    fsst,
    general,
    inline,
    lists,
    out_of_line,
    packed_struct,
    range_,
    rle,
    split,
    variable,
)
from .runs import CTX, PLACE, cursor_of, leaves, plain, recording, run_of, words
from .test_bitpack import inline as pack_inline
from .test_byte_stream_split import split as split_bytes
from .test_fsst import strings, table_bytes
from .test_general import compress
from .test_variable import block, chunk


@pytest.mark.parametrize(
    ("encoding", "buffers"),
    [
        (flat(32), 1),
        (rle(flat(32), flat(8)), 2),
        (general("zstd", rle(flat(32), flat(8))), 2),
        (lists(3, lists(2, flat(8), True), True), 3),
        (lists(3, flat(8)), 1),
        (variable(32), 1),
        (variable(range_(0, 4, 32)), 1),
        (variable(delta(0, out_of_line(32, 3), 32)), 2),
        (fsst(b"", variable(delta(0, flat(32), 32))), 2),
    ],
)
def test_the_number_of_buffers_follows_from_the_description(encoding, buffers):
    """A chunk has as many value buffers as its encoding says."""
    assert buffers == num_buffers(encoding)


TABLE = table_bytes([b"http"])

MINI = [
    (flat(16), [words([5, 6], 16)], [5, 6]),
    (inline(16), [pack_inline([5, 6], 16, 3)], [5, 6]),
    (split(flat(32)), [split_bytes([5, 6], 32)], [5, 6]),
    (general("lz4_raw", split(flat(32))), [compress("lz4_raw", split_bytes([5, 6], 32))], [5, 6]),
    (rle(flat(16), flat(8)), [words([5, 6], 16), b"\1\1"], [5, 6]),
    (
        general("zstd", rle(flat(16), flat(8))),
        [compress("zstd", words([5, 6], 16)), b"\1\1"],
        [5, 6],
    ),
    (variable(64), [chunk([b"a", b"bc"], 64)], [b"a", b"bc"]),
    (general("zstd", variable(32)), [compress("zstd", chunk([b"a", b"bc"], 32))], [b"a", b"bc"]),
    (variable(range_(0, 2, 32)), [b"abcd"], [b"ab", b"cd"]),
    (variable(delta(0, flat(32), 32)), [words([1, 2], 32), b"abc"], [b"a", b"bc"]),
    (fsst(TABLE, variable(32)), [chunk([b"\0\xffs", b""], 32)], [b"https", b""]),
    (fsst(TABLE, variable(range_(0, 1, 32))), [b"\0\0"], [b"http", b"http"]),
    (lists(2, flat(8)), [b"\1\2\3\4"], [[1, 2], [3, 4]]),
    (packed_struct([8, 16], flat(24)), [b"\1\2\0\3\4\0"], [(1, 2), (3, 4)]),
]


@pytest.mark.parametrize(("encoding", "buffers", "wanted"), MINI, ids=lambda e: str(e)[:30])
def test_chunks_decode_as_the_description_says(encoding, buffers, wanted):
    """Two chunks of two values each, of every encoding; every byte of a buffer has an owner."""
    ctx = recording()
    run = run_of(*([buffer, buffer] for buffer in buffers), counts=[2, 2], ctx=ctx)

    assert wanted * 2 == plain(decode_mini(encoding, run))
    owned = {at for start, end, _, _ in leaves(ctx) for at in range(start, end)}
    stored = {
        at
        for start, size in zip(run.starts.ravel().tolist(), run.sizes.ravel().tolist())
        for at in range(start, start + size)
    }
    assert stored == owned
    assert sum(end - start for start, end, _, _ in leaves(ctx)) == len(owned)


def test_values_zipped_one_by_one():
    """Fixed values are their bytes; variable ones are decoded each on its own."""
    rows = np.frombuffer(words([5, 6], 32), np.uint8).reshape(2, 4)
    texts = strings([b"\0", b"\xffx"])
    packed = strings([compress("zstd", b"ab"), compress("zstd", b"")])

    assert [5, 6] == plain(decode_zip_fixed(flat(32), rows, CTX, PLACE))
    assert [b"\0", b"\xffx"] == plain(decode_zip_variable(variable(32), texts, CTX, PLACE))
    assert [b"http", b"x"] == plain(
        decode_zip_variable(fsst(TABLE, variable(32)), texts, CTX, PLACE)
    )
    assert [b"ab", b""] == plain(
        decode_zip_variable(general("zstd", variable(32)), packed, CTX, PLACE)
    )


def test_encodings_out_of_place_are_refused():
    """An encoding that cannot lie where it lies is named, not misread."""
    run, clause = run_of([bytes(8)], counts=[1]), r"L\.codec\.encoding\.context"
    rows = np.zeros((1, 4), np.uint8)
    with pytest.raises(UnknownEncoding, match=clause):
        decode_mini(out_of_line(16, 3), run)
    with pytest.raises(UnknownEncoding, match=clause):
        decode_levels(variable(32), run_of([block([b"a"], 32)], counts=[1]))
    with pytest.raises(UnknownEncoding, match=clause):
        decode_levels(flat(64), run)
    with pytest.raises(UnknownEncoding, match=clause):
        decode_block(packed_struct([8], flat(8)), cursor_of(b"\1"), 1)
    with pytest.raises(UnknownEncoding, match=clause):
        decode_zip_variable(flat(8), strings([b"a"]), CTX, PLACE)
    with pytest.raises(UnknownEncoding, match=clause):
        decode_zip_fixed(inline(32), rows, CTX, PLACE)
    with pytest.raises(CorruptPage, match=r"L\.codec\.flat\.size"):
        decode_zip_fixed(flat(64), rows, CTX, PLACE)
