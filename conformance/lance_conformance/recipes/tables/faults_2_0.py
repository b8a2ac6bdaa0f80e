"""Negative cases of 2.0 pages: one fault in one array encoding."""

from __future__ import annotations

from google.protobuf.any_pb2 import Any as AnyMessage
from lanceref.proto.encodings_v2_0_pb2 import ArrayEncoding, ColumnEncoding
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.messages import array, column, field
from lance_conformance.recipes.model import MessageEdit, Negative
from lance_conformance.recipes.tables.edits import (
    assign,
    byte,
    damage_table,
    fault,
    resize,
    spare_buffer,
)

_FLAT = "nullable.some_nulls.values.flat"
_INT = "file/2.0/flat/int32"
_BOOL = "file/2.0/flat/bool"
_STR = "file/2.0/binary/string"
_DICT = "file/2.0/dictionary/automatic"
_ARROW = "file/2.0/dictionary/arrow"
_LIST = "file/2.0/list/int32"
_FSL = "file/2.0/fixed-size-list/float"
_PACKED = "file/2.0/packed-struct/fixed"
_FSST = "file/2.0/fsst/on"
_STRUCT = "file/2.0/struct/two-fields"


def _constant_arm(message: ArrayEncoding) -> None:
    message.constant.value = b"\1"


def _one_byte_more(message: ColumnMetadata) -> None:
    message.pages[0].buffer_sizes[-1] += 1


def _two_headers(message: ColumnMetadata) -> None:
    message.pages.add().CopyFrom(message.pages[0])


_ARRAYS = (
    fault(_INT, "type-width", "values of 64 bits in an int32 column", "L.array.flat.type-width",
          assign(f"{_FLAT}.bits_per_value", 64)),
    fault(_INT, "size", "a values buffer one byte short", "L.array.flat.size", resize(-1, -1)),
    fault(_BOOL, "size", "a boolean buffer one byte short", "L.array.flat.size", resize(-1, -1)),
    fault(_INT, "buffer-index", "a buffer the page does not have", "L.array.buffer.index",
          assign(f"{_FLAT}.buffer.buffer_index", 9)),
    fault(_INT, "buffer-type", "a buffer of the file", "L.array.buffer.type",
          assign(f"{_FLAT}.buffer.buffer_type", 2)),
    fault(_INT, "constant", "the constant arm that no reader knows", "L.array.encoding.tag",
          array(_constant_arm)),
    fault(_INT, "validity", "a validity of 8 bits a value", "L.array.nullable.validity",
          assign("nullable.some_nulls.validity.flat.bits_per_value", 8)),
    fault(_STR, "ends-fall", "string ends that fall", "L.array.ends.order",
          byte("field c", "page 0", "*ends*", at=16, new=0)),
    fault(_STR, "ends-bound", "a string end beyond the bytes", "L.array.ends.bound",
          assign("binary.null_adjustment", 2**40)),
    fault(_STR, "indices-width", "ends of 32 bits", "L.array.ends.width",
          assign("binary.indices.nullable.no_nulls.values.flat.bits_per_value", 32)),
    fault(_STR, "bytes-width", "string bytes of 16 bits", "L.array.binary.bytes-width",
          assign("binary.bytes.flat.bits_per_value", 16)),
    fault(_STR, "utf8", "a byte that is not UTF-8", "L.array.binary.utf8",
          byte("field c", "page 0", "*bytes*", at=0, new=0xFF)),
    fault(_DICT, "key", "a key beyond the dictionary", "L.array.dictionary.key-range",
          byte("field c", "page 0", "*", at=3, new=250)),
    fault(_ARROW, "key-width", "16-bit keys in an int8 dictionary",
          "L.array.dictionary.key-width",
          assign("dictionary.indices.nullable.no_nulls.values.flat.bits_per_value", 16)),
    fault(_ARROW, "key", "a key beyond the dictionary", "L.array.dictionary.key-range",
          byte("field c", "page 0", "*", at=0, new=100)),
    fault(_LIST, "ends-fall", "list ends that fall", "L.array.ends.order",
          byte("field c", "page 0", "list ends", at=24, new=1)),
    fault(_LIST, "num-items", "a page that claims more items than there are",
          "L.array.list.item-column", assign("list.num_items", 9)),
    fault(_LIST, "adjustment", "a null adjustment of the number of items",
          "L.array.list.null-adjustment", assign("list.null_offset_adjustment", 5)),
    fault(_LIST, "offsets-width", "list ends of 32 bits", "L.array.ends.width",
          assign("list.offsets.nullable.no_nulls.values.flat.bits_per_value", 32)),
    fault(_STRUCT, "two-pages", "a struct header of two pages", "L.array.struct.header",
          column(_two_headers)),
    fault(_FSL, "dimension", "vectors of 3 in a column of 2", "L.array.fixed-size-list.dimension",
          assign("nullable.some_nulls.values.fixed_size_list.dimension", 3)),
    fault(_PACKED, "size", "a packed buffer one byte short", "L.array.packed-struct.size",
          resize(-1, -1)),
    fault(_FSST, "table", "a symbol table with another magic", "L.codec.fsst.table",
          array(lambda m: damage_table(m.fsst, 4, 0))),
    fault(_INT, "spare-buffer", "a page buffer that no part of the encoding names",
          "L.array.buffer.named", spare_buffer(), kind="lint"),
    fault(_STR, "spare-byte", "one byte of padding counted to the bytes of the strings",
          "L.array.binary.bytes-end", column(_one_byte_more), kind="lint"),
    fault("file/2.0/binary/zstd", "size", "a zstd size one byte too large",
          "L.array.flat.compressed-size",
          byte("field c", "page 0", "uncompressed size", at=0, new=1)),
    fault("file/2.0/binary/lz4", "size", "an lz4 size of 2**31", "L.array.flat.compressed-size",
          byte("field c", "page 0", "uncompressed size", at=3, new=0x7F)),
    fault("file/2.0/binary/zstd", "scheme", "an unknown compression", "L.array.flat.compression",
          assign("binary.bytes.flat.compression.scheme", "lzma")),
    fault("file/2.0/binary/zstd", "adjustment", "another null adjustment than last end + 1",
          "L.array.binary.null-adjustment-value", assign("binary.null_adjustment", 10**6),
          kind="lint"),
)  # fmt: skip

_RARE = "file/2.0/bitpacked/signed"
_LANES = "file/2.0/bitpacked/non-negative"
_EQUAL = "file/2.0/binary/equal-strings"
_TWO = "file/2.0/flat/two-columns"
_LISTS = "file/2.0/list/no-nulls"
_PAIRS = "file/2.0/list/pairs"
_NESTED = "file/2.0/struct/nested"
_ROWS = "file/2.0/packed-struct/vectors"
_BYTES = "file/2.0/binary/large-binary"
_BLOB = "file/2.0/blob/bytes"
_SHARED = "file/2.0/flat/column-buffer"


def _column_encoding(arm: str) -> MessageEdit:
    """Describe the first column as another kind of column."""

    def edit(message: ColumnMetadata) -> None:
        direct = message.encoding.direct
        packed = AnyMessage.FromString(direct.encoding)
        encoding = ColumnEncoding()
        getattr(encoding, arm).SetInParent()
        packed.value = encoding.SerializeToString()
        direct.encoding = packed.SerializeToString()

    return column(edit)


def _flat_page(message: ArrayEncoding) -> None:
    message.flat.bits_per_value = 64
    message.flat.buffer.SetInParent()


def _flat_codes(message: ArrayEncoding) -> None:
    message.fsst.binary.flat.bits_per_value = 8


def _fewer_fields(message: ArrayEncoding) -> None:
    del message.packed_struct.inner[-1]


def _longer(message: ColumnMetadata) -> None:
    message.pages[0].length = 3


def _longer_by_one(message: ColumnMetadata) -> None:
    message.pages[0].length += 1


_COLUMNS = (
    fault(_TWO, "zones", "a column encoding that no reader knows", "L.array.column.encoding",
          _column_encoding("zone_index"), flags=("WrongKind",)),
    fault(_TWO, "null", "a null in a field that is never null", "L.array.nullable.field",
          field(1, nullable=False), flags=("NullWhereNone",)),
    fault(_PAIRS, "map", "a map, which 2.0 cannot store", "L.array.column.type",
          field(0, logical_type="map"), flags=("WrongKind",)),
    fault(_LISTS, "page", "a page of numbers in a list column", "L.array.list.page",
          array(_flat_page), flags=("WrongKind",)),
    fault(_LISTS, "adjustment", "another null adjustment than the items plus one",
          "L.array.list.null-adjustment-value", assign("list.null_offset_adjustment", 9),
          kind="lint"),
    fault(_NESTED, "length", "an inner header of one row more", "L.array.struct.length",
          column(_longer, 2), flags=("CountMismatch",)),
    fault(_BYTES, "type", "string ends in a column of numbers", "L.array.binary.type",
          field(0, logical_type="int32"), flags=("WrongKind",)),
)  # fmt: skip

_NAMED = (
    fault(_TWO, "bits", "values of twelve bits", "L.array.flat.type-width",
          assign("nullable.no_nulls.values.flat.bits_per_value", 12), flags=("WidthMismatch",)),
    fault(_TWO, "rows", "a column of one row more than the other", "L.file.descriptor.length",
          column(_longer_by_one), flags=("CountMismatch",)),
    fault(_LISTS, "fewer-items", "lists that claim fewer items than there are",
          "L.array.list.item-column", assign("list.num_items", 2), flags=("CountMismatch",)),
    fault(_NESTED, "header", "a header that is a page of numbers", "L.array.struct.header",
          array(_flat_page), flags=("WrongKind",)),
    fault("file/2.0/dictionary/automatic", "items", "fewer items than the dictionary has",
          "L.array.flat.size", assign("dictionary.num_dictionary_items", 3),
          flags=("CountMismatch",)),
)  # fmt: skip

_OTHERS = (
    fault("file/2.0/binary/two-buffers", "shared", "bytes said to lie where the ends do",
          "L.array.buffer.shared", assign("binary.bytes.flat.buffer.buffer_index", 0),
          flags=("WrongKind",)),
    fault(_ROWS, "width", "a field of two bytes described as four", "L.array.packed-struct.width",
          assign("packed_struct.inner.0.nullable.no_nulls.values.flat.bits_per_value", 32),
          flags=("WidthMismatch",)),
    fault(_ROWS, "children", "two widths for three fields", "L.array.packed-struct.children",
          array(_fewer_fields), flags=("MissingPart",)),
    fault(_EQUAL, "width", "strings of no bytes", "L.array.fixed-size-binary.width",
          assign("fixed_size_binary.byte_width", 0), flags=("WidthMismatch",)),
    fault(_RARE, "width", "17 bits for values of 16", "L.array.bitpacked.width",
          assign("bitpacked.compressed_bits_per_value", 17), flags=("WidthMismatch",)),
    fault(_RARE, "size", "a packed buffer one byte short", "L.array.bitpacked.size",
          resize(0, -1), flags=("BufferTooShort",)),
    fault(_LANES, "size", "a block that ends early", "L.array.bitpacked-for-non-neg.size",
          resize(0, -1), flags=("BufferTooShort",)),
    fault(_SHARED, "index", "a buffer the column does not have", "L.array.buffer.index",
          assign("flat.buffer.buffer_index", 1), flags=("IndexBeyondItems",)),
    fault(_FSST, "inner", "codes that are not stored as binary", "L.array.fsst.inner",
          array(_flat_codes), flags=("WrongKind",)),
    fault("file/2.0/binary/zstd", "frame", "a zstd frame with another magic",
          "L.array.flat.compressed-block", byte("field c", "bytes", at=0, new=0),
          flags=("FrameBroken",)),
    fault(_BLOB, "values", "blobs described as plain values", "L.array.blob.column",
          _column_encoding("values"), flags=("WrongKind",)),
    fault(_BLOB, "null", "a blob of no bytes at position 2", "L.array.blob.null",
          byte("field c", "rows", at=32, new=2), flags=("NullWhereNone",)),
    fault(_BLOB, "order", "a first blob after the last", "L.array.blob.order",
          byte("field c", "rows", at=0, new=100), flags=("OffsetsNotMonotonic",)),
    fault(_BLOB, "payload", "a blob of 2**40 bytes", "L.array.blob.payload",
          byte("field c", "rows", at=13, new=1), flags=("BlobSizeHuge",)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_ARRAYS, *_COLUMNS, *_NAMED, *_OTHERS)
"""Every negative case of 2.0 files."""
