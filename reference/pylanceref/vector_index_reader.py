"""Vector index reader: the rows of an index over vectors, partition by partition (face).

Has the names of pylance's `VectorIndexReader`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.index.row_set import Keys
from lanceref.index.vector.storage import Columns
from lanceref.index.vector.vector_index import VectorIndex

from pylanceref.dataset import LanceDataset

ROW_ID = "_rowid"


class VectorIndexReader:
    """Reads an index. Raises KeyError where there is none, ValueError for one of another type."""

    def __init__(self, dataset: LanceDataset, index_name: str) -> None:
        self.dataset, self.index_name = dataset, index_name
        self.stats = dataset.index_statistics(index_name)
        index = next(one for one in dataset._snapshot.indices.known if one.name == index_name)
        opened = [index.open(segment).index for segment in index.segments if segment.built]
        self._segments = [one for one in opened if isinstance(one, VectorIndex)]
        if not self._segments:
            raise ValueError(f"Index {index_name} is not vector index")

    def num_partitions(self) -> int:
        """Return the number of partitions: that of the first segment."""
        return len(self._segments[0].head.model.centroids)

    def read_partition(self, partition_id: int, *, with_vector: bool = False) -> pa.Table:
        """Return the row ids of a partition, and what is stored of their vectors.

        Raises IndexError for a partition that there is not, FormatError.
        """
        if not 0 <= partition_id < self.num_partitions():
            raise IndexError(
                f"Partition id {partition_id} is out of range, expected 0 <= partition_id < "
                f"{self.num_partitions()}"
            )
        parts = []
        for segment in self._segments:
            if partition_id < len(segment.head.model.centroids):
                rows = segment.rows(partition_id) if with_vector else {}
                parts.append(_table(segment.keys(partition_id), rows))
        return pa.concat_tables(parts)


def _table(keys: Keys, rows: Columns) -> pa.Table:
    """Return row ids [n], and columns of one number, or of several, a row."""
    columns = {ROW_ID: pa.array(keys)}
    for name, values in rows.items():
        flat = pa.array(np.ascontiguousarray(values).reshape(-1))
        several = values.ndim == 2
        columns[name] = (
            pa.FixedSizeListArray.from_arrays(flat, values.shape[1]) if several else flat
        )
    return pa.table(columns)
