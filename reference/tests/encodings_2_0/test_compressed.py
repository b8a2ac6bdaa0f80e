"""Compressed flat buffers."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, LimitExceeded, UnknownEncoding
from lanceref.core.limits import Limits

from .building import Column, Page, binary, flat, open_built, read_built, taken, words

PLAIN = bytes(range(200)) * 2
ZSTD = pa.Codec("zstd").compress(PLAIN, asbytes=True)
LZ4 = pa.Codec("lz4_raw").compress(PLAIN, asbytes=True)


@pytest.mark.parametrize(
    ("scheme", "stored"),
    [
        ("zstd", words(400) + ZSTD),
        ("zstd", ZSTD),
        ("lz4", (400).to_bytes(4, "little") + LZ4),
        ("none", PLAIN),
    ],
    ids=["zstd", "bare zstd frame", "lz4", "none"],
)
def test_every_form_of_compression_is_read(scheme, stored):
    """zstd with or without the size, lz4 with it, and none."""
    column = open_built(pa.uint8(), [Column([Page(flat(8, scheme=scheme), 400, [stored])])])

    assert PLAIN == bytes(next(column.scan(0, 400)).buffers()[1])
    assert [0, 199, 0] == taken(column, 0, 199, 200)


def test_compressed_strings_take_their_size_from_the_last_end():
    """The bytes of strings are as many as the last row's end says."""
    ends = words(3, 200, 400 + 401)
    page = Page(binary(401, scheme="zstd"), 3, [ends, ZSTD])
    column = open_built(pa.binary(), [Column([page])])

    assert [PLAIN[:3], PLAIN[3:200], None] == next(column.scan(0, 3)).to_pylist()
    assert [PLAIN[3:200]] == taken(column, 1)


def test_a_size_that_is_not_the_one_needed_is_refused():
    """The size in front of the block is the size of the values."""
    with pytest.raises(CorruptPage, match=r"L\.array\.flat\.compressed-size"):
        read_built(pa.uint8(), flat(8, scheme="zstd"), 400, words(2**40) + ZSTD)


def test_a_damaged_block_is_refused():
    """The codec's own error becomes one with clause and place."""
    damaged = words(400) + ZSTD[:-9] + bytes(9)

    with pytest.raises(CorruptPage, match=r"L\.array\.flat\.compressed-block"):
        read_built(pa.uint8(), flat(8, scheme="zstd"), 400, damaged)


def test_an_lz4_block_that_falls_short_is_refused():
    """The codec does not say that it filled less than the size in front of the block."""
    short = pa.Codec("lz4_raw").compress(PLAIN[:-1], asbytes=True)

    with pytest.raises(CorruptPage, match="a block that ends early"):
        read_built(pa.uint8(), flat(8, scheme="lz4"), 400, (400).to_bytes(4, "little") + short)


def test_an_unknown_scheme_is_not_supported():
    """Schemes other than zstd, lz4 and none are refused as unknown."""
    with pytest.raises(UnknownEncoding, match=r"L\.array\.flat\.compression"):
        read_built(pa.uint8(), flat(8, scheme="bogus"), 400, PLAIN)


def test_more_bytes_than_the_limits_allow_are_refused_before_they_are_made():
    """The expansion of a block is bounded by the caller's limits."""
    page = Page(flat(8, scheme="zstd"), 2**30, [words(2**30) + ZSTD])
    limits = Limits(expansion_bytes=2**20)

    with pytest.raises(LimitExceeded):
        taken(open_built(pa.uint8(), [Column([page])], limits=limits), 0)


def test_rows_of_two_pages_with_compressed_ends_are_taken():
    """What the first page has read already to know its size is not the second page's."""
    ends = pa.Codec("zstd").compress(words(3, 200, 400), asbytes=True)
    encoding = binary(401, scheme="zstd")
    encoding.binary.indices.CopyFrom(flat(64, scheme="zstd"))
    page = Page(encoding, 3, [ends, ZSTD])
    column = open_built(pa.binary(), [Column([page, page])])

    assert [PLAIN[:3], PLAIN[200:]] == taken(column, 0, 5)


def test_a_block_of_no_values_is_owned_too():
    """Checking decompresses it, and its bytes have an owner."""
    nothing = words(0) + pa.Codec("zstd").compress(b"", asbytes=True)

    with pytest.raises(CorruptPage, match=r"L\.array\.flat\.compressed-block"):
        open_built(
            pa.uint8(), [Column([Page(flat(8, scheme="zstd"), 0, [nothing[:-1] + b"\xff"])])]
        ).check()
