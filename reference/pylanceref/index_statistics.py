"""Index statistics: what `index_statistics` shows of the segments of each type of index (face)."""

from __future__ import annotations

import json
from functools import singledispatch

from lanceref.index.fm.fm import Fm
from lanceref.index.full_text.inverted import Inverted
from lanceref.index.index_type import IndexType
from lanceref.index.minhash.minhash_lsh import MinHashLsh
from lanceref.index.predicate import scalar_text
from lanceref.index.scalar import rtree
from lanceref.index.scalar.bitmap import Bitmap
from lanceref.index.scalar.bloomfilter import BloomFilter
from lanceref.index.scalar.btree import BTree
from lanceref.index.scalar.json import JsonIndex
from lanceref.index.scalar.ngram import Ngram
from lanceref.index.scalar.zonemap import ZoneMap
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.single_file import SingleFileIndex
from lanceref.index.vector.storage import Quantizer
from lanceref.index.vector.vector_index import HEAD, VectorIndex

EARLY = ("nbits", "num_sub_vectors", "dimension", "index_type", "metric_type")
"""What is shown of the storage of a single file."""


@singledispatch
def statistics_of(index: IndexType) -> dict[str, object]:
    """Return what statistics show of an opened segment, by name. Raises FormatError."""
    return {}


@statistics_of.register
def _(index: Bitmap) -> dict[str, object]:
    return {"num_bitmaps": len(index.keys)}


@statistics_of.register
def _(index: BTree) -> dict[str, object]:
    ends = [*index.least[:1], *index.greatest[-1:]]
    least, greatest = map(scalar_text, ends) if ends else ("", "")
    return {"min": least, "max": greatest, "num_pages": len(index.pages)}


@statistics_of.register
def _(index: JsonIndex) -> dict[str, object]:
    return statistics_of(index.values)


@statistics_of.register
def _(index: Ngram) -> dict[str, object]:
    return {"num_ngrams": len(index.tokens)}


@statistics_of.register
def _(index: ZoneMap) -> dict[str, object]:
    return {"num_zones": len(index.spans.fragments), "rows_per_zone": index.stated}


@statistics_of.register
def _(index: BloomFilter) -> dict[str, object]:
    return {
        "type": "BloomFilter",
        "num_blocks": len(index.spans.fragments),
        "number_of_items": index.stated.items,
        "probability": float(index.stated.probability),
    }


@statistics_of.register
def _(index: rtree.RTree) -> dict[str, object]:
    file, size = index.segment.file(rtree.DATA), index.stated
    levels = [range(one.start, one.start + one.rows, size) for one in index.levels]
    offsets = [start for level in levels for start in level]
    return {
        "page_size": size,
        "num_pages": len(offsets),
        "num_items": file.number("num_items"),
        "bbox": json.loads(file.text("bbox")),
        "page_offsets": offsets,
    }


@statistics_of.register
def _(index: MinHashLsh) -> dict[str, object]:
    return {
        "type": "MinHashLsh",
        "num_docs": index.num_docs,
        "num_pages": index.num_pages,
        "num_hashes": index.parameters.num_hashes,
        "num_bands": index.parameters.num_bands,
        "shingle_size": index.parameters.shingle_size,
        "signature_version": 0,
    }


@statistics_of.register
def _(index: Fm) -> dict[str, object]:
    return {
        "type": "Fm",
        "num_partitions": len(index.partitions),
        "total_bwt_len": sum(one.num_bytes for one in index.partitions),
        "total_docs": sum(len(one.row_ids) for one in index.partitions),
    }


@statistics_of.register
def _(index: Inverted) -> dict[str, object]:
    return {
        "params": index.settings.analysis.as_dict(),
        "num_tokens": sum(one.num_tokens for one in index.partitions),
        "num_docs": index.corpus.num_documents,
    }


@statistics_of.register
def _(index: VectorIndex) -> dict[str, object]:
    head, sizes = index.head, index.auxiliary.partitions.lengths.tolist()
    graph, is_early = index.graph_text, isinstance(index, SingleFileIndex)
    sub_index: dict[str, object] = {
        **({} if graph is None else graph.shown()),
        "index_type": "HNSW" if head.type.graphs else head.type.storage.name,
        "metric_type": head.model.metric,
        **_of_storage(index.auxiliary.quantizer),
    }
    if is_early:
        sub_index = {name: value for name, value in sub_index.items() if name in EARLY}
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


def _of_storage(quantizer: Quantizer) -> dict[str, object]:
    """Return what is shown of a storage of vectors."""
    own = dict(quantizer.metadata())
    if isinstance(quantizer, Product):
        del own["codebook_position"], own["codebook_tensor"]
        own["metric_type"] = quantizer.model.of_vectors
    return own
