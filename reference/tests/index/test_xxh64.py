"""XXH64 of many short values at once."""

from __future__ import annotations

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.bloom import MOST_BYTES, hash_rows


def test_worked_examples():
    """The hashes that the algorithm's authors publish for nothing, and for the letters abc."""
    assert hash_rows(np.zeros((1, 0), np.uint8)).tolist() == [0xEF46DB3751D8E999]
    assert hash_rows(np.frombuffer(b"abc", np.uint8)[None]).tolist() == [0x44BC2CF5AD770999]


@given(st.data(), st.integers(0, MOST_BYTES))
def test_as_the_library_hashes_one_at_a_time(data, width):
    """Of every width, whatever the bytes."""
    rows = data.draw(st.lists(st.binary(min_size=width, max_size=width), min_size=1, max_size=8))

    found = hash_rows(np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), width))

    assert [xxhash.xxh64_intdigest(row) for row in rows] == found.tolist()
