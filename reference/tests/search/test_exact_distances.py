"""Exact distances."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.search.vector_search import exact_distances

QUERIES = np.array([[0, 0], [1, 1]], np.float32)


def of(values, type_, queries):
    """Return row ids and distances."""
    batch = pa.record_batch(
        [pa.array(values, type_), pa.array([7, 8, 9], pa.uint64())], names=["v", "_rowid"]
    )
    return [
        (one.ids.tolist(), one.distances.tolist())
        for one in exact_distances(batch, "v", queries, "l2")
    ]


def test_one_vector_in_a_row():
    """Rows without one are left out."""
    found = of([[3, 4], None, [1, 0]], pa.list_(pa.float32(), 2), [QUERIES[:1], QUERIES[1:]])
    assert [([7, 9], [25, 1]), ([7, 9], [13, 1])] == found


def test_several_in_a_row():
    """The nearest counts, of several queries the sum."""
    values = [[[3, 4], [1, 1]], [], [[1, 0]]]
    found = of(values, pa.list_(pa.list_(pa.float32(), 2)), [QUERIES[:1], QUERIES])
    assert [([7, 9], [2, 1]), ([7, 9], [2, 2])] == found
