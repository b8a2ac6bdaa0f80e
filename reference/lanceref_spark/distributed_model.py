"""Distributed training: one model for all segments of a vector index.

Segments can only be merged if they have the same centroids and the same codebook or rotation. Each
worker caches a sample of the vectors of its shard; an iteration of k-means has a job for each
shard, which returns sums, of which the centroids are the means. A codebook is trained from a part
of the samples. The model depends on the seed and the shards, not on the executor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypedDict

import numpy as np
from lanceref.core.errors import OperationRefused
from lanceref.index.indices import indexed_column
from lanceref.index.vector import rq_storage
from lanceref.index.vector.parameters import VectorParameters
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_kind import Vector
from lanceref.index.vector.vectors import sampled_vectors
from lanceref.kernels import kmeans, product_quantizer
from lanceref.kernels.distance import AnyVectors, Metric
from lanceref.kernels.kmeans import assign
from lanceref.operations.index_build import training_of

from lanceref_spark.distributed_table import Table
from lanceref_spark.jobs import Executor

CODEWORD_ROWS = 256
"""Training vectors of a codebook, for each codeword."""


class SharedModel(TypedDict, total=False):
    """The model of all segments, as parameters of `create_index_uncommitted`."""

    ivf_centroids: AnyVectors
    pq_codebook: AnyVectors
    rabitq_model: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """A sample of vectors: at most `most` of each shard, drawn by `seed`."""

    table: Table
    column: str
    metric: Metric
    most: int
    seed: int

    @property
    def sample_metric(self) -> Metric:
        """The metric of sampled vectors, which are normalized for cosine."""
        return "l2" if self.metric == "cosine" else self.metric


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration of k-means: the sample, and the centroids [k, d]."""

    sampling: Sampling
    centroids: AnyVectors


def train_model(
    executor: Executor,
    sampling: Sampling,
    shards: Sequence[tuple[int, ...]],
    parameters: VectorParameters,
) -> SharedModel:
    """Return centroids [k, d], and a codebook [m, 2 ** b, d / m] for PQ or a rotation for RQ.

    Raises OperationRefused for too few vectors.
    """
    metric = sampling.sample_metric
    rows = sum(executor.map(count_rows, shards, sampling))
    k = parameters.partitions(rows)
    sampling = replace(sampling, most=-(-k * parameters.sample_rate // len(shards)))
    random = np.random.default_rng(sampling.seed)
    few = np.concatenate(list(executor.map(first_vectors, shards, replace(sampling, most=k))))
    if len(few) < k:
        raise OperationRefused(f"KMeans cannot train {k} centroids with {len(few)} vectors")
    first = kmeans.initial_centroids(few, k, metric, random)

    def iterate(centroids: AnyVectors) -> list[kmeans.Partial]:
        return list(executor.map(partial, shards, Iteration(sampling, centroids)))

    lengths = sum(executor.map(squared_lengths, shards, sampling))
    trained = kmeans.lloyd(iterate, first, metric, lengths, parameters.max_iters)
    centroids = np.ascontiguousarray(trained.astype(few.dtype))
    shared = SharedModel(ivf_centroids=centroids)
    model = Model(sampling.metric, centroids)
    if parameters.type.storage.name == "PQ":
        samples = replace(sampling, most=-(-CODEWORD_ROWS * 256 // len(shards)))
        vectors = np.concatenate(list(executor.map(first_vectors, shards, samples)))
        shared["pq_codebook"] = _codebook(vectors, parameters.storage, model, random)
    if parameters.type.storage.name == "RQ":
        num_bits = parameters.storage.get("num_bits", rq_storage.USUAL_BITS)
        assert isinstance(num_bits, int)
        shared["rabitq_model"] = rq_storage.model_text(model.dimension, num_bits, random)
    return shared


def _codebook(
    vectors: AnyVectors, storage: Mapping[str, object], model: Model, random: np.random.Generator
) -> AnyVectors:
    """Return a codebook [m, 2 ** b, d / m], trained on residuals except for dot."""
    count, num_bits = storage["num_sub_vectors"], storage.get("num_bits", 8)
    assert isinstance(count, int) and isinstance(num_bits, int)
    kind, centroids = model.of_vectors, model.centroids
    if model.metric != "dot":
        vectors = vectors - centroids[assign(vectors, centroids, kind)]
    if len(vectors) < 2**num_bits:
        raise OperationRefused(f"PQ cannot train {2**num_bits} codewords with {len(vectors)} rows")
    return product_quantizer.train(vectors, count, num_bits, kind, random, kmeans.ROUNDS).codebook


def count_rows(shard: tuple[int, ...], sampling: Sampling) -> int:
    """Return the number of live rows of a shard."""
    fragments = sampling.table.open().get_fragments()
    return sum(one.count_rows() for one in fragments if one.fragment_id in shard)


def first_vectors(shard: tuple[int, ...], sampling: Sampling) -> AnyVectors:
    """Return the sample of a shard [n, d]."""
    return _sample(shard, sampling)


def squared_lengths(shard: tuple[int, ...], sampling: Sampling) -> float:
    """Return the sum of squared lengths of a sample, the difference of scores and distances."""
    return kmeans.squared_lengths(_sample(shard, sampling), sampling.sample_metric)


def partial(shard: tuple[int, ...], work: Iteration) -> kmeans.Partial:
    """Return the partial sums of the sample of a shard in one iteration."""
    sampling = work.sampling
    return kmeans.partial_sums(_sample(shard, sampling), work.centroids, sampling.sample_metric)


@lru_cache(maxsize=4)
def _sample(shard: tuple[int, ...], sampling: Sampling) -> AnyVectors:
    """Return the sample of a shard, which a worker caches for later iterations."""
    snapshot = sampling.table.open()._snapshot
    indexed = indexed_column(snapshot.manifest.schema, sampling.column)
    chosen = [rows for rows in snapshot.fragments if rows.fragment.id in shard]
    training = training_of(snapshot, Vector, indexed, chosen)
    random = np.random.default_rng([sampling.seed, *shard])
    return sampled_vectors(training, sampling.metric, sampling.most, random)
