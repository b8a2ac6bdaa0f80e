"""Index statistics: what lists and statistics show of the segments of each type of index (face)."""

from __future__ import annotations

import json

from lanceref.core.cursor import Cursor, parse_message
from lanceref.index.fm.fm import Fm
from lanceref.index.full_text.inverted import Inverted
from lanceref.index.full_text.parameters import Details, parse_details, shown_analysis
from lanceref.index.index_type import IndexType, Kind
from lanceref.index.minhash.minhash_lsh import MinHashLsh
from lanceref.index.predicate import scalar_text
from lanceref.index.scalar import rtree
from lanceref.index.scalar.bitmap import Bitmap
from lanceref.index.scalar.bloomfilter import BloomFilter
from lanceref.index.scalar.btree import BTree
from lanceref.index.scalar.json import JsonIndex
from lanceref.index.scalar.ngram import Ngram
from lanceref.index.scalar.zonemap import ZoneMap
from lanceref.index.segment import Segment
from lanceref.index.vector.parameters import details_of, storage_fields, type_name
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.single_file import SingleFileIndex, open_index
from lanceref.index.vector.vector_index import HEAD, VectorIndex
from lanceref.index.vector.vector_kind import Vector
from lanceref.proto import index_pb2

Shown = dict[str, object]
"""What is shown, by name."""

EARLY = ("nbits", "num_sub_vectors", "dimension", "index_type")
"""What is shown of the storage of a single file, beside the metric of the index."""

SIGNATURE = ("num_hashes", "num_bands", "shingle_size")
"""What is shown of how a text becomes a signature."""


def statistics_of(index: IndexType) -> Shown:
    """Return what statistics show of an opened segment, by name. Raises FormatError."""
    match index:
        case Bitmap():
            return {"num_bitmaps": len(index.keys)}
        case BTree():
            ends = [*index.least[:1], *index.greatest[-1:]]
            least, greatest = map(scalar_text, ends) if ends else ("", "")
            return {"min": least, "max": greatest, "num_pages": len(index.pages)}
        case JsonIndex():
            return statistics_of(index.values)
        case Ngram():
            return {"num_ngrams": len(index.tokens)}
        case ZoneMap():
            zones, rows = len(index.spans.fragments), index.stored_parameters.rows
            return {"num_zones": zones, "rows_per_zone": rows}
        case BloomFilter():
            return {
                "type": "BloomFilter",
                "num_blocks": len(index.spans.fragments),
                "number_of_items": index.stored_parameters.items,
                "probability": float(index.stored_parameters.probability),
            }
        case MinHashLsh():
            shape = {name: getattr(index.parameters, name) for name in SIGNATURE}
            counts = {"num_docs": index.num_docs, "num_pages": index.num_pages}
            return {"type": "MinHashLsh", **counts, "signature_version": 0, **shape}
        case Fm():
            return {
                "type": "Fm",
                "num_partitions": len(index.partitions),
                "total_bwt_len": sum(one.num_bytes for one in index.partitions),
                "total_docs": sum(len(one.row_ids) for one in index.partitions),
            }
        case Inverted():
            return {
                "params": index.settings.analysis.as_dict(),
                "num_tokens": sum(one.num_tokens for one in index.partitions),
                "num_docs": sum(one.corpus.num_documents for one in index.partitions),
            }
        case rtree.RTree():
            return _of_boxes(index)
        case VectorIndex():
            return _of_vectors(index)
    return {}


def _of_boxes(index: rtree.RTree) -> Shown:
    file, size = index.segment.file(rtree.DATA), index.stored_parameters
    levels = [range(one.start, one.start + one.rows, size) for one in index.levels]
    offsets = [start for level in levels for start in level]
    return {
        "page_size": size,
        "num_pages": len(offsets),
        "num_items": file.number("num_items"),
        "bbox": json.loads(file.text("bbox")),
        "page_offsets": offsets,
    }


def _of_vectors(index: VectorIndex) -> Shown:
    head, sizes = index.head, index.auxiliary.partitions.lengths.tolist()
    graph, is_early = index.graph_text, isinstance(index, SingleFileIndex)
    quantizer = index.auxiliary.quantizer
    sub_index: Shown = {
        **({} if graph is None else graph.shown()),
        "index_type": "HNSW" if head.type.graphs else head.type.storage.name,
        "metric_type": head.model.metric,
        **quantizer.metadata(),
    }
    if isinstance(quantizer, Product):
        del sub_index["codebook_position"], sub_index["codebook_tensor"]
        sub_index["metric_type"] = quantizer.model.of_vectors
    if is_early:
        sub_index = {one: sub_index[one] for one in EARLY} | {"metric_type": head.model.metric}
    return {
        "index_type": head.type.name,
        "uuid": index.segment.uuid,
        "uri": f"{index.segment.store.root}/{index.segment.folder}/{HEAD}",
        "metric_type": head.model.metric,
        "num_partitions": len(sizes),
        "sub_index": sub_index,
        "partitions": [{"size": size} for size in sizes],
        "centroids": head.model.centroids.tolist(),
        "loss": head.message.loss if head.message.HasField("loss") else None,
        "index_file_version": "Legacy" if is_early else "V3",
    }


def describe(kind: Kind, segment: Segment) -> tuple[str, Shown]:
    """Return the name and the details of a segment for lists. Raises FormatError."""
    if issubclass(kind, Inverted):
        return kind.shown, _full_text_details(segment)
    if kind is MinHashLsh:
        return kind.shown, _minhash_details(segment)
    if kind is Vector:
        return _vector_details(segment)
    return kind.shown, {}


def _full_text_details(segment: Segment) -> Shown:
    """Return the details by name, none of an early index. Raises BadProto."""
    data = segment.entry.index_details.value
    if not data:
        return {}
    details = parse_details(data, segment.place)
    per_element = details.document_granularity == Details.LIST_ELEMENT
    granularity = "list_element" if per_element else "row"
    return {**shown_analysis(details, segment.place), "document_granularity": granularity}


def _minhash_details(segment: Segment) -> Shown:
    """Return the details by name. Raises BadProto."""
    cursor = Cursor(memoryview(segment.entry.index_details.value), 0, segment.ctx)
    kind, clause = index_pb2.MinHashLshIndexDetails, "L.index.minhash.details"
    details = parse_message(cursor, kind, "details", clause)
    shown = {name: getattr(details, name) for name in (*SIGNATURE, "signature_version")}
    return {**shown, "tokenizer": shown_analysis(details.tokenizer, segment.place)}


def _vector_details(segment: Segment) -> tuple[str, Shown]:
    """Return the type of a segment, and its details by name. Raises FormatError."""
    details = details_of(segment)
    storage = details.WhichOneof("compression")
    if storage is None and segment.built:  # early entries leave it to the files
        return open_index(segment).head.type.name, {}
    shown: Shown = {
        "metric_type": index_pb2.VectorMetricType.Name(details.metric_type),
        "runtime_hints": dict(details.runtime_hints),
    }
    if details.HasField("hnsw_index_config"):
        shown["hnsw"] = {one.name: value for one, value in details.hnsw_index_config.ListFields()}
    if storage not in (None, "flat"):
        shown["compression"] = compression = {"type": storage, **storage_fields(details)}
        if storage == "rq":
            rotations = index_pb2.VectorIndexDetails.RabitQuantization.RotationType
            compression["rotation_type"] = rotations.Name(details.rq.rotation_type).lower()
    if details.target_partition_size:
        shown["target_partition_size"] = details.target_partition_size
    return type_name(details), shown
