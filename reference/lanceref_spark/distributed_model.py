"""Distributed training: one model for all segments of a vector index.

Segments that are to be merged must have the same centroids and the same codebook or rotation. Each
worker keeps a sample of the vectors of its shard; a round of k-means is a job for each shard, which
returns sums, and the centroids are their means. A codebook is trained from a part of the samples.
The seed and the shards decide on the model, and not who does the jobs.
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
"""Vectors that a codebook is trained with, for each codeword."""


class SharedModel(TypedDict, total=False):
    """What all segments share, as parameters of `create_index_uncommitted`."""

    ivf_centroids: AnyVectors
    pq_codebook: AnyVectors
    rabitq_model: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """Whose vectors are looked at: `most` of each shard at most, drawn by `seed`."""

    table: Table
    column: str
    metric: Metric
    most: int
    seed: int

    @property
    def between(self) -> Metric:
        """The metric between vectors as they are sampled: those of cosine are normalized."""
        return "l2" if self.metric == "cosine" else self.metric


@dataclass(frozen=True, slots=True)
class Round:
    """One round: the vectors, and the centroids [k, d] they are held against."""

    sampling: Sampling
    centroids: AnyVectors


def train_model(
    executor: Executor,
    sampling: Sampling,
    shards: Sequence[tuple[int, ...]],
    given: VectorParameters,
) -> SharedModel:
    """Return centroids [k, d], and where codes need it a codebook [m, 2 ** b, d / m] or rotation.

    Raises OperationRefused for too few vectors.
    """
    metric = sampling.between
    rows = sum(executor.map(count_rows, shards, sampling))
    k = given.partitions(rows)
    sampling = replace(sampling, most=-(-k * given.sample_rate // len(shards)))
    random = np.random.default_rng(sampling.seed)
    few = np.concatenate(list(executor.map(first_vectors, shards, replace(sampling, most=k))))
    if len(few) < k:
        raise OperationRefused(f"KMeans cannot train {k} centroids with {len(few)} vectors")
    first = kmeans.initial_centroids(few, k, metric, random)

    def look(centroids: AnyVectors) -> list[kmeans.Partial]:
        return list(executor.map(partial, shards, Round(sampling, centroids)))

    lengths = sum(executor.map(squared_lengths, shards, sampling))
    found = kmeans.lloyd(look, first, metric, lengths, given.max_iters)
    centroids = np.ascontiguousarray(found.astype(few.dtype))
    shared = SharedModel(ivf_centroids=centroids)
    model = Model(sampling.metric, centroids)
    if given.type.storage.name == "PQ":
        samples = replace(sampling, most=-(-CODEWORD_ROWS * 256 // len(shards)))
        vectors = np.concatenate(list(executor.map(first_vectors, shards, samples)))
        shared["pq_codebook"] = _codebook(vectors, given.storage, model, random)
    if given.type.storage.name == "RQ":
        num_bits = given.storage.get("num_bits", rq_storage.USUAL_BITS)
        assert isinstance(num_bits, int)
        shared["rabitq_model"] = rq_storage.model_text(model.dimension, num_bits, random)
    return shared


def _codebook(
    vectors: AnyVectors, storage: Mapping[str, object], model: Model, random: np.random.Generator
) -> AnyVectors:
    """Train codewords, of l2 and cosine from what vectors are from their centroids."""
    count, num_bits = storage["num_sub_vectors"], storage.get("num_bits", 8)
    assert isinstance(count, int) and isinstance(num_bits, int)
    kind, centroids = model.of_vectors, model.centroids
    if model.metric != "dot":
        vectors = vectors - centroids[assign(vectors, centroids, kind)]
    if len(vectors) < 2**num_bits:
        raise OperationRefused(f"PQ cannot train {2**num_bits} codewords with {len(vectors)} rows")
    found = product_quantizer.train(vectors, count, num_bits, kind, random, kmeans.ROUNDS)
    return found.codebook


def count_rows(shard: tuple[int, ...], sampling: Sampling) -> int:
    """Count the live rows of a shard."""
    fragments = sampling.table.opened().get_fragments()
    return sum(one.count_rows() for one in fragments if one.fragment_id in shard)


def first_vectors(shard: tuple[int, ...], sampling: Sampling) -> AnyVectors:
    """Return the sample of a shard [n, d]."""
    return _sample(shard, sampling)


def squared_lengths(shard: tuple[int, ...], sampling: Sampling) -> float:
    """Return what the scores of the sample of a shard lack of distances."""
    return kmeans.squared_lengths(_sample(shard, sampling), sampling.between)


def partial(shard: tuple[int, ...], work: Round) -> kmeans.Partial:
    """Return what the sample of a shard says in one round."""
    sampling = work.sampling
    return kmeans.partial_sums(_sample(shard, sampling), work.centroids, sampling.between)


@lru_cache(maxsize=4)
def _sample(shard: tuple[int, ...], sampling: Sampling) -> AnyVectors:
    """Draw vectors of a shard; a worker keeps those it has drawn for the next round."""
    snapshot = sampling.table.opened()._snapshot
    indexed = indexed_column(snapshot.manifest.schema, sampling.column)
    chosen = [rows for rows in snapshot.fragments if rows.fragment.id in shard]
    training = training_of(snapshot, Vector, indexed, chosen)
    random = np.random.default_rng([sampling.seed, *shard])
    return sampled_vectors(training, sampling.metric, sampling.most, random)
