"""Blobs: the byte strings of an array."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.index.full_text.posting_blocks import Blobs


def shown(blobs: Blobs) -> list[bytes]:
    """Return the strings."""
    return [bytes(one.data) for one in blobs]


@pytest.mark.parametrize("strings", [[], [b"a"], [b"", b"abc", b"d"]])
def test_strings_of_an_array_and_of_its_slices(strings):
    """One by one as a list has them, in every slice."""
    values = pa.array([b"before", *strings], pa.large_binary()).slice(1)
    blobs = Blobs.of(values, Context("x"))
    assert shown(blobs) == strings
    assert len(blobs) == len(strings)
    for start in range(len(strings) + 1):
        assert shown(blobs.part(start, len(blobs))) == strings[start:]
        assert shown(blobs.part(0, start)) == strings[:start]


def test_a_place_behind_the_last_is_an_error():
    """As of any sequence."""
    with pytest.raises(IndexError):
        Blobs.of(pa.array([b"a"], pa.large_binary()), Context("x")).at(1)
