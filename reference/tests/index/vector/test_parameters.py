"""Parameters."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.index.vector.parameters import VectorParameters, partition_count
from lanceref.index.vector.vector_file import TYPES
from lanceref.proto import index_pb2

FLAT = TYPES["IVF_FLAT"]


@pytest.mark.parametrize(
    ("given", "rows", "wanted"),
    [
        ({}, 4095, 1),
        ({}, 8191, 1),
        ({}, 8192, 2),
        ({"target_partition_size": 100}, 1000, 10),
        ({"num_partitions": 3, "target_partition_size": 100}, 1000, 3),
        ({"centroids": np.zeros((5, 2))}, 1000, 5),
    ],
)
def test_how_many_partitions(given, rows, wanted):
    """As many as are asked for, else by the rows; there is one at least."""
    assert wanted == VectorParameters(FLAT, "l2", **given).partitions(rows)


def test_graphs_have_large_partitions():
    """One for about a million rows."""
    assert 1 == VectorParameters(TYPES["IVF_HNSW_FLAT"], "l2").partitions(2_000_000)


def test_details():
    """They have the metric and the hints."""
    given = VectorParameters(FLAT, "dot", target_partition_size=7, hints={"a": "b"})
    details = given.details()
    assert (index_pb2.DOT, 7) == (details.metric_type, details.target_partition_size)
    assert {"a": "b"} == dict(details.runtime_hints)


@pytest.mark.parametrize(
    ("rows", "target", "wanted"),
    [(1000, 1000, 1), (1000, 500, 2), (10, 8192, 1), (8192 * 5000, 8192, 4096)],
)
def test_partitions_follow_from_the_rows_that_one_is_to_have(rows, target, wanted):
    """At least one and at most 4096."""
    assert partition_count(rows, target) == wanted
