"""Vectors in tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pylanceref.vector import vec_to_table

VECTORS = {"a": [1.0, 2.0], "b": [3.0, 4.0]}


def test_names_of_columns():
    """A dictionary has ids, a list and an array have not."""
    table = vec_to_table(VECTORS)
    assert table.to_pydict() == {"id": ["a", "b"], "vector": [[1.0, 2.0], [3.0, 4.0]]}
    assert table.schema.field("vector").type == pa.list_(pa.float32(), 2)
    array = np.array([[1.0, 2.0]])
    assert vec_to_table(array, names="v").column_names == ["v"]
    assert vec_to_table([[1.0, 2.0]]).column_names == ["vector"]


def test_what_is_refused():
    """Vectors of several lengths, and what holds none."""
    with pytest.raises(ValueError, match="same length"):
        vec_to_table([[1.0], [1.0, 2.0]])
    with pytest.raises(NotImplementedError):
        vec_to_table("abc")
