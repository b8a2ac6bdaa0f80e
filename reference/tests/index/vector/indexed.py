"""Tables with vector indices."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref
from lanceref.index.vector.vector_index import VectorIndex

DIMENSION = 8


def fixed(values) -> pa.Array:
    """Return rows of numbers as lists of fixed size."""
    numbers = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(numbers, values.shape[1])


def points(rows: int = 600, dtype="f4", seed: int = 1):
    """Return vectors around a few places."""
    source = np.random.default_rng(seed)
    around = source.normal(size=(6, DIMENSION)) * 4
    values = around[source.integers(0, 6, rows)] + source.normal(size=(rows, DIMENSION))
    if dtype == "u1":
        return (values * 10 + 128).clip(0, 255).astype(dtype)
    return values.astype(dtype)


def table(values) -> pa.Table:
    """Return vectors with their numbers."""
    return pa.table({"i": range(len(values)), "v": fixed(values)})


def write(values, root: Path, **options) -> pylanceref.LanceDataset:
    """Write vectors to a new folder, 250 in a fragment."""
    return pylanceref.write_dataset(table(values), root / "t", max_rows_per_file=250, **options)


def opened(dataset, place: int = 0) -> VectorIndex:
    """Return a segment of the only index."""
    (index,) = dataset._snapshot.indices.known
    return index.open(index.segments[place])


def near(dataset, q, scan=None, **asked) -> tuple[list[int], list[float]]:
    """Return the rows nearest to a vector, and how far they are."""
    nearest = {"column": "v", "q": q, **asked}
    found = dataset.to_table(nearest=nearest, columns=["i", "_distance"], **(scan or {}))
    return found["i"].to_pylist(), found["_distance"].to_pylist()
