"""Impacts."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.index.full_text.posting_blocks import (
    BlockLayout,
    Postings,
    impact_runs,
    length_codes,
    rounded_lengths,
)

from .plain_encoding import encode_impact, encode_impacts
from .test_posting_blocks import LAYOUTS, postings


def test_worked_codes():
    """Up to 15 a length is its code; 16 and 17 are one, 0b1_0000 and 0b1_0001."""
    assert [0, 7, 8, 15, 16, 16, 17] == length_codes(np.array([0, 7, 8, 15, 16, 17, 18])).tolist()
    assert [0, 15, 16, 16, 18, 960] == rounded_lengths(
        np.array([0, 15, 16, 17, 18, 1023], np.uint32)
    ).tolist()


def test_a_worked_entry():
    """Of two documents that hold a token once the shorter counts; more often and longer counts."""
    own = encode_impact(9, np.array([1, 1, 3, 2], np.uint32), np.array([5, 4, 6, 7], np.uint32))
    # pairs (1, 4) and (3, 6): steps of the code 4 and 2; 2 * (1 - 0 - 1) + 1, 2 * (3 - 1 - 1) + 1
    assert bytes.fromhex("09 02 0104 0302") == own


def test_blocks_then_groups():
    """40 blocks have 40 entries and those of two groups."""
    own = postings(range(40 * 128), [1] * 40 * 128)
    assert 42 == len(encode_impacts(own, np.full(40 * 128, 3, np.uint32), BlockLayout()))


@given(
    st.sampled_from(LAYOUTS),
    st.lists(st.sampled_from([1, 2, 128, 129, 600, 9000]), min_size=1, max_size=4),
    st.integers(0, 2**32),
)
@settings(max_examples=20)
def test_impacts_of_many_tokens_are_those_of_each(layout, counts, seed):
    """With equal frequencies and lengths, and with others."""
    random, total = np.random.default_rng(seed), sum(counts)
    frequencies = random.choice(np.array([1, 1, 2, 7, 300, 2**32 - 1], np.uint32), total)
    lengths = random.choice(np.array([0, 3, 7, 8, 15, 16, 17, 500, 2**20], np.uint32), total)
    every = Postings(np.arange(total, dtype=np.uint32), frequencies)
    found, entries = impact_runs(every, np.array(counts), lengths, layout)
    wanted, start = [], 0
    for count, number in zip(counts, entries.tolist(), strict=True):
        own = slice(start, start + count)
        one = Postings(every.documents[own], frequencies[own])
        wanted += encode_impacts(one, lengths[own], layout)
        assert number == len(encode_impacts(one, lengths[own], layout))
        start += count
    assert wanted == found.as_bytes()
