"""Tests of array equality: the mask of rows that differ, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lance_conformance.equality import differing

MAP = pa.map_(pa.string(), pa.int8())


@pytest.mark.parametrize(
    ("ours", "theirs", "rows"),
    [
        (pa.array([1, 2, None]), pa.array([1, 3, 0]), [1, 2]),
        (pa.array([True, False]), pa.array([True, True]), [1]),
        (pa.array(["a", "b"]), pa.array(["a", "b"], pa.large_string()), []),
        (pa.array([[1], [2, 3], []]), pa.array([[1, 2], [2, 4], []]), [0, 1]),
        (pa.array([[[1]], [[None]]]), pa.array([[[1]], [[2]]]), [1]),
        (pa.array([[("a", 1)], []], MAP), pa.array([[("a", 2)], []], MAP), [0]),
        (pa.array([{"x": 1}, None]), pa.array([{"x": 1}, {"x": 1}]), [1]),
        (pa.nulls(2), pa.nulls(2), []),
    ],
)
def test_rows_that_differ(ours: pa.Array, theirs: pa.Array, rows: list[int]) -> None:
    """Exactly the rows with another value are marked."""
    assert rows == differing(ours, theirs).nonzero()[0].tolist()


def test_lists_whose_offsets_begin_elsewhere() -> None:
    """The offsets of a list array need not start at zero, nor at its slice."""
    longer = pa.array([[9], [1, 2], None, [3]])
    array = pa.array([[1, 2], None, [3]])

    assert not differing(array, longer.slice(1)).any()


def test_items_under_a_null_list_are_ignored() -> None:
    """A null list may have items; they count for nothing."""
    validity = pa.array([True, False]).buffers()[1]
    offsets = pa.array([0, 1, 3], pa.int32()).buffers()[1]
    child = pa.array([7, 8, 9])
    ours = pa.ListArray.from_buffers(pa.list_(pa.int64()), 2, [validity, offsets], children=[child])

    assert not differing(ours, pa.array([[7], None])).any()


def test_slices_of_nested_fixed_size_lists_are_compared_by_value():
    """Arrow takes other items from such a slice: it is copied first."""
    leaf = pa.array(range(64), pa.int8())
    deep = leaf
    for _ in range(3):
        deep = pa.FixedSizeListArray.from_arrays(deep, 2)
    part = deep.slice(3, 4)
    fresh = pa.array(part.to_pylist(), part.type)

    assert not differing(part, fresh).any()
    assert differing(part, deep.slice(2, 4)).all()
