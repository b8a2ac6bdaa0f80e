"""Names that pylance keeps in its module of this name (face); each stands in one of its own."""

from __future__ import annotations

from lanceref.clusters import KMeans
from lanceref.hnsw import HNSW
from lanceref.index.vector.parameters import partition_count
from lanceref.moments import sanitize_ts
from lanceref.self_search import validate_vector_index

__all__ = ["HNSW", "KMeans", "sanitize_ts", "validate_vector_index"]

USUAL_PARTITION_ROWS = 8192
"""Rows that a partition is to have when nobody says."""


def _target_partition_size_to_num_partitions(
    num_rows: int, target_partition_size: int | None
) -> int:
    """Return how many partitions so many rows get, by the rows one is to have."""
    wanted = USUAL_PARTITION_ROWS if target_partition_size is None else target_partition_size
    return partition_count(num_rows, wanted)
