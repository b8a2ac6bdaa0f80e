"""Vectors of a column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lanceref.index.vector.vectors import VectorType, vector_type, vectors_of


@pytest.mark.parametrize("element", [pa.float16(), pa.float32(), pa.float64(), pa.uint8()])
def test_rows_without_a_vector_are_left_out(element):
    """Each vector is known by its row, in a part of a column too."""
    column = pa.array([[1, 2], None, [3, 4], [5, 6]], pa.list_(pa.float32(), 2))
    column = column.cast(pa.list_(element, 2))
    found = vectors_of(column)
    assert [0, 2, 3] == found.rows.tolist()
    assert [[1, 2], [3, 4], [5, 6]] == found.values.tolist()
    assert [[3, 4], [5, 6]] == vectors_of(column.slice(1)).values.tolist()
    assert VectorType(element, 2, multivector=False).dtype == found.values.dtype


def test_rows_with_several():
    """A row may hold none, one or more; the type says so."""
    type_ = pa.list_(pa.list_(pa.float32(), 2))
    column = pa.array([[[1, 2], [3, 4]], [], None, [[5, 6]]], type_)
    found = vectors_of(column)
    assert [0, 0, 3] == found.rows.tolist()
    assert [[1, 2], [3, 4], [5, 6]] == found.values.tolist()
    assert VectorType(pa.float32(), 2, multivector=True) == vector_type(type_)


def test_nulls_within_a_vector_are_no_numbers():
    """They are 0 where the numbers are bytes."""
    (vector,) = vectors_of(pa.array([[1, None]], pa.list_(pa.float32(), 2))).values
    assert np.isnan(vector[1])
    (vector,) = vectors_of(pa.array([[1, None]], pa.list_(pa.uint8(), 2))).values
    assert [1, 0] == vector.tolist()


def test_other_columns_hold_none():
    """Lists of any size and numbers are no vectors; tensors of one dimension are."""
    assert vector_type(pa.int64()) is None
    assert vector_type(pa.list_(pa.float32())) is None
    tensor = pa.fixed_shape_tensor(pa.float32(), [3])
    assert VectorType(pa.float32(), 3, multivector=False) == vector_type(tensor)
