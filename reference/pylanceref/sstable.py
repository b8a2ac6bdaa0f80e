"""Flushed generation: the rows of a log, written as a table of their own.

It has the columns of the table and `_tombstone`, and of each key the row that was written last.
Beside it stand an index and a filter of its keys. Of the indices that writers keep B-trees are
built, and those over vectors of floats, as graphs; those over words are not.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref.core.file_versions import V2_0
from lanceref.index.indices import type_name
from lanceref.index.mem_wal.key_filter import FILE, key_filter
from lanceref.index.mem_wal.key_index import KeyIndexWriter, write_key_index
from lanceref.index.mem_wal.log_entry import TOMBSTONE
from lanceref.index.mem_wal.shard_manifest import shard_folder
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.index.vector.vectors import vector_type
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails, SsTable

from pylanceref.lsm_scanner import newest_last, primary_key
from pylanceref.write import write_dataset

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset

EDGES, EFFORT = 16, 100
"""Edges of a row in the graphs of a generation, and candidates looked at to find them."""


def write_sstable(
    dataset: LanceDataset, shard: uuid.UUID, generation: int, rows: pa.Table
) -> SsTable:
    """Write rows of the log, in the order they were written, and return what a shard says of them.

    Raises DataRefused, NotStorable.
    """
    keys = primary_key(dataset.schema)
    rows = newest_last(rows, keys) if keys else rows
    mark = pa.field(TOMBSTONE, pa.bool_(), nullable=False)
    rows = rows.cast(dataset.schema.append(mark))
    name = f"{uuid.uuid4().hex[:8]}_gen_{generation}"
    made = write_dataset(
        rows,
        f"{dataset.uri}/{shard_folder(shard)}/{name}",
        data_storage_version=dataset.data_storage_version,
        storage_options=dataset.initial_storage_options,
    )
    columns = [rows[key] for key in keys]
    store = made._snapshot.store
    store.put(FILE, key_filter(columns))
    if keys:
        with KeyIndexWriter(store, V2_0) as writer:
            write_key_index(columns, writer)
    _index(dataset, made, rows)
    size_bytes = sum(column.nbytes for column in columns)
    return SsTable(
        generation=generation,
        path=name,
        in_memory_bytes=rows.nbytes,
        physical_rows=rows.num_rows,
        primary_key_bytes=size_bytes,
    )


def _index(dataset: LanceDataset, made: LanceDataset, rows: pa.Table) -> None:
    """Build the indices that writers of the log keep."""
    details = dataset._snapshot.indices.mem_wal or MemWalIndexDetails()
    names = {field.id: field.name for field in dataset._snapshot.manifest.schema.fields}
    for entry in dataset._snapshot.manifest.indices:
        kept = details.maintain_all_indexes or entry.name in details.maintained_indexes
        if not kept or len(entry.fields) != 1 or entry.fields[0] not in names:
            continue
        column, kind = names[entry.fields[0]], type_name(entry).rpartition(".")[2]
        if kind == "BTreeIndexDetails":
            made = made.create_scalar_index(column, "BTREE", name=entry.name) or made
        elif kind == "VectorIndexDetails" and rows[column].null_count < rows.num_rows:
            made = _graph(dataset, made, entry.name, column)


def _graph(dataset: LanceDataset, made: LanceDataset, name: str, column: str) -> LanceDataset:
    """Build an index over vectors by the metric of the one of the table, of one partition."""
    type_ = vector_type(made.schema.field(column).type)
    if type_ is None or type_.multivector or type_.dtype.kind != "f":
        return made
    (index,) = (one for one in dataset._snapshot.indices.known if one.name == name)
    opened = index.open(index.segments[0]).index
    assert isinstance(opened, VectorIndex)
    return made.create_index(
        column,
        "IVF_HNSW_SQ",
        name=name,
        metric=opened.head.model.metric,
        num_partitions=1,
        ivf_centroids=np.zeros((1, type_.dimension), type_.dtype),
        m=EDGES,
        ef_construction=EFFORT,
    )
