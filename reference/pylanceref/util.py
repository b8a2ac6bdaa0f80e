"""Names that pylance keeps in its module of this name (face); each stands in one of its own."""

from __future__ import annotations

from lanceref.index.vector.parameters import partition_count

from pylanceref.clusters import KMeans
from pylanceref.hnsw import HNSW
from pylanceref.self_search import validate_vector_index
from pylanceref.timestamps import sanitize_ts

__all__ = ["HNSW", "KMeans", "sanitize_ts", "validate_vector_index"]

USUAL_PARTITION_ROWS = 8192
"""Rows that a partition is to have when nobody says."""


def _target_partition_size_to_num_partitions(
    num_rows: int, target_partition_size: int | None
) -> int:
    """Return how many partitions so many rows get, by the rows one is to have."""
    wanted = USUAL_PARTITION_ROWS if target_partition_size is None else target_partition_size
    return partition_count(num_rows, wanted)
