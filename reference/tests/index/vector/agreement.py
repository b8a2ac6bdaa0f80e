"""Answers of both implementations over one index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref

from .indexed import fixed

ROWS, DIMENSION = 900, 16

TOLERANCE = 2e-5
"""How far distances may differ, as a share of the largest."""


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


def found_by(module, path: str, queries, **asked):
    """Return the rows and distances that an implementation finds for each query."""
    dataset = module.dataset(path)
    for query in queries:
        nearest = {"column": "v", "q": query, "k": 20, "nprobes": 2, **asked}
        found = dataset.to_table(nearest=nearest, columns=["_distance"], with_row_id=True)
        yield found["_rowid"].to_pylist(), found["_distance"].to_numpy()


def agree(path: str, oracle, queries, share: float = 1, **asked) -> None:
    """Check that both find the same rows, as far away, but for rows as far as the last.

    `share` is how many of the oracle's rows ours are at least: that of queries that may pass over
    some.
    """
    ours, theirs = (
        found_by(pylanceref, path, queries, **asked),
        found_by(oracle, path, queries, **asked),
    )
    wanted, missing = 0, 0
    for (mine, near), (other, far) in zip(ours, theirs, strict=True):
        room = TOLERANCE * max(1.0, float(np.abs(far).max()))
        found = dict(zip(mine, near.tolist(), strict=True))
        sure = [
            (row, one) for row, one in zip(other, far.tolist(), strict=True) if one < far[-1] - room
        ]
        assert len(near) == len(far) and len(sure) >= 5
        for row, distance in sure:
            wanted += 1
            missing += row not in found
            assert abs(found.get(row, distance) - distance) <= room
    assert missing <= (1 - share) * wanted
