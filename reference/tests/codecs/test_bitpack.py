"""FastLanes bitpacking: the worked block, a scalar packer for every width, tails, damage."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import bitpack
from lanceref.core.errors import CorruptPage
from lanceref.fast import bitpacking

from .runs import damaged, gives_values_or_refuses, leaves, plain, recording, run_of, words

SLOTS = [(bits, width) for bits in bitpack.WIDTHS for width in range(bits + 1)]


def pack_block(values, bits, width):
    """Pack 1 024 values value by value: the slow clear form."""
    order = (0, 4, 2, 6, 1, 5, 3, 7)
    lanes = 1024 // bits
    packed = [0] * (width * lanes)
    for lane in range(lanes):
        stream = 0
        for row in range(bits):
            value = values[order[row // 8] * 16 + (row % 8) * 128 + lane]
            stream |= value << (row * width)
        for word in range(width):
            packed[word * lanes + lane] = stream >> (word * bits) & ((1 << bits) - 1)
    return words(packed, bits)


def inline(values, bits, width):
    """Write an inline chunk: the width, then the padded block."""
    padded = [*values, *[0] * (1024 - len(values))]
    return words([width], bits) + pack_block(padded, bits, width)


def out_of_line(values, bits, width, raw):
    """Write whole blocks, then a raw or a padded tail."""
    whole = len(values) // 1024 * 1024
    packed = [pack_block(values[i : i + 1024], bits, width) for i in range(0, whole, 1024)]
    tail = values[whole:]
    if tail:
        padded = [*tail, *[0] * (1024 - len(tail))]
        packed.append(words(tail, bits) if raw else pack_block(padded, bits, width))
    return b"".join(packed)


def some_values(count, width, seed):
    """Return values of at most `width` bits, the largest among them."""
    rng = np.random.default_rng(seed)
    values = [int.from_bytes(rng.bytes(8), "little") & ((1 << width) - 1) for _ in range(count)]
    if count:
        values[-1] = (1 << width) - 1
    return values


def test_the_worked_block_of_the_chapter():
    """`[5, 0, 3] * 400` packs to three bits; lane 0 begins 5, 3, 0, 5: its first byte is 1d."""
    values = [5, 0, 3] * 400
    first, last = inline(values[:1024], 32, 3), inline(values[1024:], 32, 3)

    assert b"\x03\x00\x00\x00\x1d" == first[:5]
    assert 388 == len(first)
    run = run_of([first, last], counts=[1024, 176])
    assert values == plain(bitpack.decode_inline(run, 32))


@pytest.mark.parametrize(("bits", "width"), SLOTS)
def test_every_width_of_every_type_comes_back(bits, width):
    """Both forms of unpacking agree with the scalar packer."""
    values = some_values(1024, width, bits * 100 + width)
    packed = np.frombuffer(pack_block(values, bits, width), f"<u{bits // 8}").reshape(1, -1)
    fast, direct = np.empty((2, 1, 1024), packed.dtype)

    bitpack.unpack(packed, width, fast)
    bitpack.unpack.plain(packed, width, direct)

    assert values == direct[0].tolist()
    assert values == fast[0].tolist()


@pytest.mark.parametrize("width", [3, 7])
def test_many_blocks_are_unpacked_slab_by_slab(width):
    """More blocks than a slab holds come back, each at its place."""
    blocks = np.arange(3 * 1024, dtype=np.uint32) & ((1 << width) - 1)
    packed = [pack_block(row.tolist(), 32, width) for row in blocks.reshape(3, 1024)]
    times = bitpacking.SLAB_BYTES // (3 * 1024 * 4) + 2
    data = np.frombuffer(b"".join(packed) * times, np.uint32).reshape(3 * times, -1)
    out = np.empty((3 * times, 1024), np.uint32)

    bitpack.unpack(data, width, out)

    assert np.array_equal(np.tile(blocks, times), out.reshape(-1))


@given(
    st.lists(st.tuples(st.integers(0, 1024), st.integers(0, 16)), min_size=1, max_size=4),
    st.sampled_from([16, 32]),
)
@settings(max_examples=40)
def test_chunks_of_any_width_and_count_are_joined(shapes, bits):
    """Every chunk has its own width; short ones are cut."""
    chunks = [some_values(count, width, i) for i, (count, width) in enumerate(shapes)]
    packed = [inline(chunk, bits, width) for chunk, (_, width) in zip(chunks, shapes)]
    run = run_of(packed, counts=[len(chunk) for chunk in chunks])

    assert [v for chunk in chunks for v in chunk] == plain(bitpack.decode_inline(run, bits))


def test_a_raw_tail_and_a_padded_one_read_alike():
    """1 041 one-bit levels are 128 + 34 bytes with a raw tail, 256 with a padded one."""
    values = [i % 2 for i in range(1041)]
    raw, padded = out_of_line(values, 16, 1, True), out_of_line(values, 16, 1, False)
    run = run_of([raw, padded], counts=[1041, 1041])

    assert (162, 256) == (len(raw), len(padded))
    assert values * 2 == plain(bitpack.decode_out_of_line(run, 16, 1))
    assert values * 2 == bitpack.decode_flags(run).tolist()


@given(
    st.lists(st.tuples(st.integers(0, 2100), st.booleans()), min_size=1, max_size=3),
    st.sampled_from([(16, 0), (16, 1), (16, 3), (32, 9), (64, 40), (64, 64)]),
)
@settings(max_examples=30)
def test_out_of_line_chunks_of_any_count_are_joined(shapes, form):
    """Whole blocks and tails come back in order, in every chunk."""
    bits, width = form
    chunks = [some_values(count, width, i) for i, (count, _) in enumerate(shapes)]
    packed = [out_of_line(c, bits, width, raw) for c, (_, raw) in zip(chunks, shapes)]
    run = run_of(packed, counts=[len(chunk) for chunk in chunks])

    decoded = bitpack.decode_out_of_line(run, bits, width)

    assert [v for chunk in chunks for v in chunk] == plain(decoded)


@pytest.mark.parametrize(
    ("buffer", "count", "clause"),
    [
        (words([33], 32) + bytes(33 * 128), 1024, "L.codec.bitpack.width"),
        (words([3], 32) + bytes(383), 1024, "L.codec.bitpack.payload"),
        (words([3], 32) + bytes(384), 1025, "L.codec.bitpack.count"),
        (b"\x00\x00", 7, "L.codec.bitpack.payload"),
    ],
)
def test_inline_faults_are_refused(buffer, count, clause):
    """A width above the type, a block of another size, or more than 1 024 values is corrupt."""
    with pytest.raises(CorruptPage) as caught:
        bitpack.decode_inline(run_of([buffer], counts=[count]), 32)

    assert clause == caught.value.clause
    assert 1008 == caught.value.offset


@pytest.mark.parametrize(
    ("buffer", "clause"),
    [
        (bytes(128 + 33), "L.codec.bitpack.out-of-line"),
        (bytes(128) + words([0] * 16 + [2], 16), "L.codec.bitpack.raw-tail"),
    ],
)
def test_out_of_line_faults_are_refused(buffer, clause):
    """A size of neither form, and a raw value wider than the width, are corrupt."""
    run = run_of([buffer], counts=[1041])

    with pytest.raises(CorruptPage, match=clause.replace(".", r"\.")):
        bitpack.decode_out_of_line(run, 16, 1)
    with pytest.raises(CorruptPage, match=clause.replace(".", r"\.")):
        bitpack.decode_flags(run)


def test_unused_values_of_a_block_are_held_against_zero_when_validating():
    """Values after the last one read well and are reported."""
    ctx = recording()
    data = pack_block([1] * 3 + [0] * 1020 + [1], 16, 1)

    run = run_of([data, data], counts=[3, 1024], ctx=ctx)
    assert [1, 1, 1] == plain(bitpack.decode_out_of_line(run, 16, 1))[:3]
    run = run_of([words([1], 16) + data], counts=[3], ctx=ctx)
    assert [1, 1, 1] == plain(bitpack.decode_inline(run, 16))

    assert ["L.codec.bitpack.tail"] * 2 == [finding.clause for finding in ctx.findings]
    assert [1008, 1008] == [finding.offset for finding in ctx.findings]


def test_explain_owns_width_and_block():
    """The word with the width is a leaf, the block another."""
    ctx = recording()

    bitpack.decode_inline(run_of([inline([1], 16, 1)], counts=[1], ctx=ctx), 16)

    assert [(8, 10, "width", "u16"), (10, 138, "block", "bitpacked u16")] == leaves(ctx)


@given(st.data(), st.sampled_from([8, 32]))
@settings(max_examples=60)
def test_damaged_inline_chunks_are_refused_or_read(draw, bits):
    """Any bytes give values or a LanceError."""
    run = run_of([inline([1] * 9, bits, 2), inline([3], bits, 3)], counts=[9, 1])

    gives_values_or_refuses(lambda part: bitpack.decode_inline(part, bits), damaged(draw, run))


@given(st.data())
@settings(max_examples=60)
def test_damaged_out_of_line_chunks_are_refused_or_read(draw):
    """Any bytes give values or a LanceError."""
    chunk = out_of_line([1] * 1030, 16, 2, True)
    run = run_of([chunk, chunk[:256]], counts=[1030, 100])

    gives_values_or_refuses(
        lambda part: bitpack.decode_out_of_line(part, 16, 2), damaged(draw, run)
    )
