"""Structs and nulls."""

import pyarrow as pa
import pytest
from lanceref.core.errors import OutOfRange

from .building import i64, metadata_of, patched, read, written

STRUCTS = pa.table({"s": pa.array([{"x": 1, "n": None}, None, {"x": None, "n": None}])})


def test_a_struct_is_its_children_and_nulls_are_lost():
    """A null struct reads as a struct of what its children stored."""
    found = read(written(STRUCTS))
    assert {"s": [{"x": x, "n": None} for x in (1, 0, 0)]} == found


def test_structs_have_zeros_and_null_fields_rows_in_the_page_table():
    """The page of a null field counts rows and holds no bytes."""
    data = written(STRUCTS)
    position = metadata_of(data)[1].page_table_position
    assert 24 == position
    assert i64(0, 0, 0, 3, 24, 3) == data[position : position + 48]


def test_children_of_different_lengths_are_refused():
    """Below a list only the children say how many items there are."""
    type_ = pa.list_(pa.struct([("a", pa.int8()), ("b", pa.int8())]))
    data = written(pa.table({"l": pa.array([[{"a": 1, "b": 2}] * 2], type_)}))
    position = metadata_of(data)[1].page_table_position
    with pytest.raises(OutOfRange) as refusal:
        read(patched(data, position + 3 * 16 + 8, i64(1)))
    assert "L.legacy.struct.children" == refusal.value.clause
