"""Negative cases of page content: layouts and codecs of 2.1 and 2.2."""

from __future__ import annotations

from typing import cast

from lanceref.proto.encodings_v2_1_pb2 import Fsst, PackedStruct, PageLayout, RepDefLayer
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.messages import column, page
from lance_conformance.recipes.model import MessageEdit, Negative, SpanPatch
from lance_conformance.recipes.tables.edits import (
    assign,
    byte,
    damage_table,
    fault,
    resize,
    spare_buffer,
)

_M = "mini_block_layout"
_VALUES = f"{_M}.value_compression"
_M_INT = "file/2.1/miniblock/int32"
_M_I64 = "file/2.1/miniblock/no-nulls"
_M_LIST = "file/2.1/levels/list"
_M_STR = "file/2.1/variable/string"
_M_DICT = "file/2.1/dictionary/string"
_M_ARROW = "file/2.1/dictionary/arrow"
_M_PACK = "file/2.1/bitpack/32"
_M_RLE = "file/2.1/rle/int32"
_M_FSST = "file/2.1/fsst/urls"
_M_LZ4 = "file/2.1/general/lz4"
_M_BSS = "file/2.1/byte-stream-split/float64"
_M_FSL = "file/2.1/fixed-size-list/nullable-items"
_M_LONG = "file/2.1/repindex/long-row"
_M_STRUCT = "file/2.1/levels/struct"
_M_PSTR = "file/2.1/packed-struct/fixed"
_WORD = ("chunk table", "word of chunk 0")


def _layers(*codes: int) -> MessageEdit:
    def edit(message: PageLayout) -> None:
        message.mini_block_layout.layers[:] = cast(tuple[RepDefLayer, ...], codes)

    return page(edit)


_CHUNKS = (
    fault(_M_I64, "word-large", "a chunk longer than the buffer", "L.page.miniblock.chunk-bytes",
          byte(*_WORD, at=1, new=0xFF)),
    fault(_M_I64, "log", "a chunk of 2**15 values", "L.page.miniblock.num-items",
          byte(*_WORD, at=0, new=0x0F)),
    fault(_M_I64, "last-log", "a last chunk that states its values", "L.page.miniblock.last-log",
          SpanPatch(("chunk table", "word of chunk 1"), lambda old: bytes([old[0] | 3]) + old[1:])),
    fault(_M_I64, "table-size", "a chunk table of three bytes", "L.page.miniblock.table-size",
          column(lambda m: _set_size(m, 0, 3))),
    fault(_M_INT, "num-items", "more values than rows", "L.page.miniblock.num-items",
          assign(f"{_M}.num_items", 9)),
    fault(_M_INT, "num-items-huge", "2**62 values", "L.page.limits.items",
          assign(f"{_M}.num_items", 2**62)),
    fault(_M_INT, "value-size", "a value buffer beyond its chunk",
          "L.page.miniblock.chunk-fill",
          byte("chunk 0", "size of value buffer 0", at=1, new=1)),
    fault(_M_INT, "num-levels", "one level more than there are", "L.page.miniblock.num-levels",
          byte("chunk 0", "levels", at=0, new=7)),
    fault(_M_INT, "large-chunk", "the chunk grammar of 2.2 in a 2.1 file",
          "L.page.miniblock.large-chunk", assign(f"{_M}.has_large_chunk", True)),
    fault("file/2.2/miniblock/int32", "small-chunk", "the chunk grammar of 2.1 in a 2.2 file",
          "L.page.miniblock.large-chunk", assign(f"{_M}.has_large_chunk", False)),
    fault(_M_INT, "num-buffers", "two value buffers for flat values",
          "L.page.miniblock.num-buffers", assign(f"{_M}.num_buffers", 2)),
    fault(_M_INT, "spare-buffer", "a page buffer nobody asks for", "L.page.miniblock.buffers",
          spare_buffer()),
    fault(_M_INT, "no-values", "a page without value compression",
          "L.page.miniblock.values-present",
          page(lambda m: m.mini_block_layout.ClearField("value_compression"))),
    fault(_M_INT, "width", "values of 64 bits in an int32 column", "L.codec.flat.size",
          assign(f"{_VALUES}.flat.bits_per_value", 64)),
    fault(_M_INT, "layers-none", "no layer at all", "L.page.layers.present", _layers()),
    fault(_M_INT, "layers-code", "a layer of no kind", "L.page.layers.code", _layers(0)),
    fault(_M_INT, "layers-path", "a list layer in a column without lists", "L.page.layers.path",
          _layers(3, 4)),
    fault(_M_LIST, "layers-path", "no list layer in a column of lists", "L.page.layers.path",
          _layers(3)),
    fault(_M_INT, "padding", "zeros after the levels of a chunk", "L.page.miniblock.padding",
          SpanPatch(("chunk 0", "padding"), lambda old: bytes(len(old))), kind="lint"),
)  # fmt: skip


def _set_size(message: ColumnMetadata, buffer: int, size: int) -> None:
    message.pages[0].buffer_sizes[buffer] = size


_LEVELS = (
    fault(_M_INT, "def-range", "a definition level no layer has", "L.page.levels.def-range",
          byte("field c", "levels", at=0, new=5, nth=1)),
    fault(_M_LIST, "rep-range", "a repetition level no layer has", "L.page.levels.rep-range",
          byte("field c", "levels", at=2, new=9, nth=1)),
    fault(_M_LIST, "first-entry", "a page that starts inside a row",
          "L.page.repindex.agrees",
          byte("field c", "levels", at=0, new=0, nth=1)),
    fault(_M_LIST, "visible", "a null list that owns a value", "L.page.miniblock.visible",
          byte("field c", "levels", at=4, new=0, nth=2)),
    fault(_M_LIST, "rows", "a page of one row more", "L.file.descriptor.length",
          column(lambda m: _set_length(m, 6))),
    fault(_M_LONG, "repindex", "a chunk that finishes one row more",
          "L.page.repindex.rows",
          byte("repetition index", "rows*", at=0, new=7)),
    fault(_M_LONG, "leftover", "fewer entries left over than there are",
          "L.page.repindex.agrees",
          byte("repetition index", "entries*", at=0, new=1)),
    fault(_M_LIST, "no-repetition", "lists without repetition levels",
          "L.page.miniblock.repetition",
          page(lambda m: m.mini_block_layout.ClearField("rep_compression"))),
    fault(_M_LIST, "depth", "a repetition index of depth 2", "L.page.repindex.depth",
          assign(f"{_M}.repetition_index_depth", 2)),
    fault(_M_STRUCT, "siblings", "two fields that disagree on a null struct",
          "L.page.siblings.validity",
          byte("column 1 page 0", "levels", at=2, new=0, nth=1)),
)  # fmt: skip


def _set_length(message: ColumnMetadata, rows: int) -> None:
    message.pages[0].length = rows


_CODECS = (
    fault(_M_STR, "offsets", "a first offset inside the table", "L.codec.variable.offsets",
          byte("field c", "offsets", at=0, new=1)),
    fault(_M_STR, "utf8", "a byte that is not UTF-8", "L.page.leaf.utf8",
          byte("field c", "bytes", at=0, new=0xFF)),
    fault(_M_STR, "offset-width", "64-bit offsets in a string column", "L.page.leaf.offset-width",
          assign(f"{_VALUES}.variable.offsets.flat.bits_per_value", 64)),
    fault(_M_PACK, "width", "a block of 33 bits for 32-bit values", "L.codec.bitpack.width",
          byte("field c", "width", at=0, new=33)),
    fault(_M_PACK, "payload", "a width that wants more bytes", "L.codec.bitpack.payload",
          byte("field c", "width", at=0, new=9)),

    fault("file/2.1/bitpack/64", "payload", "a width that wants fewer bytes",
          "L.codec.bitpack.payload",
          byte("field c", "width", at=0, new=1)),
    fault(_M_RLE, "sum", "runs that do not add up", "L.codec.rle.sum",
          byte("field c", "run lengths", at=0, new=1)),
    fault(_M_RLE, "children", "run lengths of 16 bits", "L.codec.rle.children",
          assign(f"{_VALUES}.rle.run_lengths.flat.bits_per_value", 16)),
    fault(_M_FSST, "table", "a symbol of nine bytes", "L.codec.fsst.table",
          page(lambda m: _long_symbol(m.mini_block_layout.value_compression.fsst))),
    fault(_M_LZ4, "size", "an lz4 size of 2**31", "L.codec.general.size",
          byte("field c", "uncompressed size", at=3, new=0x7F)),
    fault(_M_LZ4, "scheme", "a compression scheme of no kind", "L.codec.general.scheme",
          assign(f"{_VALUES}.general.compression.scheme", 7)),
    fault(_M_BSS, "size", "a zstd size one value too small", "L.codec.general.size",
          SpanPatch(("field c", "uncompressed size"), lambda old: bytes([old[0] ^ 8]) + old[1:])),
    fault(_M_INT, "buffer-compression", "a compressed flat buffer",
          "L.codec.encoding.buffer-compression",
          assign(f"{_VALUES}.flat.data.scheme", 1)),
    fault(_M_INT, "range", "an encoding of 2.3 in a 2.1 file", "L.codec.encoding.version",
          assign(f"{_VALUES}.range.step", 1)),
    fault(_M_INT, "encoding-none", "a value compression without an arm",
          "L.codec.encoding.present",
          page(lambda m: m.mini_block_layout.value_compression.ClearField("flat"))),
    fault(_M_DICT, "index", "an index beyond the dictionary", "L.page.dictionary.index-range",
          SpanPatch(("field c", "block"), lambda old: b"\xff" * len(old))),
    fault(_M_DICT, "num-items", "a dictionary of fewer items", "L.codec.variable.header",
          assign(f"{_M}.num_dictionary_items", 3)),
    fault(_M_ARROW, "key-width", "32-bit indices for int8 keys", "L.codec.flat.size",
          assign(f"{_VALUES}.flat.bits_per_value", 32)),
    fault(_M_FSL, "dimension", "vectors of 3 in a column of 2", "L.codec.fixed-size-list.bitmap",
          assign(f"{_VALUES}.fixed_size_list.items_per_value", 3)),
    fault(_M_FSL, "bitmap", "a value buffer without its bitmap", "L.page.miniblock.num-buffers",
          assign(f"{_VALUES}.fixed_size_list.has_validity", False)),
    fault(_M_PSTR, "bits", "fields that do not fill the row", "L.codec.packed-struct.bits",
          page(lambda m: _first_bits(m.mini_block_layout.value_compression.packed_struct))),
    fault(_M_STR, "padding", "zeros after the bytes", "L.codec.variable.padding",
          SpanPatch(("field c", "padding"), lambda old: bytes(len(old)), nth=3), kind="lint"),
)  # fmt: skip


def _long_symbol(fsst: Fsst) -> None:
    table = fsst.symbol_table
    damage_table(fsst, 8 + 8 * table[0], 9)


def _first_bits(packed: PackedStruct) -> None:
    packed.bits_per_value[0] = 8


_Z = "full_zip_layout"
_Z_VECTORS = "file/2.1/fullzip/vectors"
_Z_NULL = "file/2.1/fullzip/nullable"
_Z_LIST = "file/2.1/fullzip/list-vectors"
_Z_BIN = "file/2.1/fullzip/binary"
_C_NULL = "file/2.1/constant/all-null"
_C_LIST = "file/2.1/constant/null-lists"
_C_INLINE = "file/2.2/constant/inline"
_C_BUFFER = "file/2.2/constant/buffer"

_OTHERS = (
    fault(_Z_VECTORS, "size", "a byte less than the values take", "L.page.fullzip.size",
          resize(-1, -1)),
    fault(_Z_VECTORS, "value-bits", "values of 3 201 bits", "L.page.fullzip.value-bits",
          assign(f"{_Z}.bits_per_value", 3201)),
    fault(_Z_NULL, "definition", "a definition level no layer has", "L.page.fullzip.control-word",
          byte("control word", at=0, new=9)),
    fault(_Z_NULL, "visible", "a count of visible values that is wrong",
          "L.page.fullzip.num-visible", assign(f"{_Z}.num_visible_items", 3)),
    fault(_Z_NULL, "num-items", "more entries than the buffer holds", "L.page.fullzip.num-items",
          assign(f"{_Z}.num_items", 9)),
    fault(_Z_NULL, "control-bits", "40 bits of levels", "L.page.fullzip.control-bits",
          assign(f"{_Z}.bits_def", 40)),
    fault(_Z_LIST, "row-index", "a row that starts a byte later", "L.page.rowindex.total",
          byte("start of row 0", at=0, new=1)),
    fault(_Z_BIN, "length", "a value longer than the page", "L.page.fullzip.length",
          byte("field c", "length", at=3, new=0x7F)),
    fault(_C_NULL, "value", "a constant value in a 2.1 file", "L.page.constant.only-null",
          assign("constant_layout.inline_value", b"\7\0\0\0")),
    fault(_C_LIST, "levels", "a level buffer of an odd size", "L.page.constant.level-bytes",
          resize(-1, -1)),
    fault(_C_INLINE, "size", "an inline value of five bytes", "L.page.constant.inline-size",
          assign("constant_layout.inline_value", bytes(5))),
    fault(_C_BUFFER, "buffer", "a value buffer that claims five buffers",
          "L.page.constant.value-buffer",
          byte("number of buffers", at=0, new=5)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_CHUNKS, *_LEVELS, *_CODECS, *_OTHERS)
"""Every negative case of page content."""
