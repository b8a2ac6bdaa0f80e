"""The check of an index over vectors: each vector finds itself."""

from __future__ import annotations

import pyarrow as pa
import pylanceref
import pytest
from pylanceref.util import validate_vector_index


def test_vectors_find_themselves(tmp_path):
    """Null ones are not asked for; others than those of the table do not."""
    values = pa.array([[0.0, 1.0], None, [2.0, 3.0]], pa.list_(pa.float32(), 2))
    dataset = pylanceref.write_dataset(pa.table({"v": values}), tmp_path)
    validate_vector_index(dataset, "v")
    validate_vector_index(dataset, "v", sample_size=2)
    strange = pa.table({"v": pa.array([[0.0, 1.0], [7.0, 7.0]], pa.list_(pa.float32(), 2))})
    dataset.sample = lambda count: strange
    with pytest.raises(ValueError, match="Vector index failed sanity check, only 1/2 passed"):
        validate_vector_index(dataset, "v", sample_size=2)
    validate_vector_index(dataset, "v", sample_size=2, pass_threshold=0.5)
