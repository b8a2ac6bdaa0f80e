"""Vector models: centroids and codebooks trained apart, and indices made of them in steps (face).

Has names of pylance's `lance.indices`. A model is a data file of one column, with what else there
is to say in the metadata of its schema. Workers write the partitions and codes of their fragments
to files, without an order; files are sorted by partition; one process makes an index of them.

Layout of a file of codes: u64 `_rowid`, u32 `__ivf_part_id`, and the codes of the row, `__pq_code`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from lanceref.core.errors import DataRefused
from lanceref.index.index_type import Built
from lanceref.index.segment import SegmentWriter
from lanceref.index.training import Training
from lanceref.index.vector.parameters import VectorParameters
from lanceref.index.vector.pq_storage import COLUMN, Product
from lanceref.index.vector.storage import Model, arrow_column
from lanceref.index.vector.vector_index import TYPES
from lanceref.index.vector.vector_kind import EncodedRows, assigned, write
from lanceref.index.vector.vectors import indexed_vectors, vectors_of
from lanceref.kernels.product_quantizer import ProductQuantizer

from pylanceref.file import LanceFileReader, LanceFileWriter
from pylanceref.nearest import METRIC_NAMES


@dataclass(eq=False)
class IvfModel:
    """Centroids, a fixed-size list for each partition, and the distance they were trained for."""

    centroids: pa.FixedSizeListArray
    distance_type: str

    @property
    def num_partitions(self) -> int:
        """Number of partitions, which is that of centroids."""
        return len(self.centroids)

    def save(self, uri: str, *, storage_options: dict[str, str] | None = None) -> None:
        """Write the model as a data file."""
        said = {"distance_type": self.distance_type}
        _save(uri, "centroids", self.centroids, said, storage_options)

    @classmethod
    def load(cls, uri: str, *, storage_options: dict[str, str] | None = None) -> IvfModel:
        """Read a model. Raises NotFound, FormatError, KeyError for another file."""
        centroids, said = _load(uri, "centroids", storage_options)
        return cls(centroids, said["distance_type"])


@dataclass(eq=False)
class PqModel:
    """Codewords of sub-vectors: as many lists of the vectors' size as there are codes."""

    num_subvectors: int
    codebook: pa.FixedSizeListArray
    num_bits: int = field(default=8, kw_only=True)

    @property
    def dimension(self) -> int:
        """How many numbers each vector of the model has."""
        return int(self.codebook.type.list_size)

    def save(self, uri: str, *, storage_options: dict[str, str] | None = None) -> None:
        """Write the model as a data file."""
        said = {"num_subvectors": str(self.num_subvectors), "num_bits": str(self.num_bits)}
        _save(uri, "codebook", self.codebook, said, storage_options)

    @classmethod
    def load(cls, uri: str, *, storage_options: dict[str, str] | None = None) -> PqModel:
        """Read a model. Raises NotFound, FormatError, KeyError for another file."""
        codebook, said = _load(uri, "codebook", storage_options)
        return cls(int(said["num_subvectors"]), codebook, num_bits=int(said.get("num_bits", "8")))


def _save(
    uri: str,
    name: str,
    values: pa.FixedSizeListArray,
    said: dict[str, str],
    storage_options: dict[str, str] | None,
) -> None:
    schema = pa.schema([pa.field(name, values.type)], metadata=said)
    with LanceFileWriter(uri, schema, storage_options=storage_options) as writer:
        writer.write_batch(pa.table([values], schema=schema))


def _load(
    uri: str, name: str, storage_options: dict[str, str] | None
) -> tuple[pa.FixedSizeListArray, dict[str, str]]:
    reader = LanceFileReader(uri, storage_options=storage_options)
    said = {
        key.decode(): value.decode()
        for key, value in (reader.metadata().schema.metadata or {}).items()
    }
    return reader.read_all().to_table()[name].combine_chunks(), said


ROW_ID, PARTITION = "_rowid", "__ivf_part_id"


def product_of(ivf: IvfModel, pq: PqModel) -> Product:
    """Return what makes codes by two models."""
    metric = METRIC_NAMES[ivf.distance_type]
    model = Model(metric, vectors_of(ivf.centroids).values)
    words = vectors_of(pq.codebook).values
    codebook = np.reshape(words, (pq.num_subvectors, len(words), -1))
    return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed=True)


def write_transformed(training: Training, product: Product, uri: str) -> None:
    """Write partitions and codes of rows, in the order of the table."""
    schema = pa.schema([(ROW_ID, pa.uint64()), (PARTITION, pa.uint32()), *product.fields])
    with LanceFileWriter(uri, schema) as writer:
        for keyed in indexed_vectors(training, product.model.metric):
            numbers, _ = assigned(keyed.vectors, product.model)
            codes = product.encode(keyed.vectors, numbers)
            stored = arrow_column(codes[COLUMN], product.fields[0].type)
            columns = [pa.array(keyed.keys), pa.array(numbers.astype(np.uint32)), stored]
            writer.write_batch(pa.record_batch(columns, schema=schema))


def write_sorted(names: Sequence[str], folder: str, count: int, root: str) -> list[str]:
    """Write the rows of files by partition; return the name of the file. Raises DataRefused."""
    rows = pa.concat_tables([_read(folder, name) for name in names])
    _check(rows, count)
    name = f"{root}_0.lance"
    with LanceFileWriter(posixpath.join(folder, name), rows.schema) as writer:
        writer.write_batch(rows.sort_by(PARTITION))
    return [name]


def write_segment(
    names: Sequence[str], folder: str, product: Product, writer: SegmentWriter
) -> Built:
    """Write a segment of the rows of files. Raises DataRefused."""
    encoded, type_ = EncodedRows(product), TYPES["IVF_PQ"]
    for name in names:
        rows = _read(folder, name)
        _check(rows, len(product.model.centroids))
        codes = rows[COLUMN].combine_chunks()
        width = product.fields[0].type.list_size
        if codes.type.list_size != width:
            raise DataRefused(f"{name} has codes of {codes.type.list_size} bytes, not {width}")
        encoded.add(
            rows[PARTITION].to_numpy().astype(np.int64),
            rows[ROW_ID].to_numpy(),
            {COLUMN: codes.flatten().to_numpy().reshape(-1, width)},
        )
    write(encoded, type_, encoded.loss, writer)
    given = VectorParameters(type_, product.model.metric, len(product.model.centroids))
    return Built(given.details(product), type_.storage.version)


def _read(folder: str, name: str) -> pa.Table:
    """Return the rows of a file. Raises NotFound, FormatError, DataRefused."""
    rows = LanceFileReader(posixpath.join(folder, name)).read_all().to_table()
    if rows.schema.names != [ROW_ID, PARTITION, COLUMN]:
        raise DataRefused(f"{name} has the columns {rows.schema.names}")
    return rows


def _check(rows: pa.Table, count: int) -> None:
    """Raise DataRefused for rows of a partition that there is not."""
    numbers = rows[PARTITION].to_numpy()
    if len(numbers) and int(numbers.max()) >= count:
        raise DataRefused(f"there is no partition {int(numbers.max())} among {count}")
