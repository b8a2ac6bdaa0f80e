"""Posting blocks."""

from __future__ import annotations

import contextlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LanceError, Place
from lanceref.index.full_text.posting_blocks import (
    Blobs,
    BlockLayout,
    Postings,
    parse_postings,
    posting_runs,
)

from .plain_encoding import encode_postings

LAYOUTS = [BlockLayout(), BlockLayout(fixed_tail=True), BlockLayout(256)]
PLACE = Place("f", 0, 0, "open")


def postings(documents, frequencies) -> Postings:
    """Return postings of lists."""
    return Postings(np.array(documents, np.uint32), np.array(frequencies, np.uint32))


def parsed(blocks, length, num_documents, layout=LAYOUTS[0]) -> Postings:
    """Parse blocks of bytes."""
    held = Blobs.of(pa.array(blocks, pa.large_binary()), Context("f"))
    return parse_postings(held, length, num_documents, layout, PLACE)


def test_worked_blocks():
    """Documents 3 and 5, held twice and once: after the score the steps, then the frequencies."""
    own = postings([3, 5], [2, 1])
    (block,) = encode_postings(own, LAYOUTS[0], [np.float32(1)])
    assert bytes.fromhex("0000803f 03 02 02 01") == block
    (block,) = encode_postings(own, LAYOUTS[1], [np.float32(1)])
    assert bytes.fromhex("0000803f 03000000 05000000 02000000 01000000") == block
    (block,) = encode_postings(own, LAYOUTS[2], [])
    assert bytes.fromhex("03 02 02 01") == block


def test_a_worked_full_block():
    """128 documents from 7 on: steps 0 and then 1 in one bit, frequencies all 1."""
    own = postings(range(7, 135), [1] * 128)
    (block,) = encode_postings(own, LAYOUTS[0], [np.float32(0)])
    steps = "feffffff" + "ffffffff" * 3
    assert bytes.fromhex("00000000 07000000 01" + steps + "01" + "ff" * 16) == block


def test_a_worked_patched_block():
    """One frequency of 1000 among ones is an exception: place 5, high bits 500."""
    frequencies = [1] * 256
    frequencies[5] = 1000
    (block,) = encode_postings(postings(range(256), frequencies), LAYOUTS[2], [])
    assert bytes.fromhex("01 01") == block[4 + 1 + 32 :][:2]
    assert bytes.fromhex("05 f403") == block[-3:]


@given(st.sampled_from(LAYOUTS), st.sets(st.integers(0, 3000), max_size=600), st.randoms())
def test_what_is_written_is_read(layout, documents, random):
    """In every layout, with frequencies small and large."""
    chosen = sorted(documents)
    frequencies = [random.choice([1, 1, 2, 9, 2**32 - 1]) for _ in chosen]
    own = postings(chosen, frequencies)
    blocks = encode_postings(own, layout, [np.float32(0)] * layout.num_blocks(len(chosen)))
    found = parsed(blocks, len(chosen), 3001, layout)
    assert chosen == found.documents.tolist()
    assert frequencies == found.frequencies.tolist()


@given(
    st.sampled_from(LAYOUTS),
    st.lists(st.sampled_from([1, 2, 127, 128, 129, 256, 257, 600]), min_size=1, max_size=5),
    st.integers(0, 2**32),
)
@settings(max_examples=30)
def test_blocks_of_many_tokens_are_those_of_each(layout, counts, seed):
    """With steps and frequencies of few bits and of many."""
    random, own = np.random.default_rng(seed), []
    for count in counts:
        kinds = np.array([1, 1, 1, 2, 9, 300, 2**32 - 1][: random.integers(1, 8)], np.uint32)
        chosen = np.sort(random.choice(2000, count, replace=False))
        own.append(postings(chosen, random.choice(kinds, count)))
    scores = [[np.float32(random.random())] * layout.num_blocks(count) for count in counts]
    every = Postings(
        np.concatenate([one.documents for one in own]),
        np.concatenate([one.frequencies for one in own]),
    )
    found = posting_runs(every, np.array(counts), layout, np.concatenate(scores))
    pairs = zip(own, scores, strict=True)
    wanted = [block for one, score in pairs for block in encode_postings(one, layout, score)]
    assert wanted == found.as_bytes()


@pytest.mark.parametrize(
    ("blocks", "length", "total", "clause"),
    [
        (["00000000 0302 0201"], 2, 5, "documents"),
        (["00000000 0300 0201"], 2, 9, "documents"),
        (["00000000 0302 0001"], 2, 9, "frequency"),
        (["00000000 0302 0201 00"], 2, 9, "end"),
        (["00000000 0302 0201"], 300, 900, "blocks"),
        (["00000000 0302 0201"], 2, 1, "blocks"),
    ],
)
def test_damage_is_refused(blocks, length, total, clause):
    """Each of the conditions."""
    with pytest.raises(FormatError, match=rf"L\.index\.fts\.posting\.{clause}"):
        parsed(map(bytes.fromhex, blocks), length, total)


def test_too_many_exceptions_are_refused():
    """A block of 256 has at most 31."""
    block = bytes(4) + b"\x01" + bytes.fromhex("feffffff") + b"\xff" * 28 + b"\x00\x20"
    with pytest.raises(FormatError, match=r"L\.index\.fts\.posting\.exception"):
        parsed([block], 256, 999, LAYOUTS[2])


@given(st.sampled_from(LAYOUTS), st.binary(max_size=90), st.integers(0, 300))
def test_any_bytes_are_postings_or_an_error(layout, data, length):
    """Nothing but a LanceError escapes."""
    with contextlib.suppress(LanceError):
        parsed([data] * layout.num_blocks(length), length, 400, layout)
