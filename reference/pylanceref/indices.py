"""Indices: how they are described and configured, and models trained apart from them (face).

Has the names of pylance's `lance.indices`. What `IndicesBuilder` trains goes to every worker of a
distributed build: a data file of one column, with what else there is to say in the metadata of its
schema. Workers write the partitions and codes of their fragments to files, without an order; files
are sorted by partition; one process makes an index of them.

Layout of a file of codes: u64 `_rowid`, u32 `__ivf_part_id`, and the codes of the row, `__pq_code`.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import DataRefused
from lanceref.index.index_type import Built
from lanceref.index.indices import indexed_column
from lanceref.index.segment import SegmentWriter
from lanceref.index.training import Training
from lanceref.index.vector.parameters import VectorParameters
from lanceref.index.vector.pq_storage import COLUMN, Product
from lanceref.index.vector.storage import Model, arrow_column
from lanceref.index.vector.vector_index import TYPES
from lanceref.index.vector.vector_kind import EncodedRows, Vector, assigned, write
from lanceref.index.vector.vectors import indexed_vectors, sampled_vectors, vectors_of
from lanceref.kernels import kmeans, product_quantizer
from lanceref.kernels.distance import AnyVectors
from lanceref.kernels.kmeans import assign
from lanceref.kernels.product_quantizer import ProductQuantizer
from lanceref.operations.index_build import new_entry, segment_writer, training_of

from pylanceref.file import LanceFileReader, LanceFileWriter
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

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset
    from pylanceref.fragment import LanceFragment

__all__ = ["IndexConfig", "IndexDescription", "IndexFileVersion", "IndexSegmentDescription"]
__all__ += ["IndicesBuilder", "IvfModel", "PqModel", "SupportedDistributedIndices"]

SUB_VECTORS = (16, 8)
"""Numbers of a sub-vector, where nobody says how many sub-vectors there are."""


class _Model:
    """Vectors of a fixed size, and what else there is to say of them: texts and numbers."""

    _column: ClassVar[str]

    def save(self, uri: str, *, storage_options: dict[str, str] | None = None) -> None:
        """Write the model as a data file."""
        said = {name: str(value) for name, value in vars(self).items()}
        del said[self._column]
        values = getattr(self, self._column)
        schema = pa.schema([pa.field(self._column, values.type)], metadata=said)
        with LanceFileWriter(uri, schema, storage_options=storage_options) as writer:
            writer.write_batch(pa.table([values], schema=schema))

    @classmethod
    def load(cls, uri: str, *, storage_options: dict[str, str] | None = None) -> Self:
        """Read a model. Raises NotFound, FormatError, KeyError, TypeError for another file."""
        rows = LanceFileReader(uri, storage_options=storage_options).read_all().to_table()
        held: dict[str, object] = {cls._column: rows[cls._column].combine_chunks()}
        for key, value in (rows.schema.metadata or {}).items():
            held[key.decode()] = int(value) if value.isdigit() else value.decode()
        return cls(**held)


@dataclass(eq=False)
class IvfModel(_Model):
    """Centroids, a fixed-size list for each partition, and the distance they were trained for."""

    centroids: pa.FixedSizeListArray
    distance_type: str
    _column = "centroids"

    @property
    def num_partitions(self) -> int:
        """Number of partitions, which is that of centroids."""
        return len(self.centroids)


@dataclass(eq=False)
class PqModel(_Model):
    """Codewords of sub-vectors: as many lists of the vectors' size as there are codes."""

    num_subvectors: int
    codebook: pa.FixedSizeListArray
    num_bits: int = field(default=8, kw_only=True)
    _column = "codebook"

    @property
    def dimension(self) -> int:
        """How many numbers each vector of the model has."""
        return int(self.codebook.type.list_size)


ROW_ID, PARTITION = "_rowid", "__ivf_part_id"


def product_of(ivf: IvfModel, pq: PqModel) -> Product:
    """Return what makes codes by two models."""
    model = Model(METRIC_NAMES[ivf.distance_type], vectors_of(ivf.centroids).values)
    words = vectors_of(pq.codebook).values
    codebook = np.reshape(words, (pq.num_subvectors, len(words), -1))
    return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed=True)


def write_segment(
    names: Sequence[str], folder: str, product: Product, writer: SegmentWriter
) -> Built:
    """Write a segment of the rows of files. Raises DataRefused."""
    encoded, type_ = EncodedRows(product), TYPES["IVF_PQ"]
    for name in names:
        rows = _read(folder, name, len(product.model.centroids))
        codes = rows[COLUMN].combine_chunks()
        width = product.fields[0].type.list_size
        if codes.type.list_size != width:
            raise DataRefused(f"{name} has codes of {codes.type.list_size} bytes, not {width}")
        partitions, keys = rows[PARTITION].to_numpy().astype(np.int64), rows[ROW_ID].to_numpy()
        columns = {COLUMN: codes.flatten().to_numpy().reshape(-1, width)}
        encoded.parts.append((partitions, keys, columns))
    write(encoded, type_, encoded.loss, writer)
    given = VectorParameters(type_, product.model.metric, len(product.model.centroids))
    return Built(given.details(product), type_.storage.version)


def _read(folder: str, name: str, count: int) -> pa.Table:
    """Return the rows of a file of codes. Raises NotFound, FormatError, DataRefused."""
    rows = LanceFileReader(posixpath.join(folder, name)).read_all().to_table()
    if rows.schema.names != [ROW_ID, PARTITION, COLUMN]:
        raise DataRefused(f"{name} has the columns {rows.schema.names}")
    if len(rows) and (most := pc.max(rows[PARTITION]).as_py()) >= count:
        raise DataRefused(f"there is no partition {most} among {count}")
    return rows


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
            vectors = vectors - model.centroids[assign(vectors, model.centroids, model.of_vectors)]
        if not len(vectors):
            raise ValueError("codewords cannot be trained without vectors")
        if len(vectors) < 2**num_bits:  # most rows are null: some codewords are alike
            vectors = vectors[np.resize(np.arange(len(vectors)), 2**num_bits)]
        found = product_quantizer.train(
            vectors, count, num_bits, model.of_vectors, random, max_iters
        )
        codebook = np.reshape(found.codebook, (2**num_bits, self.dimension))
        return PqModel(count, _lists(codebook), num_bits=num_bits)

    def prepare_global_ivf_pq(
        self,
        num_partitions: int | None,
        num_subvectors: int | None,
        *,
        distance_type: str = "l2",
        accelerator: object = None,
        num_bits: int = 8,
        **sampling: object,
    ) -> dict[str, pa.FixedSizeListArray]:
        """Train centroids and codewords by which several processes build segments of one index."""
        both = {"distance_type": distance_type, "accelerator": accelerator, **sampling}
        ivf = self.train_ivf(num_partitions, **both)  # type: ignore[arg-type]
        pq = self.train_pq(ivf, num_subvectors, num_bits=num_bits, **sampling)  # type: ignore[arg-type]
        return {"ivf_centroids": ivf.centroids, "pq_codebook": pq.codebook}

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
        training, product = self._training(ids), product_of(ivf, pq)
        schema = pa.schema([(ROW_ID, pa.uint64()), (PARTITION, pa.uint32()), *product.fields])
        with LanceFileWriter(dest_uri, schema) as writer:
            for keyed in indexed_vectors(training, product.model.metric):
                numbers, _ = assigned(keyed.vectors, product.model)
                codes = product.encode(keyed.vectors, numbers)
                stored = arrow_column(codes[COLUMN], product.fields[0].type)
                columns = [pa.array(keyed.keys), pa.array(numbers.astype(np.uint32)), stored]
                writer.write_batch(pa.record_batch(columns, schema=schema))

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
        count = ivf.num_partitions
        rows = pa.concat_tables([_read(dir_path, name, count) for name in unsorted_filenames])
        name = f"{shuffle_output_root_filename or 'sorted'}_0.lance"
        with LanceFileWriter(posixpath.join(dir_path, name), rows.schema) as writer:
            writer.write_batch(rows.sort_by(PARTITION))
        return [name]

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
        field_id = indexed_column(snapshot.manifest.schema, self.column[0]).field.id
        with segment_writer(snapshot) as writer:
            built = write_segment(filenames, dir_path, product_of(ivf, pq), writer)
        entry = new_entry(snapshot, writer, built, name, field_id, snapshot.fragments)
        commit_segments(self.dataset, [entry], segments_of(self.dataset, name))

    def _training(self, ids: Sequence[int] | None) -> Training:
        """Return the rows of fragments. Raises ValueError for one that is not there."""
        indexed = indexed_column(self.dataset._snapshot.manifest.schema, self.column[0])
        return training_of(self.dataset._snapshot, Vector, indexed, self.dataset.fragment_rows(ids))

    def _sub_vectors(self, given: int | None) -> int:
        """Return the number of sub-vectors, by default of 16 or 8 numbers. Raises ValueError."""
        dimension = self.dimension
        if given is None:
            given = next((dimension // one for one in SUB_VECTORS if dimension % one == 0), 0)
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
