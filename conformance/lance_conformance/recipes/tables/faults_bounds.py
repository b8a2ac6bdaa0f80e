"""Negative cases of bounds: a count, level, index or size of 2.1 to 2.3 that is off by one."""

from __future__ import annotations

from lance_conformance.recipes.messages import column
from lance_conformance.recipes.model import Negative, SpanPatch
from lance_conformance.recipes.tables.edits import assign, byte, fault, resize

_M, _Z = "mini_block_layout", "full_zip_layout"
_WORD = ("chunk table", "word of chunk 0")


def _more(*path: str, by: int = 1, at: int = 0, nth: int = 0) -> SpanPatch:
    """Add to one byte of a leaf."""

    def patch(old: bytes) -> bytes:
        return old[:at] + bytes([(old[at] + by) % 256]) + old[at + 1 :]

    return SpanPatch(path, patch, nth)


_CHUNKS = (
    fault("file/2.2/miniblock/int32", "word", "a chunk of one unit more than the buffer",
          "L.page.miniblock.chunk-bytes", _more(*_WORD, by=16)),
    fault("file/2.1/miniblock/int64", "word", "a chunk of one unit less than the buffer",
          "L.page.miniblock.chunk-bytes", _more(*_WORD, by=-16)),
    fault("file/2.2/miniblock/no-nulls", "log", "a first chunk without a count",
          "L.page.miniblock.log", SpanPatch(_WORD, lambda old: bytes([old[0] & 0xF0]) + old[1:])),
    fault("file/2.2/miniblock/no-nulls", "fewer", "a first chunk of half its values",
          "L.codec.flat.size", _more(*_WORD, by=-1)),
    fault("file/2.2/miniblock/int32", "table-size", "a chunk table of three bytes",
          "L.page.miniblock.table-size", resize(0, -1)),
    fault("file/2.1/variable/binary", "value-size", "a value buffer of eight bytes more",
          "L.page.miniblock.chunk-fill", _more("chunk 0", "size of value buffer 0", by=8)),
    fault("file/2.2/miniblock/int64", "value-size", "a value buffer of eight bytes less",
          "L.page.miniblock.chunk-fill", _more("chunk 0", "size of value buffer 0", by=-8)),
    fault("file/2.2/levels/list", "num-levels", "one level less than there are",
          "L.codec.flat.size", _more("chunk 0", "levels", by=-1)),
    fault("file/2.3/planar/chunked", "num-levels", "one level more than there are",
          "L.page.miniblock.num-levels", _more("chunk 0", "levels")),
    fault("file/2.2/miniblock/int64", "num-items", "one value more than rows",
          "L.page.miniblock.num-items", assign(f"{_M}.num_items", 7)),
    fault("file/2.1/miniblock/uint16", "size", "a value buffer one byte short",
          "L.codec.flat.size", _more("chunk 0", "size of value buffer 0", by=-1)),
    fault("file/2.2/miniblock/decimal128", "size", "a value buffer one byte short",
          "L.codec.flat.size", _more("chunk 0", "size of value buffer 0", by=-1)),
    fault("file/2.3/planar/chunked", "size", "a value buffer one byte short",
          "L.codec.flat.size", _more("chunk 0", "size of value buffer 0", by=-1)),
)  # fmt: skip

_LEVELS = (
    fault("file/2.2/levels/list", "rep-range", "a repetition level of 2 under one list",
          "L.page.levels.rep-range", byte("field c", "levels", at=2, new=2, nth=1)),
    fault("file/2.3/planar/chunked-list", "rep-range", "a repetition level of 2 under one list",
          "L.page.levels.rep-range", byte("field c", "levels", at=2, new=2, nth=1)),
    fault("file/2.1/levels/list-list", "rep-range", "a repetition level of 3 under two lists",
          "L.page.levels.rep-range", byte("field c", "levels", at=2, new=3, nth=1)),
    fault("file/2.3/planar/chunked", "def-range", "a level of 2 over one layer of nulls",
          "L.page.levels.def-range", byte("field c", "levels", at=0, new=2, nth=1)),
    fault("file/2.1/levels/list-list", "def-range", "a level one above the highest",
          "L.page.levels.def-range", byte("field c", "levels", at=0, new=6, nth=2)),
    fault("file/2.1/fullzip/bool", "def-range", "a level of 2 over one layer of nulls",
          "L.page.fullzip.control-word", byte("control word", at=0, new=2)),
    fault("file/2.1/levels/list-list", "visible", "one value less than are visible",
          "L.page.miniblock.visible", assign(f"{_M}.num_items", 3)),
    fault("file/2.2/levels/list", "visible", "a null that becomes a value",
          "L.page.miniblock.visible", byte("field c", "levels", at=4, new=0, nth=2)),
    fault("file/2.2/repindex/long-row", "rows", "a chunk that finishes one row more",
          "L.page.repindex.rows", _more("repetition index", "rows*")),
    fault("file/2.2/repindex/long-row", "leftover", "a chunk that leaves one entry more",
          "L.page.repindex.agrees", _more("repetition index", "entries*")),
    fault("file/2.2/levels/list", "depth", "a repetition index of depth 0",
          "L.page.repindex.depth", assign(f"{_M}.repetition_index_depth", 0)),
    fault("file/2.2/levels/list", "repindex-size", "a repetition index one byte short",
          "L.page.repindex.size", resize(2, -1)),
    fault("file/2.2/constant/list", "first-entry", "a page that begins inside a list",
          "L.page.levels.first-entry", byte("field c", "repetition", at=0, new=0)),
    fault("file/2.2/constant/list", "rows", "levels of one row more", "L.page.levels.rows",
          _more("field c", "repetition", at=2)),
    fault("file/2.2/constant/packed-levels", "range", "a definition level of 4 under three",
          "L.page.levels.def-range", byte("field c", "values", at=4, new=4, nth=1)),
    fault("file/2.1/constant/null-structs", "repetition", "repetition without a list",
          "L.page.constant.repetition", resize(0, 6)),
    fault("file/2.1/constant/null-structs", "levels", "levels of two rows in a page of three",
          "L.page.constant.level-count", resize(1, -2)),
)  # fmt: skip

_ITEMS = (
    fault("file/2.1/dictionary/arrow", "index", "an index of 3 into three items",
          "L.page.dictionary.index-range", byte("field c", "values", at=0, new=3)),
    fault("file/2.2/dictionary/arrow", "index", "an index of 3 into three items",
          "L.page.dictionary.index-range", byte("field c", "values", at=0, new=3)),
    fault("file/2.1/dictionary/flat-indices", "index", "an index one after the last item",
          "L.page.dictionary.index-range", byte("field c", "values", at=0, new=7)),
    fault("file/2.1/dictionary/string", "short", "a dictionary one byte short",
          "L.codec.variable.offsets", resize(2, -1)),
    fault("file/2.1/dictionary/string", "head", "a dictionary of three bytes",
          "L.codec.variable.header", resize(2, -107), flags=("BufferTooShort",)),
    fault("file/2.1/dictionary/string", "offset-width", "dictionary offsets of 16 bits",
          "L.codec.variable.header", byte("field c", "header", at=0, new=16),
          flags=("WidthMismatch",)),
    fault("file/2.1/rle/int8", "sum", "runs of one value more", "L.codec.rle.sum",
          _more("field c", "run lengths")),
    fault("file/2.2/rle/int32", "sum", "runs of one value less", "L.codec.rle.sum",
          _more("field c", "run lengths", by=-1)),
    fault("file/2.3/rle/int8", "sum", "runs of one value more", "L.codec.rle.sum",
          _more("field c", "run lengths")),
    fault("file/2.1/rle/int32", "pairs", "one run length more than runs", "L.codec.rle.pairs",
          assign(f"{_M}.value_compression.rle.values.flat.bits_per_value", 64)),
    fault("file/2.1/bitpack/16", "width", "17 bits for values of 16", "L.codec.bitpack.width",
          byte("field c", "width", at=0, new=17)),
    fault("file/2.2/bitpack/64", "width", "65 bits for values of 64", "L.codec.bitpack.width",
          byte("field c", "width", at=0, new=65)),
    fault("file/2.2/bitpack/32", "payload", "a width of one bit more than stored",
          "L.codec.bitpack.payload", _more("field c", "width")),
    fault("file/2.1/bitpack/16", "payload", "a width of one bit less than stored",
          "L.codec.bitpack.payload", _more("field c", "width", by=-1)),
    fault("file/2.1/variable/large-string", "offsets", "an offset one beyond the chunk",
          "L.codec.variable.offsets", byte("field c", "offsets", at=-8, new=0xFF)),
    fault("file/2.2/variable/string", "first", "a first offset one byte early",
          "L.codec.variable.offsets", _more("field c", "offsets", by=-1)),
    fault("file/2.1/general/zstd", "size", "a frame of one byte more than told",
          "L.codec.general.size", _more("field c", "uncompressed size", by=-1)),
    fault("file/2.2/zipped/lz4-level", "size", "a block of one byte less than told",
          "L.codec.general.size", _more("field c", "value")),
    fault("file/2.2/general/strings", "size", "strings of one byte less than told",
          "L.codec.general.size", _more("field c", "uncompressed size")),
)  # fmt: skip

_ZIPPED = (
    fault("file/2.2/zipped/vectors", "size", "a byte less than the values take",
          "L.page.fullzip.size", resize(0, -1)),
    fault("file/2.1/zipped/int16", "num-items", "one value more than there are",
          "L.page.fullzip.num-items", assign(f"{_Z}.num_items", 7)),
    fault("file/2.1/fullzip/list-vectors", "visible", "one visible value less than there are",
          "L.page.fullzip.num-visible", assign(f"{_Z}.num_visible_items", 1), kind="lint"),
    fault("file/2.2/zipped/strings", "length", "a value that ends after its row",
          "L.page.fullzip.length", _more("field c", "length")),
    fault("file/2.1/zipped/large-strings", "length", "a length of 2**63", "L.page.fullzip.length",
          byte("field c", "length", at=7, new=0x80)),
    fault("file/2.3/zipped/lists", "row-start", "a row that starts one entry early",
          "L.page.fullzip.row-start", _more("start of row 1", by=-9)),
    fault("file/2.1/zipped/lists", "last", "a last row that ends a byte early",
          "L.page.fullzip.length", _more("start of row 4", by=-1)),
    fault("file/2.2/zipped/large-strings", "order", "rows whose starts fall",
          "L.page.rowindex.order", byte("start of row 2", at=0, new=0)),
    fault("file/2.1/fullzip/list-vectors", "control-bits", "15 bits of levels more",
          "L.page.fullzip.control-bits", assign(f"{_Z}.bits_rep", 17)),
    fault("file/2.1/fullzip/vectors", "no-bits", "values of no bits", "L.page.fullzip.value-bits",
          assign(f"{_Z}.bits_per_value", 0), flags=("WidthMismatch",)),
    fault("file/2.2/packed-struct/variable", "cells", "a row too short for its string",
          "L.codec.packed-struct.row", byte("field c", "value", at=1, new=5, nth=0),
          flags=("IndexBeyondItems",)),
    fault("file/2.2/constant/buffer", "sum", "a first buffer one byte longer",
          "L.page.constant.value-buffer", _more("size of a buffer"), flags=("CountMismatch",)),
    fault("file/2.2/constant/buffer", "start", "a value that begins at its second byte",
          "L.page.constant.value-buffer", _more("offsets of the value"),
          flags=("OffsetsNotMonotonic",)),
    fault("file/2.2/constant/buffer", "end", "a value that ends a byte before its buffer",
          "L.page.constant.value-buffer", _more("offsets of the value", at=4, by=-1),
          flags=("BufferTooShort",)),
    fault("file/2.2/constant/buffer-levels", "utf8", "a value that is not UTF-8",
          "L.page.leaf.utf8", byte("field c", "value", at=0, new=0xFF)),
    fault("file/2.2/blob/top", "payload", "a blob that ends after the data",
          "L.page.blob.payload", byte("field b", "packed rows", at=9, new=0xFF)),
    fault("file/2.2/pages/int32", "rows", "a page of one row less", "L.page.miniblock.num-items",
          column(lambda m: setattr(m.pages[0], "length", m.pages[0].length - 1))),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_CHUNKS, *_LEVELS, *_ITEMS, *_ZIPPED)
"""Every negative case of bounds."""
