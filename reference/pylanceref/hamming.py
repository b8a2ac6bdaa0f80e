"""Rows that are alike: clusters of hashes by hamming distance (face).

Has the names, arguments and errors of pylance's `lance.vector`. A hash is a list of bytes of fixed
size; rows without one, and deleted rows, are in no cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np
import pyarrow as pa
from lanceref.core.arrow_names import name_of_type
from lanceref.core.errors import IndexNotFound, NotFound, QueryRefused
from lanceref.file.schema import project
from lanceref.index.indices import Index, paths_of
from lanceref.index.segment import Segment
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.kernels.hamming_clusters import clusters
from lanceref.search.chosen_segments import segment_ids
from lanceref.search.live_rows import live_rows
from lanceref.table.lineage import ROW_ID
from numpy.typing import NDArray

from pylanceref.dataset import LanceDataset
from pylanceref.sampler import maybe_sample

CLUSTERS = pa.schema(
    [
        pa.field("representative", pa.uint64(), nullable=False),
        pa.field("duplicates", pa.list_(pa.uint64()), nullable=False),
    ]
)
"""The first row of each cluster, and the others, by row id."""

Ids = NDArray[np.uint64]
Segments = Iterable[str | UUID] | None


def hamming_clustering_for_sample(
    dataset: LanceDataset, column: str, sample_size: int | None = None, hamming_threshold: int = 10
) -> pa.RecordBatchReader:
    """Return clusters of all rows, or of so many that are drawn. Raises QueryRefused."""
    _check_column(dataset, column)
    wanted = {column: column, ROW_ID: ROW_ID}
    if sample_size is None:
        return _reader(dataset.to_table(wanted), column, hamming_threshold)
    drawn = list(maybe_sample(dataset, sample_size, wanted)) if sample_size else []
    rows = pa.Table.from_batches(drawn, dataset.scanner(wanted).projected_schema)
    return _reader(rows, column, hamming_threshold)


def hamming_clustering_for_range(
    dataset: LanceDataset,
    column: str,
    fragment_id: int,
    start_row: int,
    num_rows: int,
    hamming_threshold: int = 10,
) -> pa.RecordBatchReader:
    """Return clusters of rows of a fragment that follow each other. Raises QueryRefused."""
    _check_column(dataset, column)
    fragment = dataset.get_fragment(fragment_id)
    if fragment is None:
        raise QueryRefused(f"Invalid user input: Fragment with ID {fragment_id} not found")
    if start_row >= fragment.physical_rows:
        raise QueryRefused(
            f"Invalid user input: start_row {start_row} is out of range for fragment with "
            f"{fragment.physical_rows} physical rows"
        )
    wanted = {column: column, ROW_ID: ROW_ID}
    rows = fragment.to_table(columns=wanted, offset=start_row, limit=num_rows)
    return _reader(rows, column, hamming_threshold)


def hamming_clustering_for_ivf_partition(
    dataset: LanceDataset,
    index_name: str,
    partition_id: int,
    hamming_threshold: int,
    *,
    index_segments: Segments = None,
) -> pa.RecordBatchReader:
    """Return clusters of a partition of all segments of an IVF_FLAT index, or of chosen ones.

    Raises QueryRefused, IndexNotFound.
    """
    index, segments = _segments(dataset, index_name, index_segments)
    ids: list[Ids] = [np.empty(0, np.uint64)]
    hashes = []
    for segment in segments:
        opened = index.open(segment)
        assert isinstance(opened.index, VectorIndex)
        count = len(opened.index.head.model.centroids)
        if not 0 <= partition_id < count:
            raise QueryRefused(
                f"Invalid user input: Partition ID {partition_id} is out of range (0..{count})"
            )
        own = [one for one in dataset._snapshot.fragments if one.fragment.id in segment.covers]
        alive = live_rows(segment, own, None, by_address=opened.by_address)
        kept, moved = alive(opened.index.keys(partition_id))
        (values,) = opened.index.rows(partition_id).values()
        ids.append(moved)
        hashes.append(values[kept].astype(np.uint8))
    return _clustered(np.concatenate(ids), np.concatenate(hashes), hamming_threshold)


def get_ivf_partition_info(
    dataset: LanceDataset, index_name: str, *, index_segments: Segments = None
) -> list[dict[str, int]]:
    """Return number and size of each partition, of all segments of an index or of chosen ones."""
    index, segments = _segments(dataset, index_name, index_segments)
    sizes: list[int] = []
    for segment in segments:
        opened = index.open(segment).index
        assert isinstance(opened, VectorIndex)
        own = [len(opened.keys(one)) for one in range(len(opened.head.model.centroids))]
        sizes += [0] * (len(own) - len(sizes))
        sizes = [size + more for size, more in zip(sizes, own, strict=True)]
    return [{"partition_id": number, "size": size} for number, size in enumerate(sizes)]


def _segments(
    dataset: LanceDataset, name: str, chosen: Segments
) -> tuple[Index, Sequence[Segment]]:
    """Return an index and its segments, or those that were chosen. Raises QueryRefused."""
    known = dataset._snapshot.indices.known
    index = next((one for one in known if one.name == name), None)
    if index is None:
        raise QueryRefused(f"Invalid user input: Index '{name}' not found on dataset")
    _check_column(dataset, paths_of(dataset._snapshot.manifest.schema)[index.field_id])
    if chosen is None:
        return index, index.segments
    if not isinstance(chosen, str | UUID) and not (chosen := list(chosen)):
        raise QueryRefused(
            f"Invalid user input: Segment selection for index '{name}' must not be empty; omit "
            "index_segments to use all segments"
        )
    wanted = segment_ids(chosen)
    found = [one for one in index.segments if UUID(one.uuid) in wanted]
    if len(found) < len(wanted):
        missing = ", ".join(sorted(f"{one}" for one in wanted - {UUID(o.uuid) for o in found}))
        raise IndexNotFound(f"Lance index not found: name={name}, segment_ids=[{missing}]")
    return index, found


def _check_column(dataset: LanceDataset, column: str) -> None:
    """Raise QueryRefused for a column that holds no hashes."""
    try:
        (field,) = project(dataset._snapshot.manifest.schema, [column])
    except NotFound as error:
        raise QueryRefused(
            f"Invalid user input: Column '{column}' not found in dataset schema"
        ) from error
    type_ = field.arrow.type
    lists = pa.types.is_fixed_size_list(type_)
    if not lists or type_.value_type != pa.uint8() or type_.list_size % 8:
        shown = name_of_type(type_)
        if lists:
            shown = f"FixedSizeList<{name_of_type(type_.value_type)}, {type_.list_size}>"
        raise QueryRefused(
            f"Invalid user input: Column '{column}' must be FixedSizeList<UInt8, N> where N is a "
            f"positive multiple of 8 bytes, got {shown}"
        )


def _reader(rows: pa.Table, column: str, threshold: int) -> pa.RecordBatchReader:
    """Return the clusters of rows that have a hash."""
    held = rows.combine_chunks().filter(rows[column].is_valid())
    lists = held[column].combine_chunks()
    values = lists.flatten().to_numpy(zero_copy_only=False).reshape(-1, lists.type.list_size)
    return _clustered(held[ROW_ID].to_numpy(), values, threshold)


def _clustered(ids: Ids, hashes: NDArray[np.uint8], threshold: int) -> pa.RecordBatchReader:
    """Return clusters of two rows and more, each by its lowest row id."""
    if not 0 <= threshold < 2**32:
        raise OverflowError("out of range integral type conversion attempted")
    order = np.argsort(ids, kind="stable")
    ids, labels = ids[order], clusters(hashes[order], threshold)
    sizes = np.bincount(labels, minlength=len(ids))
    firsts = np.flatnonzero(sizes > 1)
    by_label = np.argsort(labels, kind="stable")
    ends = np.cumsum(sizes)
    lists = [ids[by_label[ends[one] - sizes[one] + 1 : ends[one]]] for one in firsts]
    columns = [pa.array(ids[firsts]), pa.array(lists, CLUSTERS.field(1).type)]
    batch = pa.RecordBatch.from_arrays(columns, schema=CLUSTERS)
    return pa.RecordBatchReader.from_batches(CLUSTERS, [batch])
