"""Indices: how they are described and configured, and models trained apart from them (face).

Has the names of pylance's `lance.indices`. What `IndicesBuilder` trains goes to every worker of a
distributed build.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref.index.training import Training
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_kind import VECTOR
from lanceref.index.vector.vectors import sampled_vectors, vectors_of
from lanceref.kernels import kmeans, product_quantizer
from lanceref.kernels.distance import AnyVectors
from lanceref.kernels.kmeans import assign
from lanceref.operations.index_build import indexed_field, new_entry, segment_writer, training_of

from pylanceref.index_listing import (
    IndexConfig,
    IndexDescription,
    IndexFileVersion,
    IndexSegmentDescription,
    SupportedDistributedIndices,
)
from pylanceref.index_request import vector_column, whole_number
from pylanceref.indexing import commit_segments, segments_of
from pylanceref.nearest import METRIC_NAMES
from pylanceref.vector_models import (
    IvfModel,
    PqModel,
    product_of,
    write_segment,
    write_sorted,
    write_transformed,
)

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset
    from pylanceref.fragment import LanceFragment

__all__ = ["IndexConfig", "IndexDescription", "IndexFileVersion", "IndexSegmentDescription"]
__all__ += ["IndicesBuilder", "IvfModel", "PqModel", "SupportedDistributedIndices"]

SUB_VECTORS = (16, 8)
"""Numbers of a sub-vector, where nobody says how many sub-vectors there are."""


class IndicesBuilder:
    """Trains models over a column of vectors."""

    def __init__(self, dataset: LanceDataset, column: str | list[str]) -> None:
        self.dataset = dataset
        self.column = [column] if isinstance(column, str) else column
        (name,) = self.column
        self.dimension = vector_column(dataset._snapshot.manifest.schema, name).dimension

    def train_ivf(
        self,
        num_partitions: int | None = None,
        *,
        distance_type: str = "l2",
        accelerator: object = None,
        sample_rate: int = 256,
        max_iters: int = 50,
        fragment_ids: list[int] | None = None,
    ) -> IvfModel:
        """Train centroids, by default the root of the rows. Raises ValueError, TypeError."""
        if accelerator is not None:
            raise NotImplementedError("models are trained without an accelerator")
        training = self._training(fragment_ids)
        root = math.sqrt(sum(one.num_rows for one in training.fragments))
        count = round(root) if num_partitions is None else whole_number(num_partitions)
        _check_rate(sample_rate, count, training, "IVF centroids")
        if not isinstance(distance_type, str) or distance_type.lower() not in METRIC_NAMES:
            raise ValueError(f"Distance type {distance_type} not supported.")
        metric, random = METRIC_NAMES[distance_type.lower()], np.random.default_rng()
        vectors = sampled_vectors(training, metric, count * sample_rate, random)
        if len(vectors) < count:
            raise ValueError(f"{len(vectors)} vectors are not enough for {count} centroids")
        between = "l2" if metric == "cosine" else metric
        found = kmeans.train(vectors, count, between, random, max_iters)
        return IvfModel(_lists(found.astype(vectors.dtype)), distance_type.lower())

    def train_pq(
        self,
        ivf_model: IvfModel,
        num_subvectors: int | None = None,
        *,
        sample_rate: int = 256,
        max_iters: int = 50,
        num_bits: int = 8,
        fragment_ids: list[int] | None = None,
    ) -> PqModel:
        """Train codewords of sub-vectors, for vectors less their centroids. Raises ValueError."""
        count, training = self._sub_vectors(num_subvectors), self._training(fragment_ids)
        _check_rate(sample_rate, 2**num_bits, training, "PQ codebook")
        metric, random = METRIC_NAMES[ivf_model.distance_type], np.random.default_rng()
        model = Model(metric, vectors_of(ivf_model.centroids).values)
        vectors = sampled_vectors(training, metric, 2**num_bits * sample_rate, random)
        if metric != "dot":
            near = assign(vectors, model.centroids, model.of_vectors)
            vectors = vectors - model.centroids[near]
        if not len(vectors):
            raise ValueError("codewords cannot be trained without vectors")
        if len(vectors) < 2**num_bits:  # most rows are null: some codewords are alike
            vectors = vectors[np.resize(np.arange(len(vectors)), 2**num_bits)]
        found = product_quantizer.train(
            vectors, count, num_bits, model.of_vectors, random, max_iters
        )
        codebook = np.reshape(found.codebook, (2**num_bits, self.dimension))
        return PqModel(count, _lists(codebook), num_bits=num_bits)

    def transform_vectors(
        self,
        ivf: IvfModel,
        pq: PqModel,
        dest_uri: str,
        fragments: Sequence[LanceFragment] | None = None,
        partition_ds_uri: str | None = None,
    ) -> None:
        """Write partitions and product codes of rows. Raises ValueError, NotImplementedError."""
        if partition_ds_uri is not None:
            raise NotImplementedError("partitions are found here and not given")
        if fragments is not None and not fragments:
            raise ValueError("fragments must be a non-empty list or None")
        ids = None if fragments is None else [one.fragment_id for one in fragments]
        write_transformed(self._training(ids), product_of(ivf, pq), dest_uri)

    def shuffle_transformed_vectors(
        self,
        unsorted_filenames: list[str],
        dir_path: str,
        ivf: IvfModel,
        shuffle_output_root_filename: str | None = "sorted",
    ) -> list[str]:
        """Write the rows of such files by partition; return the files' names. Raises ValueError."""
        if not isinstance(unsorted_filenames, list):
            raise ValueError("filenames must be a list of strings")
        root = shuffle_output_root_filename or "sorted"
        return write_sorted(unsorted_filenames, dir_path, ivf.num_partitions, root)

    def load_shuffled_vectors(
        self,
        filenames: list[str],
        dir_path: str,
        ivf: IvfModel,
        pq: PqModel,
        index_name: str | None = None,
    ) -> None:
        """Commit an index of sorted files. Raises ValueError, DataRefused, CommitConflict."""
        if not isinstance(filenames, list):
            raise ValueError("filenames must be a list of strings")
        snapshot = self.dataset._snapshot
        name = f"{self.column[0]}_idx" if index_name is None else index_name
        _, field_id = indexed_field(snapshot.manifest.schema, self.column[0])
        with segment_writer(snapshot) as writer:
            built = write_segment(filenames, dir_path, product_of(ivf, pq), writer)
        entry = new_entry(snapshot, writer, built, name, field_id, snapshot.fragments)
        commit_segments(self.dataset, [entry], segments_of(self.dataset, name))

    def _training(self, ids: Sequence[int] | None) -> Training:
        """Return the rows of fragments. Raises ValueError for one that is not there."""
        field, _ = indexed_field(self.dataset._snapshot.manifest.schema, self.column[0])
        fragments = self.dataset.fragment_rows(ids)
        return training_of(self.dataset._snapshot, VECTOR, field, fragments)

    def _sub_vectors(self, given: int | None) -> int:
        """Return the number of sub-vectors, by default of 16 or 8 numbers. Raises ValueError."""
        dimension = self.dimension
        if given is None:
            for size in SUB_VECTORS:
                if dimension % size == 0:
                    return dimension // size
            raise ValueError(f"dimension {dimension} is not divisible by 16 or 8")
        if not isinstance(given, int):
            raise ValueError("num_subvectors must be an int")
        if not 0 < given <= dimension or dimension % given:
            raise ValueError(
                f"dimension ({dimension}) must be divisible by num_subvectors ({given}) without "
                "remainder"
            )
        return given


def _check_rate(sample_rate: object, count: int, training: Training, made: str) -> None:
    """Raise ValueError for a wrong number of rows for each of `count` vectors, or too few rows."""
    if not isinstance(sample_rate, int) or sample_rate <= 1:
        raise ValueError(f"The sample_rate must be an int greater than 1, got {sample_rate}")
    rows = sum(one.num_rows for one in training.fragments)
    if count * sample_rate > rows:
        raise ValueError(f"There are not enough rows to create {made}: {rows}")


def _lists(vectors: AnyVectors) -> pa.FixedSizeListArray:
    """Return vectors [n, d] as an array."""
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
