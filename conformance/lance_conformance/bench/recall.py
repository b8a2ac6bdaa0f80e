"""Questions about vectors: how many of the nearest rows a table finds."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pyarrow as pa
import pylanceref

from lance_conformance.bench.recall_data import Data, K


def ask(module: ModuleType, path: str, data: Data, probes: int, refine: int | None) -> float:
    """Ask every query, and return the recall at K."""
    dataset, found = module.dataset(path), 0
    for query, wanted in zip(data.queries, data.nearest, strict=True):
        nearest = {"column": "v", "q": query, "k": K, "nprobes": probes, "refine_factor": refine}
        answer = dataset.to_table(nearest=nearest, columns=["i", "_distance"])
        found += len(wanted & set(answer["i"].to_pylist()))
    return found / (K * len(data.queries))


def stored(data: Data, path: str, file_rows: int = 1024 * 1024) -> str:
    """Write the vectors with their numbers, so many rows in a file; return the path."""
    numbers = pa.array(data.vectors.ravel())
    vectors = pa.FixedSizeListArray.from_arrays(numbers, data.vectors.shape[1])
    table = pa.table({"i": np.arange(len(data.vectors)), "v": vectors})
    pylanceref.write_dataset(table, path, max_rows_per_file=file_rows)
    return path
