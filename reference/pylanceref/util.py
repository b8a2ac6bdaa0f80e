"""Clusters of vectors without a table, and a check of an index over vectors: `lance.util`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref.index.vector.parameters import VectorParameters
from lanceref.index.vector.vector_index import TYPES
from lanceref.kernels.distance import Metric, normalized
from lanceref.kernels.kmeans import ROUNDS, assign, train
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset

METRICS: dict[str, Metric] = {"l2": "l2", "euclidean": "l2", "dot": "dot", "cosine": "l2"}
"""Metrics by their names, as centroids are trained; cosine is l2 of vectors of length 1."""


class KMeans:
    """`k` clusters of vectors of float32, given by their centroids or trained."""

    def __init__(
        self,
        k: int,
        metric_type: str = "l2",
        max_iters: int = ROUNDS,
        centroids: pa.FixedSizeListArray | None = None,
    ) -> None:
        """Raises ValueError for another metric, or centroids of another type."""
        if metric_type.lower() not in METRICS:
            raise ValueError(f"Invalid metric_type: {metric_type}")
        self.k, self._max_iters = k, max_iters
        self._metric, self._is_cosine = METRICS[metric_type.lower()], metric_type == "cosine"
        self._centroids: NDArray[np.number] | None = None
        if centroids is not None:
            self._centroids = _matrix(centroids)

    @property
    def centroids(self) -> pa.FixedShapeTensorArray | None:
        """The centroids (k, dimension) float32, None before any were trained."""
        if self._centroids is None:
            return None
        return pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(self._centroids))

    def fit(self, data: pa.Array | NDArray[np.float32]) -> None:
        """Train by vectors (n, dimension) float32. Raises ValueError, RuntimeError for too few."""
        vectors = self._prepared(data)
        if len(vectors) < self.k:
            raise RuntimeError(f"KMeans: {len(vectors)} vectors are less than {self.k} clusters")
        random = np.random.default_rng()
        self._centroids = train(vectors, self.k, self._metric, random, self._max_iters)

    def predict(self, data: pa.Array | NDArray[np.float32]) -> pa.UInt32Array:
        """Return the cluster of each vector (n, dimension). Raises RuntimeError before `fit`."""
        if self._centroids is None:
            raise RuntimeError("KMeans must fit (train) first")
        vectors = self._prepared(data)
        if vectors.shape[1] != self._centroids.shape[1]:
            raise ValueError(f"Dimension mismatch: {vectors.shape[1]}")
        return pa.array(assign(vectors, self._centroids, self._metric), pa.uint32())

    def _prepared(self, data: pa.Array | NDArray[np.float32]) -> NDArray[np.float32]:
        return normalized(_matrix(data)) if self._is_cosine else _matrix(data)


def _matrix(data: pa.Array | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors as rows. Raises ValueError for another type or shape."""
    if isinstance(data, pa.FixedShapeTensorArray):
        if len(data.type.shape) != 1:
            raise ValueError(f"Tensor must be a 1-D array, got {len(data.type.shape)}-D")
        data = data.storage
    if isinstance(data, pa.FixedSizeListArray):
        if data.type.value_type != pa.float32():
            raise ValueError(f"Array must be float32 type, got: {data.type.value_type}")
        data = data.flatten().to_numpy().reshape(len(data), data.type.list_size)
    if not isinstance(data, np.ndarray) or data.ndim != 2 or data.dtype != np.float32:
        raise ValueError("vectors must be a list of a fixed size, a tensor or a matrix of float32")
    return data


def _target_partition_size_to_num_partitions(num_rows: int, size: int | None) -> int:
    """Return the partitions of an index over so many rows, with so many each."""
    return VectorParameters(TYPES["IVF_PQ"], "l2", None, size).partitions(num_rows)


NEAR = 1e-6
"""Distance up to which a vector has found itself."""


def validate_vector_index(
    dataset: LanceDataset,
    column: str,
    refine_factor: int = 5,
    sample_size: int | None = None,
    pass_threshold: float = 1.0,
) -> None:
    """Raise ValueError when a smaller share of vectors than `pass_threshold` find themselves."""
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
