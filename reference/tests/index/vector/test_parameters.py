"""Parameters."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.index.vector.parameters import VectorParameters, check_column, partition_count
from lanceref.index.vector.vector_file import TYPES
from lanceref.index.vector.vectors import VectorType
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


@pytest.mark.parametrize(
    ("element", "multivector", "metric", "type_", "told"),
    [
        (pa.uint8(), False, "hamming", "IVF_HNSW_FLAT", None),
        (pa.uint8(), False, "l2", "IVF_FLAT", "Unsupported training sample type uint8"),
        (pa.float32(), False, "hamming", "IVF_FLAT", "type float with metric hamming"),
        (pa.uint8(), False, "hamming", "IVF_PQ", "IVF_PQ cannot store uint8 vectors"),
        (pa.float16(), True, "cosine", "IVF_RQ", None),
        (pa.float16(), True, "dot", "IVF_RQ", "only cosine distance"),
    ],
)
def test_which_columns_there_are_indices_over(element, multivector, metric, type_, told):
    """Bytes have their own metric, several vectors a direction."""
    column = VectorType(element, 8, multivector)
    with nullcontext() if told is None else pytest.raises(QueryRefused, match=told):
        check_column(column, metric, TYPES[type_])
