"""Vector transform: the rows of an index by product codes, made in steps of their own (face).

Workers write the partitions and codes of their fragments to files, without an order; files are
sorted by partition; and one process makes an index of the sorted ones.

Layout of a file: u64 `_rowid`, u32 `__ivf_part_id`, and the codes of the row, `__pq_code`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from lanceref.core.errors import DataRefused
from lanceref.data_file.reader import LanceFileReader
from lanceref.data_file.writer import LanceFileWriter
from lanceref.index.index_type import Built
from lanceref.index.segment_writer import SegmentWriter
from lanceref.index.training import Training
from lanceref.index.vector.building import Shelf, assigned, write
from lanceref.index.vector.indexed_vectors import indexed_vectors
from lanceref.index.vector.parameters import VectorParameters
from lanceref.index.vector.pq_storage import COLUMN, Product
from lanceref.index.vector.storage import Model
from lanceref.index.vector.stored_columns import arrow_column
from lanceref.index.vector.vector_file import TYPES
from lanceref.index.vector.vectors import vectors_of
from lanceref.kernels.product_quantizer import ProductQuantizer
from lanceref.search.vector_query import METRIC_NAMES
from numpy.typing import NDArray

from pylanceref.vector_models import IvfModel, PqModel

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
    with LanceFileWriter(uri, _schema(product)) as writer:
        for keyed in indexed_vectors(training, product.model.metric):
            numbers, _ = assigned(keyed.vectors, product.model)
            codes = product.encode(keyed.vectors, numbers)
            writer.write_batch(_batch(product, keyed.keys, numbers, codes[COLUMN]))


def write_sorted(names: Sequence[str], folder: str, count: int, root: str) -> list[str]:
    """Write the rows of files in the order of their partitions; return the name of the file.

    Raises DataRefused for a partition that there is not.
    """
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
    shelf, type_ = Shelf(product), TYPES["IVF_PQ"]
    for name in names:
        rows = _read(folder, name)
        _check(rows, len(product.model.centroids))
        codes = rows[COLUMN].combine_chunks()
        width = product.fields[0].type.list_size
        if codes.type.list_size != width:
            raise DataRefused(f"{name} has codes of {codes.type.list_size} bytes, not {width}")
        shelf.add(
            rows[PARTITION].to_numpy().astype(np.int64),
            rows[ROW_ID].to_numpy(),
            {COLUMN: codes.flatten().to_numpy().reshape(-1, width)},
        )
    write(shelf, type_, product.model, shelf.loss, writer)
    given = VectorParameters(type_, product.model.metric, len(product.model.centroids))
    details = given.details()
    product.describe(details)
    return Built(details, type_.storage.version)


def _schema(product: Product) -> pa.Schema:
    return pa.schema([(ROW_ID, pa.uint64()), (PARTITION, pa.uint32()), *product.fields])


def _batch(
    product: Product,
    keys: NDArray[np.uint64],
    numbers: NDArray[np.int64],
    codes: NDArray[np.generic],
) -> pa.RecordBatch:
    stored = arrow_column(codes, product.fields[0].type)
    columns = [pa.array(keys), pa.array(numbers.astype(np.uint32)), stored]
    return pa.record_batch(columns, schema=_schema(product))


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
