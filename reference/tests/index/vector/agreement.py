"""Clustered vectors, and indices over them by either implementation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref

from .indexed import fixed

ROWS, DIMENSION = 900, 16


def clustered(dtype, rows: int = ROWS, dimension: int = DIMENSION, seed: int = 3):
    """Return vectors around a few places, and queries near some of them."""
    source = np.random.default_rng(seed)
    around = source.normal(size=(8, dimension)) * 2
    values = around[source.integers(0, 8, rows)] + source.normal(size=(rows, dimension))
    queries = values[:4] + source.normal(size=(4, dimension)) * 0.2
    return values.astype(dtype), queries.astype(dtype)


def built(root: Path, values, by, index_type: str, **parameters) -> str:
    """Write vectors and build an index by one of the implementations; return where."""
    path = str(root / "t")
    pylanceref.write_dataset(pa.table({"v": fixed(values)}), path)
    by.dataset(path).create_index("v", index_type, num_partitions=3, **parameters)
    return path
