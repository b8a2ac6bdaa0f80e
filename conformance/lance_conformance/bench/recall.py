"""Recall: the share of the nearest rows that searches of a table find."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pyarrow as pa
import pylanceref

from lance_conformance.bench.recall_data import Data, K


def recall(module: ModuleType, path: str, data: Data, probes: int, refine: int | None) -> float:
    """Search for every query; return the recall at K."""
    dataset, found = module.dataset(path), 0
    for query, expected in zip(data.queries, data.nearest, strict=True):
        nearest = {"column": "v", "q": query, "k": K, "nprobes": probes, "refine_factor": refine}
        rows = dataset.to_table(nearest=nearest, columns=["i", "_distance"])
        found += len(expected & set(rows["i"].to_pylist()))
    return found / (K * len(data.queries))


def store(data: Data, path: str, file_rows: int = 1024 * 1024) -> str:
    """Write the vectors with their numbers, `file_rows` rows per file; return the path."""
    numbers = pa.array(data.vectors.ravel())
    vectors = pa.FixedSizeListArray.from_arrays(numbers, data.vectors.shape[1])
    table = pa.table({"i": np.arange(len(data.vectors)), "v": vectors})
    pylanceref.write_dataset(table, path, max_rows_per_file=file_rows)
    return path
