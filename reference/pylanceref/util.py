"""Names of pylance's `lance.util`: graphs, and a check of an index over vectors (face)."""

from __future__ import annotations

import numpy as np

from pylanceref.hnsw import HNSW
from pylanceref.reading import Reading
from pylanceref.timestamps import sanitize_ts

__all__ = ["HNSW", "sanitize_ts", "validate_vector_index"]

NEAR = 1e-6
"""Distance up to which a vector has found itself."""


def validate_vector_index(
    dataset: Reading,
    column: str,
    refine_factor: int = 5,
    sample_size: int | None = None,
    pass_threshold: float = 1.0,
) -> None:
    """Search for vectors of a table, and see that each finds itself; nulls and NaN are passed over.

    Raises ValueError when less than `pass_threshold` of all, or of a sample, do.
    """
    rows = dataset.to_table() if sample_size is None else dataset.sample(sample_size)
    asked = [
        vector
        for vector in rows[column].to_numpy(zero_copy_only=False)
        if vector is not None and not np.isnan(vector).any()
    ]
    query = {"column": column, "k": 1, "nprobes": 1, "refine_factor": refine_factor}
    passed = 0
    for vector in asked:
        found = dataset.to_table(nearest={**query, "q": vector})["_distance"]
        passed += len(found) > 0 and abs(found[0].as_py()) < NEAR
    if passed < pass_threshold * len(asked):
        raise ValueError(f"Vector index failed sanity check, only {passed}/{len(asked)} passed")
