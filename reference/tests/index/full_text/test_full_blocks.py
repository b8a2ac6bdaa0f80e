"""Full posting blocks, many at a time."""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, Place
from lanceref.index.full_text.posting_blocks import (
    RUN,
    Blobs,
    BlockLayout,
    Postings,
    full_postings,
    parse_postings,
)

from .plain_encoding import encode_postings

WORKED = struct.pack("<fIB", 0.5, 7, 1) + b"\xff" * 15 + b"\xff" + b"\x01" + b"\xff" * 16
"""128 documents, each one after the other, the first after 7; each has the token once."""


def blobs(*blocks: bytes) -> Blobs:
    """Return blocks as they are handed over."""
    return Blobs.of(pa.array(blocks, pa.large_binary()), Context("x"))


def test_a_worked_block():
    """Documents 8 to 135; of another block that begins at 200 after it."""
    found = full_postings(blobs(WORKED), 136)
    assert found.documents.tolist() == list(range(8, 136))
    assert found.frequencies.tolist() == [1] * 128
    second = WORKED[:4] + struct.pack("<I", 200) + WORKED[8:]
    assert full_postings(blobs(WORKED, second), 329).documents[128:].tolist() == [*range(201, 329)]
    assert len(full_postings(blobs(), 0).documents) == 0


@pytest.mark.parametrize(
    "blocks",
    [
        [WORKED[:9]],
        [WORKED[:-1]],
        [WORKED + b"\x00"],
        [WORKED[:8] + b"\x21" + WORKED[9:]],
        [WORKED[:8] + b"\xff" + WORKED[9:]],
        [WORKED[:25] + b"\x02" + WORKED[26:]],
        [WORKED[:8] + b"\x00" + WORKED[25:]],
        [WORKED[:25] + b"\x00"],
        [WORKED[:4] + b"\xff\xff\xff\xff" + WORKED[8:]],
        [WORKED, WORKED],
        [WORKED[:4] + b"\x08" + WORKED[5:]],
    ],
)
def test_what_is_wrong_is_left_to_others(blocks):
    """Sizes, widths, documents that do not rise or are too many, and a frequency of 0."""
    assert full_postings(blobs(*blocks), 136) is None


@given(st.integers(1, 2 * RUN + 3), st.integers(1, 2**20), st.integers(0, 2**32 - 1))
def test_blocks_together_are_the_blocks_of_each(count, step, seed):
    """Documents and frequencies of any width."""
    source = np.random.default_rng(seed)
    count = min(count, 40) if seed % 16 else count
    steps = source.integers(1, 1 + min(step, 2**32 // (128 * count)), 128 * count)
    documents = (np.cumsum(steps) - 1).astype(np.uint32)
    frequencies = (1 + source.integers(0, 1 << (seed % 31), 128 * count)).astype(np.uint32)
    total = int(documents[-1]) + 1
    written = encode_postings(Postings(documents, frequencies), BlockLayout(), [0.5] * count)
    found = full_postings(blobs(*written), total)
    assert np.array_equal(found.documents, documents)
    assert np.array_equal(found.frequencies, frequencies)


@given(st.integers(0, 41), st.integers(0, 255), st.integers(128, 400))
def test_damage_is_the_same_as_block_by_block(at, byte, total):
    """With any byte changed the same postings come back, or it is an error."""
    block = WORKED[:at] + bytes([byte]) + WORKED[at + 1 :]
    found = full_postings(blobs(block), total)
    try:
        parsed = parse_postings(blobs(block), 128, total, BlockLayout(), Place("x", 0))
    except FormatError:
        assert found is None
    else:
        assert found is not None
        assert np.array_equal(found.documents, parsed.documents)
