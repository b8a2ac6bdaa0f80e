"""Sets of numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.index.training import NUMBER_SET, may_be_missing, number_sets, number_sets_by_key


def test_worked_values():
    """Each number counts once; a row without any is empty."""
    numbers = np.array([7, 1, 7, 2], np.uint32)
    found = number_sets(numbers, np.array([0, 0, 0, 2], np.int64), 3)
    assert found.to_pylist() == [b"\1\0\0\0\7\0\0\0", b"", b"\2\0\0\0"]
    assert may_be_missing(found).tolist() == [False, True, False]


def test_keys_stand_once():
    """Ascending, each with what it has."""
    numbers, keys = np.array([3, 1, 2], np.uint32), np.array([9, 4, 9], np.uint64)
    values, own = number_sets_by_key(numbers, keys)
    assert values.to_pylist() == [b"\1\0\0\0", b"\2\0\0\0\3\0\0\0"]
    assert own.tolist() == [4, 9]


def test_nothing():
    """No rows, no values; an empty value of another type is a value."""
    assert number_sets(np.empty(0, np.uint32), np.empty(0, np.int64), 0) == pa.array([], NUMBER_SET)
    assert may_be_missing(pa.array([b""], pa.binary())).tolist() == [False]
