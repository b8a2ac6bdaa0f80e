"""Run lengths: worked frames, children of 2.3, sums that do not match, damage."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from lanceref.codecs import blocks
from lanceref.core.errors import CorruptPage

from .encodings import constant, flat, general, out_of_line, range_, rle
from .runs import damaged, gives_values_or_refuses, leaves, plain, recording, run_of, words
from .test_bitpack import out_of_line as packed
from .test_general import compress

RUNS = st.lists(st.tuples(st.integers(0, 2**16 - 1), st.integers(1, 255)), max_size=6)


def chunk(runs, bits=16):
    """Return the run values, the run lengths, and how many values they stand for."""
    values, lengths = words([v for v, _ in runs], bits), bytes(n for _, n in runs)
    return values, lengths, sum(lengths)


def frame(runs, bits=16):
    """Write a block: the size of the values, values, lengths."""
    values, lengths, _ = chunk(runs, bits)
    return words([len(values)], 64) + values + lengths


def expanded(chunks):
    """Repeat every value by its length: the slow clear form."""
    return [value for runs in chunks for value, length in runs for _ in range(length)]


def test_long_runs_are_split_by_the_width_of_a_length():
    """300 nines and 300 eights of 64 bits are four runs of 255, 45, 255, 45."""
    run = run_of([words([9, 9, 8, 8], 64)], [bytes.fromhex("ff2dff2d")], counts=[600])

    assert [9] * 300 + [8] * 300 == plain(blocks.decode_rle(rle(flat(64), flat(8)).rle, run))


def test_the_level_frame_of_the_chapter():
    """3 000 definition levels, 600 ones and then zeros, are a frame of 47 bytes."""
    runs = [(1, 255), (1, 255), (1, 90), *[(0, 255)] * 9, (0, 105)]
    data = frame(runs)

    assert 47 == len(data)
    assert bytes.fromhex("1a00000000000000") == data[:8]
    run = run_of([data], counts=[3000])
    assert [1] * 600 + [0] * 2400 == plain(blocks.decode_blocks(rle(flat(16), flat(8)), run))


@given(st.lists(RUNS, min_size=1, max_size=4))
def test_runs_of_any_chunks_come_back(chunks):
    """In chunks and in frames, runs expand to what they stand for."""
    parts = [chunk(runs) for runs in chunks]
    counts = [count for *_, count in parts]
    mini = run_of([values for values, *_ in parts], [lens for _, lens, _ in parts], counts=counts)
    framed = run_of([frame(runs) for runs in chunks], counts=counts)
    encoding = rle(flat(16), flat(8))

    assert expanded(chunks) == plain(blocks.decode_rle(encoding.rle, mini))
    assert expanded(chunks) == plain(blocks.decode_blocks(encoding, framed))


@pytest.mark.parametrize(
    ("encoding", "values", "lengths"),
    [
        (rle(flat(32), flat(16)), words([7, 9, 7], 32), words([1, 300, 2], 16)),
        (rle(flat(32), flat(32)), words([7, 9, 7], 32), words([1, 300, 2], 32)),
        (rle(out_of_line(32, 4), flat(16)), packed([7, 9, 7], 32, 4, True), None),
        (
            rle(general("lz4_raw", flat(32)), flat(16)),
            compress("lz4_raw", words([7, 9, 7], 32)),
            None,
        ),
        (rle(general("zstd", out_of_line(32, 4)), flat(16)), None, None),
    ],
)
def test_children_of_2_3_are_blocks_of_their_own(encoding, values, lengths):
    """Run values and lengths are coded by any of a few codecs; one of them tells the number."""
    values = values or compress("zstd", packed([7, 9, 7], 32, 4, False))
    lengths = lengths or words([1, 300, 2], 16)
    run = run_of([values, values], [lengths, lengths], counts=[303, 303])

    assert [7, *[9] * 300, 7, 7] * 2 == plain(blocks.decode_rle(encoding.rle, run))


def test_a_child_without_payload_has_an_empty_buffer():
    """Lengths of 2 each for values that count up: the values tell how many."""
    run = run_of([words([5, 6], 64)], [b""], counts=[4])
    other = run_of([b""], [b"\x01\x03"], counts=[4])

    assert [5, 5, 6, 6] == plain(blocks.decode_rle(rle(flat(64), constant(2, 32)).rle, run))
    assert [4, 5, 5, 5] == plain(blocks.decode_rle(rle(range_(4, 1), flat(8)).rle, other))


@pytest.mark.parametrize(
    ("lengths", "count", "wanted"),
    [
        (range_(1, 1, 32), 3, [4, 5, 5]),
        (range_(1, 1, 32), 6, [4, 5, 5, 6, 6, 6]),
        (constant(2, 32), 6, [4, 4, 5, 5, 6, 6]),
        (constant(2, 32), 0, []),
    ],
)
def test_runs_without_any_payload_are_counted_by_their_sum(lengths, count, wanted):
    """The number of runs is the one whose first lengths add up to the values wanted."""
    run = run_of([b""], counts=[count])

    assert wanted == plain(blocks.decode_blocks(rle(range_(4, 1), lengths), run))


@pytest.mark.parametrize(
    ("values", "lengths", "clause"),
    [
        (words([1, 2], 16), b"\x02\x02", "L.codec.rle.sum"),
        (words([1, 2], 16), b"\x03\x03", "L.codec.rle.sum"),
        (words([1, 2], 16), b"\x02\x02\x01", "L.codec.rle.pairs"),
        (words([1], 16), b"\x02\x03", "L.codec.rle.pairs"),
        (words([1, 2], 16) + b"\0", b"\x02\x03", "L.codec.flat.size"),
    ],
)
def test_faulty_chunks_are_refused(values, lengths, clause):
    """Each value has a length, and they add up to the values of the chunk."""
    good, good_lengths, count = chunk([(1, 2), (2, 3)])

    with pytest.raises(CorruptPage) as caught:
        run = run_of([good, values], [good_lengths, lengths], counts=[count, 5])
        blocks.decode_rle(rle(flat(16), flat(8)).rle, run)

    assert clause == caught.value.clause
    assert caught.value.offset >= 1000 + 8 + 16


@pytest.mark.parametrize(
    ("encoding", "data", "clause"),
    [
        (rle(flat(16), flat(8)), bytes(7), "L.codec.rle.frame"),
        (rle(flat(16), flat(8)), words([3], 64) + bytes(2), "L.codec.rle.frame"),
        (rle(range_(4, 1), range_(1, 1, 32)), b"", "L.codec.rle.sum"),
        (rle(range_(4, 1), constant(0, 32)), b"", "L.codec.rle.sum"),
        (rle(range_(4, 1), constant(3, 32)), b"", "L.codec.rle.sum"),
        (rle(range_(4, 1), range_(1, 1, 32)), b"x", "L.codec.encoding.payload"),
    ],
)
def test_faulty_blocks_are_refused(encoding, data, clause):
    """A frame holds its values; computed lengths must meet the count."""
    with pytest.raises(CorruptPage, match=clause.replace(".", r"\.")):
        blocks.decode_blocks(encoding, run_of([data], counts=[5]))


def test_an_empty_run_is_reported_when_validating():
    """A run of no values reads well, and is a finding of SHOULD level."""
    ctx = recording()
    run = run_of([words([1, 2], 16)], [b"\x02\x00"], counts=[2], ctx=ctx)

    assert [1, 1] == plain(blocks.decode_rle(rle(flat(16), flat(8)).rle, run))
    assert [("L.codec.rle.empty-run", "should")] == [(f.clause, f.severity) for f in ctx.findings]


def test_explain_owns_every_part_of_a_frame():
    """The size, the run values and the run lengths are leaves."""
    ctx = recording()

    blocks.decode_blocks(
        rle(flat(16), flat(8)), run_of([frame([(1, 2), (0, 3)])], counts=[5], ctx=ctx)
    )

    assert [
        (8, 16, "size of values", "u64"),
        (16, 20, "run values", "u16[]"),
        (20, 22, "run lengths", "u8[]"),
    ] == leaves(ctx)


@given(st.data())
@settings(max_examples=200)
def test_damaged_chunks_are_refused_or_read(draw):
    """Any bytes give values or a LanceError."""
    first, second = chunk([(1, 2), (2, 255)]), chunk([(3, 1)])
    run = run_of([first[0], second[0]], [first[1], second[1]], counts=[257, 1])
    encoding = rle(flat(16), flat(8)).rle

    gives_values_or_refuses(lambda part: blocks.decode_rle(encoding, part), damaged(draw, run))


@given(st.data())
@settings(max_examples=200)
def test_damaged_frames_are_refused_or_read(draw):
    """Any bytes give values or a LanceError."""
    run = run_of([frame([(1, 2), (2, 255)]), frame([(3, 1)])], counts=[257, 1])

    gives_values_or_refuses(
        lambda part: blocks.decode_blocks(rle(flat(16), flat(8)), part), damaged(draw, run)
    )
