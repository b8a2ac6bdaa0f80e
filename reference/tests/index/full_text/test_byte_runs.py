"""Byte runs."""

from __future__ import annotations

import numpy as np
from lanceref.index.full_text.packed_integers import (
    ByteRuns,
    arrange_runs,
    concat_runs,
    split_groups,
    word_runs,
    zip_runs,
)


def runs(*pieces: bytes) -> ByteRuns:
    """Return runs of bytes."""
    data = np.frombuffer(b"".join(pieces), np.uint8)
    return ByteRuns(data, np.array([len(one) for one in pieces], np.int64))


def test_runs_are_taken_and_merged():
    """By number; so many each time, also none."""
    own = runs(b"ab", b"", b"cde", b"f")
    assert [b"f", b"", b"ab"] == own.take(np.array([3, 1, 0])).as_bytes()
    assert [b"abcde", b"", b"f"] == own.merged(np.array([3, 0, 1])).as_bytes()
    assert [0, 2, 2, 5, 6] == own.ends.tolist()


def test_parts_are_put_together():
    """One after the other, run by run, and each at its place."""
    first, second = runs(b"a", b"bc"), runs(b"", b"d")
    assert [b"a", b"bc", b"", b"d"] == concat_runs([first, second]).as_bytes()
    assert [b"a", b"bcd"] == zip_runs(first, second).as_bytes()
    places = [np.array([1, 3]), np.array([0, 2])]
    assert [b"", b"a", b"d", b"bc"] == arrange_runs([first, second], places).as_bytes()
    assert [b"\x01\x00", b"\x02\x01"] == word_runs(np.array([1, 258], "<u2")).as_bytes()


def test_groups_are_cut():
    """Groups of 5, 0 and 2 values into runs of at most 2."""
    starts, sizes, count = split_groups(np.array([5, 0, 2]), 2)
    assert ([0, 2, 4, 5], [2, 2, 1, 2], [3, 0, 1]) == tuple(
        one.tolist() for one in (starts, sizes, count)
    )
