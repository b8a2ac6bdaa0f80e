"""Constant, range and delta: worked sequences, overflow, chunks."""

import hypothesis.strategies as st
import pytest
from hypothesis import given
from lanceref.codecs import blocks
from lanceref.core.errors import CorruptPage

from .encodings import constant, delta, flat, range_
from .runs import plain, run_of, words


@pytest.mark.parametrize(
    ("encoding", "wanted"),
    [
        (constant(5), [5, 5, 5]),
        (constant(7, 32), [7, 7, 7]),
        (range_(1, 3), [1, 4, 7]),
        (range_(2**32 - 3, 1, 32), [2**32 - 3, 2**32 - 2, 2**32 - 1]),
        (delta(10, constant(2)), [10, 12, 14]),
        (delta(10, range_(1, 1)), [10, 11, 13]),
    ],
)
def test_sequences_without_payload(encoding, wanted):
    """Three values of each, from the description alone, in each of two chunks."""
    assert wanted * 2 == plain(blocks.decode_blocks(encoding, run_of([b"", b""], counts=[3, 3])))


@pytest.mark.parametrize("encoding", [constant(), range_(0, 1), delta(0, constant(1))])
def test_empty_sequences_have_no_values(encoding):
    """Nothing is asked for, nothing comes."""
    assert [] == plain(blocks.decode_blocks(encoding, run_of([b""], counts=[0])))


@given(st.lists(st.lists(st.integers(0, 1000), min_size=1, max_size=6), min_size=1, max_size=4))
def test_deltas_start_again_in_every_chunk(chunks):
    """Chunks with a base of 7 and flat differences add up each on its own; empty ones too."""
    wanted = [[7, *(7 + sum(steps[: i + 1]) for i in range(len(steps)))] for steps in chunks]
    run = run_of(
        [b"", *(words(steps, 64) for steps in chunks)],
        counts=[0, *(len(values) for values in wanted)],
    )

    decoded = plain(blocks.decode_blocks(delta(7, flat(64)), run))

    assert [value for values in wanted for value in values] == decoded


@pytest.mark.parametrize(
    ("encoding", "data", "clause"),
    [
        (constant(), b"", "L.codec.constant.width"),
        (range_(2**32 - 2, 1, 32), b"", "L.codec.range.overflow"),
        (range_(0, 2**63), b"", "L.codec.range.overflow"),
        (delta(2**64 - 2, constant(1)), b"", "L.codec.delta.overflow"),
        (delta(2**32 - 2, constant(1, 32), 32), b"", "L.codec.delta.overflow"),
        (delta(5, constant(1, 64), 32), b"", "L.codec.delta.width"),
        (delta(5, flat(32)), words([1, 1], 32), "L.codec.delta.width"),
        (delta(5, flat(64)), words([2**64 - 1, 1], 64), "L.codec.delta.overflow"),
        (constant(5), b"\x05", "L.codec.encoding.payload"),
    ],
)
def test_faulty_sequences_are_refused(encoding, data, clause):
    """Values fit their width, and what lies in the description has no bytes."""
    with pytest.raises(CorruptPage, match=clause.replace(".", r"\.")):
        blocks.decode_blocks(encoding, run_of([data], counts=[3]))
