"""Variable-width values: tables in front, offsets of their own, blocks, old headers."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from lanceref.codecs import variable
from lanceref.core.errors import CorruptPage

from .runs import (
    damaged,
    gives_values_or_refuses,
    leaves,
    plain,
    recording,
    run_of,
    words,
)


def ends(values, start=0):
    """Return the offsets of values that begin at `start`."""
    offsets = [start]
    for value in values:
        offsets.append(offsets[-1] + len(value))
    return offsets


def chunk(values, bits):
    """Write a chunk: offsets from its own start, the bytes, `H` up to four or eight bytes."""
    data = words(ends(values, (len(values) + 1) * bits // 8), bits) + b"".join(values)
    return data + b"H" * (-len(data) % (bits // 8))


def block(values, bits):
    """Write a block: header, offsets from 0, the bytes."""
    table = words(ends(values), bits)
    return words([bits, bits // 4 + len(table)], bits) + table + b"".join(values)


CHUNKS = st.lists(st.lists(st.binary(max_size=12), max_size=8), min_size=1, max_size=4)


def test_offsets_count_from_the_start_of_the_buffer():
    """The first offset is the size of the table; the rest up to four bytes is `H`."""
    data = words([16, 19, 19, 22], 32) + b"catdog" + b"HH"
    run = run_of([data, words([8, 9], 32) + b"xHHH"], counts=[3, 1])

    assert [b"cat", b"", b"dog", b"x"] == plain(variable.decode_mini(run, 32))


@given(CHUNKS, st.sampled_from([32, 64]))
def test_strings_of_any_chunks_come_back(chunks, bits):
    """Values come back in order, with offsets of either width."""
    run = run_of([chunk(values, bits) for values in chunks], counts=[len(v) for v in chunks])

    assert [v for values in chunks for v in values] == plain(variable.decode_mini(run, bits))


@given(CHUNKS)
def test_separate_offsets_cut_the_bytes_of_every_chunk(chunks):
    """Offsets decoded elsewhere count from 0 in the bytes of each chunk."""
    run = run_of([b"".join(values) for values in chunks], counts=[len(v) for v in chunks])
    offsets = np.array([end for values in chunks for end in ends(values)], np.uint64)

    assert [v for values in chunks for v in values] == plain(variable.decode_separate(run, offsets))


@given(st.lists(st.binary(max_size=12)), st.sampled_from([32, 64]))
def test_blocks_of_both_widths_come_back(values, bits):
    """The header says the width of the offsets and where the bytes start."""
    run = run_of([block(values, bits)], counts=[len(values)])

    assert values == plain(variable.decode_block(run))


def test_the_dictionary_of_the_chapter():
    """`20 00 00 00 14 00 00 00 | 0 3 6 | catdog` are two strings."""
    data = bytes.fromhex("2000000014000000000000000300000006000000") + b"catdog"

    assert [b"cat", b"dog"] == plain(variable.decode_block(run_of([data], counts=[2])))


def test_an_old_header_is_read():
    """A header of nine bytes, u8 bits, u32 count, u32 start, is known by its second byte."""
    data = b"\x20" + words([2, 9 + 12, 0, 3, 6], 32) + b"catdog"

    assert [b"cat", b"dog"] == plain(variable.decode_block(run_of([data], counts=[2])))


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (words([12, 13], 32), "L.codec.variable.table"),
        (words([8, 13, 14], 32) + b"ab", "L.codec.variable.offsets"),
        (words([12, 14, 13], 32) + b"ab", "L.codec.variable.offsets"),
        (words([12, 13, 15], 32) + b"ab", "L.codec.variable.offsets"),
    ],
)
def test_faulty_tables_are_refused(data, clause):
    """Offsets start after the table, never fall, and stay inside the buffer."""
    good = chunk([b"a", b"b"], 32)

    with pytest.raises(CorruptPage) as caught:
        variable.decode_mini(run_of([good, data], counts=[2, 2]), 32)

    assert clause == caught.value.clause
    assert 1000 + 8 + 16 + 8 == caught.value.offset


@pytest.mark.parametrize("offsets", [[1, 2, 2], [0, 2, 1], [0, 1, 3]])
def test_faulty_separate_offsets_are_refused(offsets):
    """Offsets start at 0, never fall, and stay inside the bytes of their chunk."""
    run = run_of([b"ab", b"ab"], counts=[2, 2])

    with pytest.raises(CorruptPage, match=r"L\.codec\.variable\.offsets") as caught:
        variable.decode_separate(run, np.array([0, 1, 2, *offsets], np.uint64))

    assert 1024 == caught.value.offset


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"\x20", "L.codec.variable.header"),
        (words([16, 20, 0, 1, 2], 32) + b"ab", "L.codec.variable.header"),
        (words([32, 21, 0, 1, 2], 32) + b"ab", "L.codec.variable.header"),
        (words([32, 20, 0, 1], 32), "L.codec.variable.header"),
        (words([32, 20, 0, 1, 3], 32) + b"ab", "L.codec.variable.offsets"),
        (words([32, 20, 1, 1, 2], 32) + b"ab", "L.codec.variable.offsets"),
    ],
)
def test_faulty_blocks_are_refused(data, clause):
    """A header says 32 or 64 and where the bytes start; offsets stay inside."""
    with pytest.raises(CorruptPage, match=clause.replace(".", r"\.")):
        variable.decode_block(run_of([data], counts=[2]))


def test_padding_is_held_against_h_when_validating():
    """Padding other than 0x48 reads well and is reported."""
    ctx = recording()
    data = words([8, 9], 32) + b"a\x00\x00\x00"

    assert [b"a"] == plain(variable.decode_mini(run_of([data], counts=[1], ctx=ctx), 32))
    assert ["L.codec.variable.padding"] == [finding.clause for finding in ctx.findings]
    assert [
        (8, 16, "offsets", "offsets u32[]"),
        (16, 17, "bytes", "bytes[]"),
        (17, 20, "padding", "padding"),
    ] == leaves(ctx)


@given(st.data(), st.sampled_from([32, 64]))
@settings(max_examples=200)
def test_damaged_chunks_are_refused_or_read(draw, bits):
    """Any bytes give values or a LanceError."""
    run = run_of([chunk([b"ab", b"", b"cde"], bits), chunk([b"f"], bits)], counts=[3, 1])

    gives_values_or_refuses(lambda part: variable.decode_mini(part, bits), damaged(draw, run))


@given(st.data(), st.sampled_from([32, 64]))
@settings(max_examples=200)
def test_damaged_blocks_are_refused_or_read(draw, bits):
    """Any bytes give values or a LanceError."""
    run = run_of([block([b"ab", b"", b"cde"], bits)], counts=[3])

    gives_values_or_refuses(variable.decode_block, damaged(draw, run))
