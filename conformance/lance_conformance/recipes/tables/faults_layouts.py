"""Negative cases of 2.1 and 2.2 pages: levels, siblings, layouts, codecs, limits."""

from __future__ import annotations

from lanceref.proto.encodings_v2_1_pb2 import PageLayout
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.messages import column, field, page
from lance_conformance.recipes.model import MessageEdit, Negative, SpanPatch
from lance_conformance.recipes.tables.edits import (
    assign,
    byte,
    clear,
    fault,
    no_buffers,
    resize,
    spare_buffer,
)

_POINTS = "file/2.1/levels/list-struct"
_STRUCT = "file/2.1/levels/struct"
_VECTORS = "file/2.1/levels/list-vectors"
_PAIRS = "file/2.2/levels/fixed-size-list-struct"
_PLAIN = "file/2.1/miniblock/plain"
_FOUR = "file/2.1/miniblock/four-chunks"
_INDICES = "file/2.1/dictionary/flat-indices"
_STRINGS = "file/2.1/fullzip/list-strings"
_ZIP_INTS = "file/2.1/fullzip/int32"
_ITEMS = "file/2.1/fullzip/null-items"
_NULL_ITEMS = "file/2.1/fullzip/all-null-items"
_NULLS = "file/2.1/constant/levels"
_PACKED = "file/2.2/constant/packed-levels"
_SEVEN = "file/2.2/constant/plain"
_SEVENS = "file/2.2/constant/list-pairs"
_VARIABLE = "file/2.2/packed-struct/variable"

_M, _Z, _C = "mini_block_layout", "full_zip_layout", "constant_layout"


def _no_pages(message: ColumnMetadata) -> None:
    del message.pages[:]


def _rows(num_rows: int) -> MessageEdit:
    def edit(message: ColumnMetadata) -> None:
        message.pages[0].length = num_rows

    return column(edit)


def _tiny_chunk(message: ColumnMetadata) -> None:
    """Let the chunk table be two zeros found elsewhere: one chunk of eight bytes."""
    first = message.pages[0]
    first.buffer_offsets[0] = 256
    first.buffer_sizes[1] = 8


def _listed_indices(message: PageLayout) -> None:
    values = message.mini_block_layout.value_compression
    values.fixed_size_list.items_per_value = 1
    values.fixed_size_list.values.flat.bits_per_value = 32


def _fewer_symbols(message: PageLayout) -> None:
    """Keep the first ten symbols of a table."""
    fsst = message.mini_block_layout.value_compression.fsst
    table = bytes(fsst.symbol_table)
    count, lengths_at = 10, 8 + 8 * table[0]
    symbols, lengths = table[8 : 8 + 8 * count], table[lengths_at : lengths_at + count]
    kept = bytes([count]) + table[1:8] + symbols + lengths
    fsst.symbol_table = kept.ljust(len(table), b"\0")


_LEVELS = (
    fault(_STRUCT, "null-child", "a null in a child that is never null", "L.page.required.null",
          field(1, nullable=False), flags=("NullWhereNone",)),
    fault(_POINTS, "no-pages", "a leaf without pages beside one with three rows",
          "L.page.siblings.rows", column(_no_pages, 1), flags=("MissingPart",)),
    fault(_POINTS, "offsets", "two leaves that cut the same lists elsewhere",
          "L.page.siblings.offsets",
          SpanPatch(("column 1 page 0", "levels"), b"\1\0\0\0", nth=1, at=2),
          flags=("SiblingsDisagree",)),
    fault(_POINTS, "levels-width", "levels of 32 bits", "L.codec.encoding.levels",
          assign(f"{_M}.rep_compression.flat.bits_per_value", 32), flags=("WidthMismatch",)),
    fault(_POINTS, "levels-none", "an encoding of levels without an arm",
          "L.codec.encoding.present", clear(f"{_M}.def_compression.flat"), flags=("MissingPart",)),
    fault(_POINTS, "repindex-size", "half a repetition index", "L.page.repindex.size",
          resize(2, -8), flags=("BufferTooShort",)),
    fault(_POINTS, "repindex-huge", "a chunk that finishes 2**62 rows", "L.page.repindex.range",
          byte("repetition index", "rows*", at=7, new=0x40), flags=("RepetitionIndexHuge",)),
    fault(_VECTORS, "chunk-header", "a chunk smaller than its header",
          "L.page.miniblock.chunk-header", column(_tiny_chunk), flags=("BufferTooShort",)),
    fault(_PAIRS, "dimension", "lists of no structs", "L.page.layers.dimension",
          field(0, logical_type="fixed_size_list:struct:0"), flags=("WidthMismatch",)),
    fault(_SEVENS, "group", "five slots for pairs", "L.page.levels.fsl-group", resize(0, -2),
          flags=("CountMismatch",)),
    fault(_NULLS, "first-entry", "a page that begins inside a list", "L.page.levels.first-entry",
          byte("field c", "repetition", at=0, new=0), flags=("LevelsDisagree",)),
    fault(_NULLS, "special", "a null list that continues another",
          "L.page.levels.special-alone", byte("field c", "definition", at=2, new=2),
          flags=("LevelsDisagree",)),
    fault(_NULLS, "rows", "levels of one row more", "L.page.levels.rows",
          byte("field c", "repetition", at=2, new=1), flags=("CountMismatch",)),
)  # fmt: skip

_LEAVES = (
    fault(_PLAIN, "no-layout", "a page without a layout", "L.page.layout.present", clear(_M),
          flags=("MissingPart",)),
    fault(_PLAIN, "width", "four bytes for values of eight", "L.page.leaf.width",
          field(0, logical_type="int64"), flags=("WidthMismatch",)),
    fault(_PLAIN, "kind", "numbers in a string column", "L.page.leaf.kind",
          field(0, logical_type="string"), flags=("WrongKind",)),
    fault(_PLAIN, "bits", "values of twelve bits", "L.codec.flat.bits",
          assign(f"{_M}.value_compression.flat.bits_per_value", 12), flags=("WidthMismatch",)),
    fault("file/2.1/fixed-size-list/nullable-items", "schema", "vectors of 2 in a column of 4",
          "L.page.leaf.dimension", field(0, logical_type="fixed_size_list:float:4"),
          flags=("WidthMismatch",)),
    fault("file/2.1/fixed-size-list/pairs", "row", "vectors of 2**30 items", "L.page.limits.row",
          field(0, logical_type="fixed_size_list:float:1073741824"), flags=("DimensionHuge",)),
    fault(_INDICES, "indices", "lists where indices belong", "L.page.dictionary.index-width",
          page(_listed_indices), flags=("WidthMismatch",)),
    fault("file/2.1/dictionary/arrow", "schema", "8-bit indices for keys of 16",
          "L.page.dictionary.key-width", field(0, logical_type="dict:string:int16:false"),
          flags=("WidthMismatch",)),
    fault("file/2.1/dictionary/decimal", "index", "an index beyond a flat dictionary",
          "L.page.dictionary.index-range",
          SpanPatch(("field c", "block"), lambda old: b"\xff" * len(old)),
          flags=("IndexBeyondItems",)),
)  # fmt: skip

_CODECS = (
    fault(_FOUR, "log-none", "a first chunk without a count", "L.page.miniblock.log",
          SpanPatch(("word of chunk 0",), lambda old: bytes([old[0] & 0xF0]) + old[1:]),
          flags=("CountMismatch",)),
    fault(_FOUR, "count", "a last block of more than 1 024 values", "L.codec.bitpack.count",
          SpanPatch(("word of chunk 0",), lambda old: bytes([old[0] - 1]) + old[1:]),
          flags=("CountMismatch",)),
    fault(_FOUR, "types", "packed values of 24 bits", "L.codec.bitpack.types",
          assign(f"{_M}.value_compression.inline_bitpacking.uncompressed_bits_per_value", 24),
          flags=("WidthMismatch",)),
    fault(_FOUR, "tail", "a value after the last", "L.codec.bitpack.tail",
          SpanPatch(("field c", "block"), lambda old: old[:-1] + bytes([old[-1] | 0xC0]), 3),
          kind="lint"),
    fault("file/2.1/variable/empty", "table", "no room for the last offset",
          "L.codec.variable.table", byte("chunk 0", "size of value buffer 0", at=0, new=25),
          flags=("BufferTooShort",)),
    fault("file/2.1/rle/int16", "pairs", "a run without a length", "L.codec.rle.pairs",
          byte("chunk 0", "size of value buffer 1", at=0, new=26), flags=("CountMismatch",)),
    fault("file/2.1/byte-stream-split/float32", "width", "streams of doubles",
          "L.codec.byte-stream-split.size",
          assign(f"{_M}.value_compression.general.values.byte_stream_split.values"
                 ".flat.bits_per_value", 64), flags=("WidthMismatch",)),
    fault("file/2.1/general/zstd", "frame", "the magic of a frame and no frame",
          "L.codec.general.frame",
          SpanPatch(("field c", "uncompressed size"), bytes.fromhex("28b52ffd")),
          flags=("FrameBroken",)),
    fault("file/2.1/fsst/urls", "code", "a code without a symbol", "L.codec.fsst.code",
          page(_fewer_symbols), flags=("IndexBeyondItems",)),
    fault("file/2.1/fsst/escapes", "escape", "a value that ends after an escape",
          "L.codec.fsst.escape", SpanPatch(("field c", "bytes"), lambda old: b"\xff" * len(old)),
          flags=("BufferTooShort",)),
    fault(_VARIABLE, "field", "lengths of 24 bits", "L.codec.packed-struct.field",
          assign(f"{_Z}.value_compression.variable_packed_struct.fields.1.bits_per_length", 24),
          flags=("WidthMismatch",)),
    fault(_VARIABLE, "row", "a string that leaves bytes of its row", "L.codec.packed-struct.row",
          byte("field c", "value", at=1, new=3, nth=4), flags=("BufferTooShort",)),
)  # fmt: skip

_COUNTS = (
    fault(_PLAIN, "num-levels", "levels counted in a page without levels",
          "L.page.miniblock.num-levels", byte("chunk 0", "levels", at=0, new=3),
          flags=("CountMismatch",)),
    fault("file/2.1/variable/string", "fall", "an offset below the one before",
          "L.codec.variable.offsets", byte("field c", "offsets", at=12, new=28),
          flags=("OffsetsNotMonotonic",)),
    fault("file/2.2/miniblock/last-log", "rest", "a last chunk that states twice its values",
          "L.page.miniblock.last-log", byte("word of chunk 0", at=0, new=0x23),
          flags=("CountMismatch",)),
    fault("file/2.2/miniblock/never-null", "level", "a level that no layer has",
          "L.page.levels.def-range", byte("field c", "levels", at=0, new=2, nth=1),
          flags=("LevelsDisagree",)),
    fault("file/2.2/dictionary/packed-items", "short", "a dictionary block that ends early",
          "L.codec.bitpack.out-of-line", resize(2, -8), flags=("BufferTooShort",)),
)  # fmt: skip

_FULLZIP = (
    fault(_STRINGS, "no-values", "zipped values without a codec",
          "L.page.fullzip.values-present", clear(f"{_Z}.value_compression"),
          flags=("MissingPart",)),
    fault(_STRINGS, "details", "neither bits per value nor per offset", "L.page.fullzip.details",
          clear(f"{_Z}.bits_per_offset"), flags=("MissingPart",)),
    fault(_STRINGS, "repetition", "lists without repetition bits", "L.page.fullzip.repetition",
          assign(f"{_Z}.bits_rep", 0), flags=("LevelsDisagree",)),
    fault(_STRINGS, "buffer", "a third buffer", "L.page.fullzip.buffers", spare_buffer(),
          flags=("SpareBuffer",)),
    fault(_STRINGS, "empty-row", "a row without bytes", "L.page.fullzip.entry",
          byte("start of row 1", at=0, new=0), flags=("OffsetsNotMonotonic",)),
    fault(_STRINGS, "row-start", "a row that starts inside a list", "L.page.fullzip.row-start",
          byte("start of row 1", at=0, new=7), flags=("LevelsDisagree",)),
    fault(_STRINGS, "index-width", "a row index of three bytes for four positions",
          "L.page.rowindex.width", resize(1, -1), flags=("BufferTooShort",)),
    fault(_STRINGS, "index-order", "positions that fall", "L.page.rowindex.order",
          byte("start of row 2", at=0, new=5), flags=("OffsetsNotMonotonic",)),
    fault(_ZIP_INTS, "control-word", "a bit above both levels", "L.page.fullzip.control-word",
          byte("control word", at=0, new=2), flags=("LevelsDisagree",)),
    fault(_ITEMS, "size", "items of half the width", "L.codec.fixed-size-list.size",
          assign(f"{_Z}.value_compression.fixed_size_list.values.flat.bits_per_value", 16),
          flags=("WidthMismatch",)),
    fault(_ITEMS, "no-items", "lists of no items", "L.codec.fixed-size-list.items",
          assign(f"{_Z}.value_compression.fixed_size_list.items_per_value", 0),
          flags=("WidthMismatch",)),
    fault(_NULL_ITEMS, "bitmap", "a valid item where none is stored",
          "L.codec.fixed-size-list.all-null", byte("field c", "value", at=0, new=1),
          flags=("NullWhereNone",)),
)  # fmt: skip

_CONSTANT = (
    fault(_SEVEN, "buffer", "an inline value and one buffer", "L.page.constant.form",
          spare_buffer(), flags=("SpareBuffer",)),
    fault(_SEVEN, "levels", "levels with a codec beside a value", "L.page.constant.raw-levels",
          assign(f"{_C}.rep_compression.flat.bits_per_value", 16), flags=("WrongKind",)),
    fault(_SEVEN, "type", "one value for a column of vectors", "L.page.constant.value-type",
          field(0, logical_type="fixed_size_list:int8:8"), flags=("WrongKind",)),
    fault(_SEVENS, "scale", "three slots for pairs", "L.page.layout.scale", _rows(3),
          flags=("CountMismatch",)),
    fault(_NULLS, "count", "fewer definition than repetition levels",
          "L.page.constant.level-count", resize(1, -2), flags=("CountMismatch",)),
    fault(_NULLS, "no-levels", "lists without levels", "L.page.constant.repetition",
          no_buffers(), flags=("MissingPart",)),
    fault(_PACKED, "no-count", "definition levels of no count", "L.page.constant.level-count",
          assign(f"{_C}.num_def_values", 0), flags=("CountMismatch",)),
    fault(_PACKED, "levels-huge", "2**40 repetition levels", "L.page.limits.levels",
          assign(f"{_C}.num_rep_values", 2**40), flags=("LevelCountHuge",)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_LEVELS, *_LEAVES, *_CODECS, *_COUNTS, *_FULLZIP, *_CONSTANT)
"""Every further negative case of 2.1 and 2.2 pages."""
