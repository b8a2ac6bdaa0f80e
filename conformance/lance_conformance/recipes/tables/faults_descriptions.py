"""Negative cases of descriptions: what a page of 2.1 to 2.3 says of itself and cannot be."""

from __future__ import annotations

from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, PageLayout
from lanceref.proto.file_pb2 import FileDescriptor

from lance_conformance.recipes.messages import descriptor, field, page
from lance_conformance.recipes.model import Negative
from lance_conformance.recipes.tables.edits import assign, clear, fault

_M, _Z = "mini_block_layout", "full_zip_layout"
_V = f"{_M}.value_compression"

_DEEP = 70
"""More encodings inside each other than a reader follows."""


def _short_table(message: PageLayout) -> None:
    fsst = message.mini_block_layout.value_compression.fsst
    fsst.symbol_table = fsst.symbol_table[:-1]


def _narrow_field(message: PageLayout) -> None:
    message.mini_block_layout.value_compression.packed_struct.bits_per_value[0] = 8


def _wrapped(message: PageLayout) -> None:
    """Put the values into lists of one item, very many times."""
    for _ in range(_DEEP):
        inside = CompressiveEncoding()
        inside.CopyFrom(message.mini_block_layout.value_compression)
        outer = message.mini_block_layout.value_compression.fixed_size_list
        outer.items_per_value = 1
        outer.values.CopyFrom(inside)


def _only_nulls(message: PageLayout) -> None:
    """Say that all items of the lists are null, beside a bitmap."""
    lists = message.mini_block_layout.value_compression.fixed_size_list
    lists.has_validity = True
    lists.values.constant.SetInParent()


def _without_last(message: FileDescriptor) -> None:
    del message.schema.fields[-1]


_GATES = (
    fault("file/2.1/fullzip/all-null-items", "value", "items that are null and have a value",
          "L.codec.fixed-size-list.all-null",
          assign(f"{_Z}.value_compression.fixed_size_list.values.constant.value", b"\1")),
    fault("file/2.1/fullzip/all-null-items", "no-bitmap", "items that are null without a bitmap",
          "L.codec.fixed-size-list.all-null",
          assign(f"{_Z}.value_compression.fixed_size_list.has_validity", False),
          flags=("MissingPart",)),
    fault("file/2.2/fixed-size-list/nullable-items", "constant",
          "items of a chunk that are null and have a bitmap", "L.codec.fixed-size-list.all-null",
          page(_only_nulls)),
    fault("file/2.1/fixed-size-list/pairs", "no-items", "lists of items without a codec",
          "L.codec.encoding.context", clear(f"{_V}.fixed_size_list.values")),
    fault("file/2.1/fixed-size-list/pairs", "wide", "2**40 items a list",
          "L.codec.fixed-size-list.items", assign(f"{_V}.fixed_size_list.items_per_value", 2**40)),
    fault("file/2.1/miniblock/uint8", "deep", "encodings 70 deep", "L.file.pages.encoding",
          page(_wrapped)),
    fault("file/2.1/levels/bitpacked", "width", "levels of 16 bits packed into 24",
          "L.codec.bitpack.width",
          assign(f"{_M}.def_compression.out_of_line_bitpacking.values.flat.bits_per_value", 24)),
    fault("file/2.1/levels/bitpacked", "types", "levels of 12 bits", "L.codec.bitpack.types",
          assign(f"{_M}.def_compression.out_of_line_bitpacking.uncompressed_bits_per_value", 12)),
    fault("file/2.1/levels/bitpacked", "size", "levels packed into two bits of one",
          "L.codec.bitpack.out-of-line",
          assign(f"{_M}.def_compression.out_of_line_bitpacking.values.flat.bits_per_value", 2)),
    fault("file/2.2/levels/bitpacked", "wide", "levels of 32 bits", "L.codec.encoding.levels",
          assign(f"{_M}.def_compression.out_of_line_bitpacking.uncompressed_bits_per_value", 32)),
    fault("file/2.1/variable/binary", "offsets", "string offsets of 16 bits",
          "L.codec.encoding.context",
          assign(f"{_V}.variable.offsets.flat.bits_per_value", 16)),
    fault("file/2.2/variable/string", "no-offsets", "strings whose offsets have no codec",
          "L.codec.encoding.context", clear(f"{_V}.variable.offsets")),
    fault("file/2.2/variable/binary", "values", "strings whose bytes are compressed beside",
          "L.codec.encoding.buffer-compression", assign(f"{_V}.variable.values.scheme", 2)),
    fault("file/2.1/byte-stream-split/always", "width", "streams of 16 bits",
          "L.codec.encoding.context",
          assign(f"{_V}.byte_stream_split.values.flat.bits_per_value", 16)),
    fault("file/2.1/fsst/off", "values", "symbols of what has no offsets",
          "L.codec.encoding.context", clear(f"{_V}.fsst.values.variable")),
    fault("file/2.1/fsst/off", "short", "a symbol table one byte short", "L.codec.fsst.table",
          page(_short_table)),
    fault("file/2.2/rle/int32", "lengths", "runs whose lengths have no codec",
          "L.codec.encoding.context", clear(f"{_V}.rle.run_lengths")),
    fault("file/2.2/rle/int8", "values", "runs of values of no bits", "L.codec.rle.children",
          assign(f"{_V}.rle.values.flat.bits_per_value", 0)),
    fault("file/2.3/rle/int8", "values", "runs of values of 264 bits", "L.codec.rle.children",
          assign("values.chunked.compression.rle.values.flat.bits_per_value", 264)),
    fault("file/2.1/zipped/zstd", "scheme", "strings compressed by scheme 0",
          "L.codec.general.scheme",
          assign(f"{_Z}.value_compression.general.compression.scheme", 0)),
    fault("file/2.2/zipped/lz4-level", "scheme", "strings compressed by scheme 3",
          "L.codec.general.scheme",
          assign(f"{_Z}.value_compression.general.compression.scheme", 3)),
    fault("file/2.2/packed-struct/fixed", "bits", "fields of one byte less than the row",
          "L.codec.packed-struct.bits", page(_narrow_field)),
    fault("file/2.2/packed-struct/variable", "width", "a byte told as twelve bits",
          "L.codec.packed-struct.field",
          assign(f"{_Z}.value_compression.variable_packed_struct.fields.0.bits_per_value", 12)),
    fault("file/2.2/packed-struct/variable", "no-value", "a field of a row without a codec",
          "L.codec.encoding.context",
          clear(f"{_Z}.value_compression.variable_packed_struct.fields.1.value")),
    fault("file/2.3/planar/packed-rows", "width", "a byte told as two",
          "L.codec.packed-struct.field",
          assign("values.zipped.compression.variable_packed_struct.fields.0.bits_per_value", 16)),
)  # fmt: skip

_LEAVES = (
    fault("file/2.1/zipped/int16", "bits", "values of 32 bits zipped as 16", "L.codec.flat.size",
          assign(f"{_Z}.value_compression.flat.bits_per_value", 32)),
    fault("file/2.2/zipped/float64", "bits", "zipped values of 56 bits", "L.page.fullzip.size",
          assign(f"{_Z}.bits_per_value", 56)),
    fault("file/2.1/zipped/large-strings", "wide", "zipped lengths of 32 bits for 64",
          "L.page.leaf.offset-width", assign(f"{_Z}.bits_per_offset", 32)),
    fault("file/2.1/variable/string", "numbers", "strings in a column of numbers",
          "L.page.leaf.kind", field(0, logical_type="int32")),
    fault("file/2.1/fixed-size-list/pairs", "numbers", "lists in a column of numbers",
          "L.page.leaf.kind", field(0, logical_type="int64")),
    fault("file/2.1/packed-struct/fixed", "fields", "rows of three fields in a struct of two",
          "L.page.leaf.kind", descriptor(_without_last)),
    fault("file/2.2/miniblock/int8", "dictionary", "numbers in a column of dictionaries",
          "L.page.leaf.kind", field(0, logical_type="dict:string:int8:false")),
    fault("file/2.1/miniblock/int16", "narrow", "two bytes for values of one",
          "L.page.leaf.width", field(0, logical_type="int8")),
    fault("file/2.1/zipped/decimal256", "type", "32 bytes for values of 16",
          "L.page.leaf.width", field(0, logical_type="decimal:128:38:0")),
    fault("file/2.3/planar/zipped", "no-codec", "zipped values without a codec",
          "L.page.planar.compression", clear("values.zipped.compression")),
    fault("file/2.1/blob/top", "numbers", "blobs in a column of numbers", "L.page.blob.column",
          field(0, logical_type="int32")),
    fault("file/2.2/constant/buffer", "large", "offsets of four bytes for a large string",
          "L.page.constant.value-buffer", field(0, logical_type="large_string"),
          flags=("WidthMismatch",)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_GATES, *_LEAVES)
"""Every negative case of descriptions."""
