"""Slices of nested fixed-size lists."""

import pyarrow as pa
import pytest
from lanceref.slices import nests_fixed_size_lists, whole

NESTED = pa.list_(pa.list_(pa.int8(), 2), 2)


@pytest.mark.parametrize(
    ("type_", "nests"),
    [
        (NESTED, True),
        (pa.struct([("a", NESTED)]), True),
        (pa.list_(pa.int8(), 2), False),
        (pa.list_(pa.list_(pa.int8())), False),
        (pa.int8(), False),
    ],
)
def test_the_types_concerned_are_known(type_, nests):
    """Only fixed-size lists inside each other, at any depth, are copied."""
    assert nests is nests_fixed_size_lists(type_)


def test_taking_from_a_whole_slice_is_right():
    """Row 1 of the rows from 1 on is row 2."""
    array = pa.array([[[4 * i, 4 * i + 1], [4 * i + 2, 4 * i + 3]] for i in range(5)], NESTED)
    part = whole(array.slice(1))

    assert [array[2].as_py()] == part.take(pa.array([1])).to_pylist()
    assert 0 == part.offset


def test_other_slices_are_not_copied():
    """A slice pyarrow can take from is handed through."""
    part = pa.array([1, 2, 3]).slice(1)

    assert part is whole(part)
