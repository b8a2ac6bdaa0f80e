"""Further negative cases of pages of 2.0 and of 2.3: false statements about the values."""

from __future__ import annotations

from lanceref.proto.encodings_v2_1_pb2 import PageLayout, RepDefLayer
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.messages import column, field, page
from lance_conformance.recipes.model import Negative, SpanPatch
from lance_conformance.recipes.tables.edits import assign, byte, clear, fault, resize

_NO_NULLS = "nullable.no_nulls.values"
_SOME = "nullable.some_nulls"


def _rows_huge(message: ColumnMetadata) -> None:
    message.pages[0].length = 2**40


def _listed_blobs(message: PageLayout) -> None:
    message.blob_layout.layers.append(RepDefLayer.REPDEF_NULLABLE_LIST)


_ARRAYS = (
    fault("file/2.0/flat/float64", "no-arm", "an array of no kind of nulls",
          "L.array.encoding.tag", clear(_SOME)),
    fault("file/2.0/flat/int16", "values", "values of no kind", "L.array.encoding.tag",
          clear(f"{_SOME}.values.flat")),
    fault("file/2.0/binary/binary", "bytes", "bytes of no kind", "L.array.encoding.tag",
          clear("binary.bytes.flat")),
    fault("file/2.0/flat/int64", "width", "values of 32 bits in a column of 64",
          "L.array.flat.type-width", assign(f"{_SOME}.values.flat.bits_per_value", 32)),
    fault("file/2.0/flat/decimal128", "size", "values one byte short", "L.array.flat.size",
          resize(-1, -1)),
    fault("file/2.0/flat/date32", "validity", "a validity one byte short", "L.array.flat.size",
          resize(0, -1)),
    fault("file/2.0/flat/uint16", "buffer", "a buffer one after the last", "L.array.buffer.index",
          assign(f"{_SOME}.values.flat.buffer.buffer_index", 2)),
    fault("file/2.0/flat/null-type", "rows", "2**40 nulls", "L.file.pages.length",
          column(_rows_huge)),
    fault("file/2.0/binary/large-string", "end", "a string end one after the bytes",
          "L.array.ends.bound", byte("field c", "page 0", "*ends*", at=-8, new=0xFE)),
    fault("file/2.0/binary/binary", "adjustment", "ends above the null adjustment",
          "L.array.ends.null-adjustment", assign("binary.null_adjustment", 3)),
    fault("file/2.0/binary/large-binary", "first", "a first end after the last",
          "L.array.ends.bound",
          byte("field c", "page 0", "*ends*", at=0, new=0x7F)),
    fault("file/2.0/binary/zstd", "huge", "a zstd size of 2**62", "L.array.flat.compressed-size",
          byte("field c", "page 0", "uncompressed size", at=7, new=0x40),
          flags=("FrameSizeHuge",)),
    fault("file/2.0/binary/lz4", "short", "an lz4 size one byte too large",
          "L.array.flat.compressed-size",
          SpanPatch(("field c", "uncompressed size"),
                    lambda old: bytes([(old[0] + 1) % 256]) + old[1:]),
          flags=("BufferTooShort",)),
    fault("file/2.0/list/large", "num-items", "2**60 items", "L.array.list.item-column",
          assign("list.num_items", 2**60)),
    fault("file/2.0/list/list", "ends", "a first list that ends after the last item",
          "L.array.ends.bound",
          byte("field c", "page 0", "list ends", at=0, new=0x7F)),
    fault("file/2.0/blob/bytes", "type", "blobs in a column of strings", "L.array.blob.column",
          field(0, logical_type="string"), flags=("WidthMismatch",)),
    fault("file/2.0/bitpacked/unsigned", "width", "65 bits for values of 64",
          "L.array.bitpacked.width", assign("bitpacked.compressed_bits_per_value", 65)),
    fault("file/2.0/fixed-size-list/bool", "dimension", "three items told as four",
          "L.array.fixed-size-list.dimension",
          assign(f"{_NO_NULLS}.fixed_size_list.dimension", 4)),
    fault("file/2.0/packed-struct/fixed", "encoding", "a field of no kind",
          "L.array.encoding.tag", clear("packed_struct.inner.0.nullable")),
    fault("file/2.0/list/no-nulls", "offsets", "list ends of no kind", "L.array.encoding.tag",
          clear("list.offsets.nullable")),
    fault("file/2.0/dictionary/automatic", "no-items", "a dictionary of no kind",
          "L.array.encoding.tag", clear("dictionary.items.binary")),
)  # fmt: skip

_LATER = (
    fault("file/2.2/constant/packed-levels", "wide", "levels of 32 bits",
          "L.codec.encoding.levels",
          assign("constant_layout.rep_compression.flat.bits_per_value", 32)),
    fault("file/2.1/blob/top", "lists", "blobs below a list", "L.page.layers.path",
          page(_listed_blobs)),
    fault("file/2.2/packed-struct/variable", "empty-row", "a row of no bytes",
          "L.page.fullzip.length", byte("field c", "length", at=0, new=0),
          flags=("OffsetsNotMonotonic",)),
    fault("file/2.3/sparse/indexed", "index-width", "indices of 64 bits",
          "L.codec.bitpack.out-of-line",
          assign("values.indexed.indices.out_of_line_bitpacking.uncompressed_bits_per_value", 64),
          flags=("WidthMismatch",)),
    fault("file/2.3/sparse/indexed", "no-indices", "indices without a codec",
          "L.codec.encoding.present", clear("values.indexed.indices.out_of_line_bitpacking")),
    fault("file/2.3/sparse/list", "child-slots", "one item more than the lists have",
          "L.page.sparse.child-slots",
          assign("structure.sparse.layers.0.list.num_child_slots", 4)),
    fault("file/2.3/sparse/list", "counts-width", "counts of 32 bits",
          "L.page.sparse.num-positions",
          assign("structure.sparse.layers.0.list.counts.flat.bits_per_value", 32),
          flags=("WidthMismatch",)),
    fault("file/2.3/planar/zipped-list", "visible", "one visible string less",
          "L.page.fullzip.num-visible", assign("values.zipped.num_visible_items", 2), kind="lint"),
    fault("file/2.3/planar/zipped-binary", "size", "a page one byte short", "L.page.rowindex.order",
          resize(0, -1)),
    fault("file/2.3/rle/lz4-lengths", "scheme", "run lengths compressed by scheme 9",
          "L.codec.general.scheme",
          assign("values.chunked.compression.rle.run_lengths.general.compression.scheme", 9)),
    fault("file/2.3/offsets/range", "offsets", "offsets in steps of 0", "L.codec.range.step",
          assign("values.chunked.compression.variable.offsets.range.step", 0),
          flags=("SequenceHuge",)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_ARRAYS, *_LATER)
"""Every further negative case of pages."""
