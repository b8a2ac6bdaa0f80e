"""General compression: prefixes, bare frames, sizes that lie."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from lanceref.codecs import flat, general
from lanceref.codecs.values import Variable
from lanceref.core.context import Context
from lanceref.core.errors import BytesError, CorruptPage, LimitExceeded, UnknownEncoding
from lanceref.core.limits import Limits
from lanceref.proto.encodings_v2_1_pb2 import General

from .runs import CTX, PLACE, damaged, gives_values_or_refuses, leaves, plain, recording, run_of

PREFIX = {"lz4_raw": 4, "zstd": 8}
CODECS = ["lz4_raw", "zstd"]


def compress(name, data, size=None):
    """Compress with a prefix that says `size`, or the truth."""
    prefix = (len(data) if size is None else size).to_bytes(PREFIX[name], "little")
    return prefix + pa.Codec(name).compress(data, asbytes=True)


def decompress(name, raw, budget):
    """Decompress one buffer."""
    data, ends = np.frombuffer(raw, np.uint8), np.array([len(raw)])
    out, sizes = general.decompress(
        name, data, np.zeros(1, np.int64), ends, lambda _: PLACE, budget
    )
    assert [len(out)] == sizes.tolist()
    return out


@given(st.binary(max_size=300), st.sampled_from(CODECS))
def test_any_bytes_come_back(data, name):
    """What the codec compressed after its size is what comes out."""
    assert data == decompress(name, compress(name, data), 300).tobytes()


@given(st.binary(max_size=300))
def test_a_bare_zstd_frame_is_read(data):
    """A frame without a size before it, as old writers stored it, is known by its magic."""
    frame = pa.Codec("zstd").compress(data, asbytes=True)

    assert data == decompress("zstd", frame, 300).tobytes()


def test_a_bare_frame_is_read_up_to_the_limit():
    """A frame that does not say its size stops at the budget."""
    frame = pa.Codec("zstd").compress(bytes(5_000_000), asbytes=True)

    with pytest.raises(LimitExceeded):
        decompress("zstd", frame, 1_000_000)


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("data", [bytes(range(100)) * 3, bytes(300), b"ab", b""])
@pytest.mark.parametrize("off", [-1, 1, 7, 1000])
def test_a_size_that_is_not_the_real_one_is_refused(name, data, off):
    """The prefix is the uncompressed size, not one byte more or less."""
    if len(data) + off < 0:
        return
    with pytest.raises(CorruptPage, match=r"L\.codec\.general\.size"):
        decompress(name, compress(name, data, len(data) + off), 10**6)


def _literal(data):
    """An lz4 block of 270 to 524 bytes that stand for themselves."""
    return b"\xf0\xff" + bytes([len(data) - 270]) + data


def test_an_lz4_block_that_falls_short_is_refused_whatever_the_room_held_before():
    """The end of the block lies where the last one, just freed, left the same bytes."""
    prefix, good = (400).to_bytes(4, "little"), np.random.default_rng(1).bytes(400)
    for _ in range(5):
        assert good == decompress("lz4_raw", prefix + _literal(good), 10**6).tobytes()
        with pytest.raises(CorruptPage, match="a block that ends early"):
            decompress("lz4_raw", prefix + _literal(good[8:]), 10**6)


@pytest.mark.parametrize("name", CODECS)
def test_a_huge_size_is_refused_before_anything_is_allocated(name):
    """A prefix of 4 GB over a few bytes is not believed."""
    with pytest.raises((CorruptPage, LimitExceeded), match=r"L\.codec\.general\.size"):
        decompress(name, compress(name, b"abc", 2**32 - 1), 10**6)


def test_the_chunks_of_a_run_share_the_budget():
    """Many chunks that each stay below the limit are refused when together they do not."""
    limits = Limits(expansion_bytes=1000, expansion_factor=0)
    run = run_of([compress("zstd", bytes(400))] * 3, counts=[400] * 3)
    run = replace(run, ctx=Context("test.lance", limits=limits))

    with pytest.raises(LimitExceeded) as caught:
        general.decompress_run("zstd", run)

    assert run.place(0, 2).offset == caught.value.offset


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("raw", [b"", b"\x01\x00\x00"])
def test_a_buffer_without_room_for_a_size_is_refused(name, raw):
    """Every compressed buffer starts with its size."""
    with pytest.raises(CorruptPage, match=r"L\.codec\.general\.frame"):
        decompress(name, raw, 100)


def test_an_unknown_scheme_is_named():
    """A scheme other than lz4 and zstd is unknown, not corrupt."""
    with pytest.raises(UnknownEncoding, match=r"L\.codec\.general\.scheme"):
        general.codec_name(General(), PLACE)


@pytest.mark.parametrize("name", CODECS)
def test_only_the_first_buffer_of_a_chunk_is_compressed(name):
    """The other buffers stay, with their places in the file; errors name the compressed bytes."""
    ctx = recording()
    first = [compress(name, b"ab"), compress(name, b"cde")]
    run = run_of(first, [b"12", b"345"], counts=[2, 3], ctx=ctx)

    expanded = general.decompress_run(name, run)

    assert [b"ab", b"cde"] == [expanded.bytes_of(0, chunk).tobytes() for chunk in (0, 1)]
    assert [b"12", b"345"] == [expanded.bytes_of(1, chunk).tobytes() for chunk in (0, 1)]
    assert run.place(0, 1) == expanded.place(0, 1)
    assert run.place(1, 1) == expanded.place(1, 1)
    flat.decode(expanded.only(0), 8)
    flat.decode(expanded.only(1), 8)
    names = [(name, kind) for _, _, name, kind in leaves(ctx)]
    kind = "lz4 block" if name == "lz4_raw" else "zstd frame"
    size = ("uncompressed size", f"u{8 * PREFIX[name]}")
    assert [size, ("compressed", kind)] * 2 + [("values", "u8[]")] * 2 == names


@given(st.lists(st.binary(max_size=40)), st.sampled_from(CODECS))
def test_values_compressed_one_by_one_come_back(values, name):
    """Each value of a full-zip page is a buffer of its own."""
    stored = [compress(name, value) for value in values]
    offsets = np.cumsum([0, *map(len, stored)]).astype(np.int64)
    packed = Variable(offsets, np.frombuffer(b"".join(stored), np.uint8))

    assert values == plain(general.decompress_each(name, packed, CTX, PLACE))


@given(st.data(), st.sampled_from(CODECS))
@settings(max_examples=200)
def test_damaged_chunks_are_refused_or_read(draw, name):
    """Any bytes give values or a LanceError."""
    run = run_of([compress(name, b"ab" * 40), compress(name, b"c")], counts=[80, 1])

    gives_values_or_refuses(
        lambda part: flat.decode(general.decompress_run(name, part), 8), damaged(draw, run)
    )


@given(st.binary(max_size=60), st.sampled_from(CODECS))
def test_any_bytes_are_refused_or_decompressed(raw, name):
    """Whatever the bytes, only a LanceError escapes."""
    try:
        out = decompress(name, raw, 10_000)
    except BytesError as error:
        assert error.clause.startswith("L.codec.general.")
    else:
        assert len(out) <= 10_000
