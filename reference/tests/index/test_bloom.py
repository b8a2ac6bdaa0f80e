"""Split-block Bloom filters."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.index.bloom import fill, hash_values, may_hold, size_for


def test_sizes():
    """As the official writer chooses them."""
    assert size_for(8192, 0.00057) == 32768
    assert size_for(500, 0.01) == 1024
    assert size_for(1, 0.9) == 32


def test_a_worked_example():
    """1 and null in one block, as the official writer wrote them."""
    filter_ = fill(hash_values(pa.array([1, None], pa.int32())), 32)
    expected = "04000000 00000004 00400000 04000000 00000004 00200000 00000002 00080000"
    assert filter_.tobytes() == bytes.fromhex(expected)


@pytest.mark.parametrize(
    "type_", [pa.int8(), pa.uint64(), pa.float32(), pa.date32(), pa.timestamp("us")]
)
def test_numbers_are_hashed_in_their_own_width(type_):
    """A slice like the whole; null has no hash."""
    values = (
        pa.array([1, None, 2, 3], pa.int64())
        .cast(pa.int32())
        .cast(type_ if not pa.types.is_timestamp(type_) else pa.int64())
    )
    values = values.cast(type_)
    assert hash_values(values.slice(2)).tolist() == hash_values(values).tolist()[1:]
    assert len(hash_values(values)) == 3


@given(st.lists(st.text(), min_size=1, max_size=50))
def test_what_was_put_in_is_found(words):
    """Never a false negative; an empty filter holds nothing."""
    hashes = hash_values(pa.array(words))
    filters = np.stack([fill(hashes, 64), np.zeros((2, 8), np.uint32)])
    for value in hashes:
        assert may_hold(filters, value).tolist() == [True, False]
