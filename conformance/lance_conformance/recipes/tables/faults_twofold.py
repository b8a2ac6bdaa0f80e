"""Negative cases of clauses that nobody breaks alone: the same bytes break another one besides.

Each is reported under the clause that a reader meets first, and names the others.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding
from lanceref.proto.encodings_v2_1_pb2 import (
    COMPRESSION_ALGORITHM_ZSTD,
    CompressiveEncoding,
    PageLayout,
)
from lanceref.proto.file2_pb2 import ColumnMetadata
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.proto.index_pb2 import IVF
from lanceref.proto.table_pb2 import Manifest

from lance_conformance.recipes.messages import (
    array,
    column,
    descriptor,
    index,
    manifest,
    page,
    partitions,
    setting,
)
from lance_conformance.recipes.model import (
    Change,
    Negative,
    Remove,
    Rename,
    Resize,
    SpanPatch,
)
from lance_conformance.recipes.tables import edits, faults_indices
from lance_conformance.recipes.tables.edits import assign, table_fault
from lance_conformance.recipes.tables.faults_indices import metadata, renamed, values


def _both(
    parent: str, slug: str, title: str, clause: str, change: Change, *also: str, kind: str = ""
) -> Negative:
    """Return the case of a fault that breaks `also` besides."""
    own = kind or ("negative-file" if parent.startswith("file/2.") else "negative-dataset")
    if parent.startswith("table/"):
        found = table_fault(parent, slug, title, clause, change, kind=own)
    elif parent.startswith("file/"):
        found = edits.fault(parent, slug, title, clause, change, kind=own)
    else:
        found = faults_indices.fault(parent, slug, title, clause, change, own)
    return replace(found, also=also)


_lint = partial(_both, kind="lint")


def _unread(message: ColumnMetadata) -> None:
    message.pages[0].encoding.direct.encoding = b"\xff\xff"


def _nested(message: PageLayout) -> None:
    """Compress what is compressed, more often than messages may be nested."""
    values_ = message.mini_block_layout.value_compression
    for _ in range(120):
        outer = CompressiveEncoding()
        outer.general.compression.scheme = COMPRESSION_ALGORITHM_ZSTD
        outer.general.values.CopyFrom(values_)
        values_ = outer
    message.mini_block_layout.value_compression.CopyFrom(values_)


def _twelve_bits(message: ArrayEncoding) -> None:
    message.nullable.some_nulls.values.flat.bits_per_value = 12


def _low_adjustment(message: ArrayEncoding) -> None:
    message.binary.null_adjustment = 1


def _one_item(message: ArrayEncoding) -> None:
    message.dictionary.num_dictionary_items = 1


def _one_more(message: ArrayEncoding) -> None:
    message.list.num_items += 1


_FILES = (
    _both("file/2.1/miniblock/int32", "message", "a page whose description does not parse",
          "L.file.pages.encoding", column(_unread), "L.wire.message"),
    _both("file/2.1/general/zstd", "nested", "values that are compressed 120 times",
          "L.file.pages.encoding", page(_nested), "L.codec.encoding.depth"),
    _both("file/2.0/flat/int32", "bits", "values of 12 bits", "L.array.flat.type-width",
          array(_twelve_bits), "L.array.flat.width"),
    _both("file/2.0/binary/string", "low", "a null adjustment below the ends",
          "L.array.ends.bound", array(_low_adjustment), "L.array.ends.null-adjustment"),
    _both("file/2.0/dictionary/automatic", "one-item", "a dictionary of one item, of several",
          "L.array.flat.size", array(_one_item), "L.array.dictionary.num-items"),
    _both("file/2.0/list/int32", "one-more", "an item more than there are",
          "L.array.list.item-column", array(_one_more), "L.array.list.num-items"),
    _both("file/2.1/arms/words", "num-items", "three items of four", "L.codec.variable.header",
          assign("mini_block_layout.num_dictionary_items", 3), "L.page.dictionary.num-items"),
    _both("file/2.1/levels/list-list", "fewer", "fewer values than are visible",
          "L.page.miniblock.visible", assign("mini_block_layout.num_items", 2),
          "L.page.levels.visible", "L.page.leaf.count"),
)  # fmt: skip

_TABLE = "table/any/manifest/index"
_SECOND = f"_versions/{2**64 - 3}.manifest"
_SECTION = "L.table.manifest.section"


def _overlap(message: Manifest) -> None:
    message.index_section = message.transaction_section


_BITMAP = "table/any/deletions/bitmap"

_TABLES = (
    _both(_TABLE, "footer", "a footer that points beyond the file", _SECTION,
          SpanPatch(("footer", "manifest_position"), 2**41, target=_SECOND),
          "L.table.manifest.footer"),
    _both(_TABLE, "index-beyond", "an index section beyond the file", _SECTION,
          manifest(setting(index_section=2**41), _SECOND), "L.table.manifest.index-section"),
    _both(_TABLE, "overlap", "the index section where the transaction lies", _SECTION,
          manifest(_overlap, _SECOND), "L.table.manifest.overlap"),
    _both(_TABLE, "cleaned", "a file that a cleanup took away, though the version needs it",
          "L.table.files.exist", Remove("data/*.lance"), "L.table.cleanup.referenced"),
    _both(_TABLE, "early-commit", "a data file that was not whole when the version was made",
          "L.table.datafile.size", Resize(100, b"", "data/*.lance"), "L.txn.commit.order"),
    _lint(_TABLE, "nameless", "a segment whose entry has no name", "L.txn.op.create-index",
          index(setting(name=""), _SECOND), "L.index.segment.entry"),
    _both(_BITMAP, "renamed", "a deletion file under another name", "L.table.files.exist",
          Rename("_deletions/*.bin", "_deletions/0.bin"), "L.table.deletions.name"),
    _both(_BITMAP, "no-bitmap", "a deletion file that is no bitmap", "L.table.roaring.cookie",
          SpanPatch(("*cookie*",), 1, target="_deletions/*.bin"), "L.table.deletions.bitmap"),
)  # fmt: skip


def _rowwise(message: FileDescriptor) -> None:
    told = message.schema.metadata["storage_metadata"]
    new = told.replace(b'transposed\\":true', b'transposed\\":false')
    message.schema.metadata["storage_metadata"] = new


def _hamming(message: FileDescriptor) -> None:
    told = message.schema.metadata["lance:index"]
    message.schema.metadata["lance:index"] = told.replace(b'"l2"', b'"hamming"')


def _other_centroid(message: IVF) -> None:
    tensor = message.centroids_tensor
    tensor.data = tensor.data[4:8] + tensor.data[4:]


_REFS = "table/any/manifest/refs"

_NAMES = (
    _lint(_REFS, "tag-name", "a tag whose name ends with a dot", "L.table.refs.tag-name",
          Rename("_refs/tags/first.json", "_refs/tags/first..json")),
    _lint(_REFS, "branch-name", "a branch that is called as the main one",
          "L.table.refs.branch-name",
          Rename("_refs/branches/line.json", "_refs/branches/main.json")),
)  # fmt: skip

_PQ = "ivf-pq/plain"

_INDICES = (
    _both("btree/plain", "folder", "a file of a segment in another folder",
          "L.index.segment.files",
          Rename("_indices/*/page_data.lance", "_indices/other/page_data.lance"),
          "L.index.segment.folder"),
    _both("btree/plain", "columns", "keys under another name", "L.index.files.column",
          renamed("page_lookup.lance", "min"), "L.index.btree.columns"),
    _both("label-list/plain", "nulls", "no buffer of the lists that are null",
          "L.index.files.metadata",
          metadata("bitmap_page_lookup.lance", "lance:label_list_nulls", "x"),
          "L.index.label-list.nulls"),
    _both("bloomfilter/plain", "small", "a filter of 16 bytes", "L.index.bloom.data",
          values("bloomfilter.lance", "bloom_filter_data", b"\x10", 0, "string ends"),
          "L.index.bloom.size"),
    _lint("ngram/plain", "complete", "a row that a token does not have",
          "L.index.segment.complete",
          values("ngram_postings.lance", "posting_list", b"\7", 20, "bytes"),
          "L.index.ngram.token"),
    _lint("bitmap/keys", "address", "an address in place of a row id",
          "L.index.segment.complete",
          values("bitmap_page_lookup.lance", "bitmaps", b"\1", 4, "bytes"),
          "L.index.segment.keys"),
    _lint("minhash/plain", "signature", "a signature that is not that of the text",
          "L.index.minhash.band-key", values("signatures.lance", "signature", b"\0\1"),
          "L.index.minhash.signature"),
    _lint(_PQ, "layout", "codes by columns that are said to lie row by row",
          "L.index.vector.pq.codes", descriptor(_rowwise, "_indices/*/auxiliary.idx"),
          "L.index.vector.pq.layout"),
    _lint(_PQ, "residual", "codes that are not of the vectors less their centroid",
          "L.index.vector.pq.codes", partitions(_other_centroid, "_indices/*/index.idx"),
          "L.index.vector.pq.residual"),
    _lint("ivf-flat/plain", "hamming", "floats by a metric of bytes",
          "L.index.vector.auxiliary.metric", descriptor(_hamming, "_indices/*/index.idx"),
          "L.index.vector.column"),
)  # fmt: skip

_NAN = bytes.fromhex("000000000000f87f")
_OF_0_1 = "data/*.lance"


_EARLY = (
    _lint("file/0.1/statistics/floats", "nan", "a greatest value that is no number",
          "L.legacy.statistics.bounds",
          SpanPatch(("statistics of field 0", "values"), _NAN, 2, target=_OF_0_1),
          "L.legacy.statistics.nan"),
    _both("file/0.1/container/worked", "wide", "a page of more values than it has bytes",
          "L.legacy.page-table.length",
          SpanPatch(("page table", "pages of id 0"), b"\0\0\1", at=8, target=_OF_0_1),
          "L.legacy.plain.values"),
)  # fmt: skip

NEGATIVES = (*_FILES, *_EARLY, *_TABLES, *_NAMES, *_INDICES)
"""Every fault that breaks two clauses."""
