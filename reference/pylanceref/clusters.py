"""Clusters of vectors: k-means for callers (face).

Has the names, arguments and errors of pylance's `lance.util.KMeans`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.kernels.assignment import assign
from lanceref.kernels.distance import Metric, normalized
from lanceref.kernels.kmeans import ROUNDS, train
from numpy.typing import NDArray

METRICS: dict[str, tuple[str, Metric]] = {
    "l2": ("l2", "l2"),
    "euclidean": ("l2", "l2"),
    "dot": ("dot", "dot"),
    "cosine": ("cosine", "l2"),
}
"""Metrics as they are shown, and as centroids are trained; cosine is l2 of vectors of length
1. Centroids of dot are of length 1."""

Vectors = NDArray[np.float32]


class KMeans:
    """Clusters of vectors of float32: trained once, then asked for the cluster of any vector."""

    def __init__(
        self,
        k: int,
        metric_type: str = "l2",
        max_iters: int = ROUNDS,
        centroids: pa.FixedSizeListArray | None = None,
    ) -> None:
        """Describe `k` clusters, given by their centroids if they are known. Raises ValueError."""
        if metric_type.lower() not in METRICS:
            raise ValueError(f"Invalid metric_type: {metric_type}")
        self.k = k
        self._metric_type, self._metric = METRICS[metric_type.lower()]
        self._max_iters = max_iters
        self._centroids: NDArray[np.number] | None = None
        if centroids is not None:
            given = _matrix(centroids)
            self._centroids = normalized(given) if self._metric == "dot" else given

    def __repr__(self) -> str:
        return f"lance.KMeans(k={self.k}, metric_type={self._metric_type})"

    @property
    def centroids(self) -> pa.FixedShapeTensorArray | None:
        """The centroids, None before any were trained."""
        if self._centroids is None:
            return None
        return pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(self._centroids))

    def fit(self, data: pa.Array | Vectors) -> None:
        """Train the centroids anew.

        Raises ValueError for other data than float32, RuntimeError for less than `k` vectors.
        """
        vectors = self._prepared(data)
        if len(vectors) < self.k:
            raise RuntimeError(
                "Error training KMeans: Invalid argument error: KMeans: training does not have "
                f"sufficient data points: n({len(vectors)}) is smaller than k({self.k})"
            )
        random = np.random.default_rng()
        self._centroids = train(vectors, self.k, self._metric, random, self._max_iters)

    def predict(self, data: pa.Array | Vectors) -> pa.UInt32Array:
        """Return the cluster of each vector. Raises RuntimeError before any were trained."""
        vectors = self._prepared(data)
        if self._centroids is None:
            raise RuntimeError("KMeans must fit (train) first")
        wanted = self._centroids.shape[1]
        if vectors.shape[1] != wanted:
            raise ValueError(f"Dimension mismatch: kmean model {wanted} != data {vectors.shape[1]}")
        return pa.array(assign(vectors, self._centroids, self._metric), pa.uint32())

    def _prepared(self, data: pa.Array | Vectors) -> Vectors:
        vectors = _matrix(data)
        return normalized(vectors) if self._metric_type == "cosine" else vectors


def _matrix(data: pa.Array | Vectors) -> Vectors:
    """Return vectors as rows. Raises ValueError for another type or shape."""
    if isinstance(data, pa.FixedShapeTensorArray):
        if len(data.type.shape) != 1:
            raise ValueError(
                f"Fixed shape tensor array must be a 1-D array, got {len(data.type.shape)}-D"
            )
        return _matrix(data.storage)
    if isinstance(data, pa.FixedSizeListArray):
        if data.type.value_type != pa.float32():
            raise ValueError(f"Array must be float32 type, got: {data.type.value_type}")
        values: Vectors = data.flatten().to_numpy(zero_copy_only=False)
        return values.reshape(len(data), data.type.list_size)
    if not isinstance(data, np.ndarray):
        raise ValueError("Data must be a FixedSizeListArray, Tensor or numpy array")
    if data.ndim != 2:
        raise ValueError(f"Numpy array must be a 2-D array, got {data.ndim}-D")
    if data.dtype != np.float32:
        raise ValueError(f"Numpy array must be float32 type, got: {data.dtype}")
    return data
