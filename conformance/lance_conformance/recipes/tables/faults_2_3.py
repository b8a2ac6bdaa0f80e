"""Negative cases of 2.3 pages: planes, sparse structure, and the sequences of both."""

from __future__ import annotations

from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout
from lanceref.proto.file2_pb2 import ColumnMetadata

from lance_conformance.recipes.messages import column, planes
from lance_conformance.recipes.model import Negative
from lance_conformance.recipes.tables.edits import (
    assign,
    byte,
    clear,
    fault,
    no_buffers,
    resize,
    spare_buffer,
)

_DENSE = "file/2.3/planar/chunked"
_ZIP = "file/2.3/planar/zipped"
_CONSTANT = "file/2.3/planar/constant"
_ROWS = "file/2.3/planar/packed-rows"
_INTS = "file/2.3/sparse/chunked"
_DELTA = "file/2.3/sparse/validity-delta"
_LIST = "file/2.3/sparse/list"
_PAIRS = "file/2.3/sparse/fixed-size-list"
_VECTORS = "file/2.3/sparse/vectors"
_DICT = "file/2.3/sparse/constant"
_NONE = "file/2.3/sparse/none"
_RUNS = "file/2.3/sparse/counts-rle"
_EVEN = "file/2.3/sparse/counts-rle-constant"
_INDEXED = "file/2.3/sparse/indexed"
_RANGE = "file/2.3/offsets/range"

_VALIDITY = "structure.sparse.layers.0.validity"
_LISTS = "structure.sparse.layers.0.list"


def _other_layer(message: PlanarLayout) -> None:
    message.structure.sparse.layers[0].list.SetInParent()


def _fewer_layers(message: PlanarLayout) -> None:
    del message.structure.sparse.layers[0]


def _indexed(message: PlanarLayout) -> None:
    message.values.indexed.SetInParent()


def _levels(message: PlanarLayout) -> None:
    message.values.chunked.levels.SetInParent()


def _zip_levels(message: PlanarLayout) -> None:
    message.values.zipped.levels.SetInParent()


def _constant_indices(message: PlanarLayout) -> None:
    dictionary = message.structure.sparse.layers[0].list.counts.dictionary
    dictionary.indices.constant.value = bytes(4)


def _rows(message: ColumnMetadata, num_rows: int) -> None:
    message.pages[0].length = num_rows


def _range_values(message: PlanarLayout) -> None:
    spread = message.values.chunked.compression.range
    spread.uncompressed_bits_per_value, spread.step = 64, 1


def _many_slots(message: PlanarLayout, slots: int) -> None:
    """Claim one list of `slots` nulls."""
    lists = message.structure.sparse.layers[0].list
    lists.num_child_slots = slots
    lists.counts.constant.value = slots.to_bytes(8, "little")


def _many_nulls(message: PlanarLayout) -> None:
    _many_slots(message, 20_000_000)
    items = message.structure.sparse.layers[1].validity
    items.positions.range.uncompressed_bits_per_value = 64
    items.positions.range.step = 1
    items.num_positions = 20_000_000


_PLANES = (
    fault(_DENSE, "no-values", "a page without a value plane", "L.page.planar.planes",
          clear("values"), flags=("MissingPart",)),
    fault(_CONSTANT, "no-structure", "a page without a structure plane", "L.page.planar.planes",
          clear("structure"), flags=("MissingPart",)),
    fault(_DENSE, "indexed", "indexed values beside levels", "L.page.planar.indexed",
          planes(_indexed), flags=("WrongKind",)),
    fault(_DENSE, "no-levels", "dense chunks without their levels message",
          "L.page.planar.chunk-levels", clear("values.chunked.levels"), flags=("MissingPart",)),
    fault(_ZIP, "no-levels", "dense zipped values without their levels message",
          "L.page.planar.zip-levels", clear("values.zipped.levels"), flags=("MissingPart",)),
    fault(_DENSE, "no-codec", "chunks without a codec", "L.page.planar.compression",
          clear("values.chunked.compression"), flags=("MissingPart",)),
    fault(_INTS, "no-codec", "sparse chunks without a codec", "L.page.planar.compression",
          clear("values.chunked.compression"), flags=("MissingPart",)),
    fault(_CONSTANT, "buffer", "a constant page with a buffer", "L.page.planar.constant-buffers",
          spare_buffer(), flags=("SpareBuffer",)),
)  # fmt: skip

_STRUCTURE = (
    fault(_INTS, "layer", "a list layer where the schema has none", "L.page.sparse.layers",
          planes(_other_layer), flags=("WrongKind",)),
    fault(_LIST, "layers", "one layer for a list of numbers", "L.page.sparse.layers",
          planes(_fewer_layers), flags=("WrongKind",)),
    fault(_PAIRS, "dimension", "lists of three structs in a column of pairs",
          "L.page.sparse.layers",
          assign("structure.sparse.layers.0.fixed_size_list.dimension", 3), flags=("WrongKind",)),
    fault(_INTS, "meaning", "a validity set that says neither null nor valid",
          "L.page.sparse.meaning", assign(f"{_VALIDITY}.meaning", 0), flags=("WrongKind",)),
    fault(_INTS, "beyond", "a null position beyond the rows", "L.page.sparse.positions",
          assign(f"{_VALIDITY}.positions.range.start", 4), flags=("OffsetsNotMonotonic",)),
    fault("file/2.3/sparse/list-delta", "repeat", "a position twice", "L.page.sparse.positions",
          byte("field c", "structure", "deltas", at=8, new=0), flags=("OffsetsNotMonotonic",)),
    fault(_INTS, "too-many", "more null positions than rows", "L.page.sparse.num-positions",
          assign(f"{_VALIDITY}.num_positions", 7), flags=("SparseCountHuge",)),
    fault(_DELTA, "width", "positions of 32 bits", "L.page.sparse.num-positions",
          assign(f"{_VALIDITY}.positions.delta.uncompressed_bits_per_value", 32),
          flags=("CountMismatch",)),
    fault(_LIST, "count-zero", "a list that is not empty and has no item",
          "L.page.sparse.counts", byte("field c", "structure", "values", at=0, new=0),
          flags=("CountMismatch",)),
    fault(_LIST, "count", "counts of one item more", "L.page.sparse.child-slots",
          byte("field c", "structure", "values", at=8, new=2), flags=("CountMismatch",)),
    fault(_LIST, "non-empty", "more lists that are not empty than lists",
          "L.page.sparse.num-positions", assign(f"{_LISTS}.num_non_empty_positions", 5),
          flags=("SparseCountHuge",)),
    fault(_LIST, "null-list", "a null list that has items", "L.page.sparse.null-list",
          assign(f"{_LISTS}.validity.positions.constant.value", bytes(8)),
          flags=("LevelsDisagree",)),
    fault(_LIST, "buffer", "a buffer that no sequence needs", "L.page.sparse.buffers",
          spare_buffer(), flags=("SpareBuffer",)),
    fault(_INTS, "levels", "levels in a sparse page", "L.page.sparse.levels", planes(_levels),
          flags=("MissingPart",)),
    fault(_VECTORS, "levels", "zipped levels in a sparse page", "L.page.sparse.levels",
          planes(_zip_levels), flags=("MissingPart",)),
    fault(_INTS, "no-buffers", "a chunked plane without buffers", "L.page.sparse.values",
          no_buffers(), flags=("MissingPart",)),
    fault(_VECTORS, "stored", "one null position fewer than vectors left out",
          "L.page.sparse.stored", assign(f"{_VALIDITY}.num_positions", 1),
          flags=("CountMismatch",)),
    fault(_INDEXED, "index", "an index beyond the items", "L.page.sparse.index-range",
          byte("field c", "packed values", at=0, new=3), flags=("IndexBeyondItems",)),
    fault(_PAIRS, "scale", "a page of five slots for pairs", "L.page.layout.scale",
          column(lambda m: _rows(m, 5)), flags=("CountMismatch",)),
)  # fmt: skip

_SEQUENCES = (
    fault(_INDEXED, "raw-tail", "a raw index of more than two bits", "L.codec.bitpack.raw-tail",
          byte("field c", "packed values", at=1, new=1)),
    fault(_INDEXED, "size", "an index buffer one byte short", "L.codec.bitpack.out-of-line",
          resize(0, -1), flags=("BufferTooShort",)),
    fault(_LIST, "constant-width", "a constant of three bytes", "L.codec.constant.width",
          assign(f"{_LISTS}.validity.positions.constant.value", bytes(3)),
          flags=("WidthMismatch",)),
    fault(_NONE, "constant-none", "a constant without a value, once", "L.codec.constant.width",
          assign(f"{_VALIDITY}.num_positions", 1), flags=("WidthMismatch",)),
    fault(_INTS, "step", "a range that stands still", "L.codec.range.step",
          assign(f"{_VALIDITY}.positions.range.step", 0)),
    fault(_INTS, "range-overflow", "a range beyond 64 bits", "L.codec.range.overflow",
          assign(f"{_VALIDITY}.positions.range.start", 2**64 - 2), flags=("SequenceOverflow",)),
    fault(_INTS, "range-width", "a range of 16 bits", "L.codec.sequence.width",
          assign(f"{_VALIDITY}.positions.range.uncompressed_bits_per_value", 16),
          flags=("WidthMismatch",)),
    fault(_DELTA, "overflow", "differences beyond 64 bits", "L.codec.delta.overflow",
          assign(f"{_VALIDITY}.positions.delta.base", 2**64 - 2), flags=("SequenceOverflow",)),
    fault(_DICT, "frame", "indices longer than the frame", "L.codec.dictionary.frame",
          byte("field c", "size of indices", at=1, new=1), flags=("FrameBroken",)),
    fault(_DICT, "num-items", "a dictionary of no items", "L.codec.dictionary.num-items",
          assign(f"{_LISTS}.counts.dictionary.num_dictionary_items", 0), flags=("CountMismatch",)),
    fault(_DICT, "index", "an index beyond the items", "L.codec.dictionary.index-range",
          assign(f"{_LISTS}.counts.dictionary.num_dictionary_items", 1),
          flags=("IndexBeyondItems",)),
    fault(_DICT, "payload", "bytes for indices that need none", "L.codec.encoding.payload",
          planes(_constant_indices), flags=("SpareBuffer",)),
    fault(_RUNS, "frame", "values longer than the frame of the runs", "L.codec.rle.frame",
          byte("field c", "size of values", at=7, new=0x7F), flags=("FrameSizeHuge",)),
    fault(_EVEN, "sum", "equal runs that miss the count", "L.codec.rle.sum",
          assign(f"{_LISTS}.counts.rle.run_lengths.constant.value", b"\7\0\0\0"),
          flags=("CountMismatch",)),
    fault(_DENSE, "context", "a range for values in chunks", "L.codec.encoding.context",
          planes(_range_values), flags=("WrongKind",)),
    fault(_ROWS, "row", "a string that leaves bytes of its row", "L.codec.packed-struct.row",
          byte("field c", "value", at=1, new=3, nth=4), flags=("BufferTooShort",)),
)  # fmt: skip

_NULLS = "file/2.3/sparse/none-list"
_ONLY_NULLS = "file/2.3/sparse/none-nullable"

_UNTOLD = (
    fault(_ONLY_NULLS, "valid", "valid slots and no values", "L.page.sparse.none",
          assign(f"{_VALIDITY}.meaning", 1), flags=("NullWhereNone",)),
    fault(_ONLY_NULLS, "no-plane", "a sparse page without a value plane",
          "L.page.planar.planes", clear("values"), flags=("MissingPart",)),
    fault("file/2.3/offsets/delta", "narrow", "32-bit offsets from differences of 64",
          "L.codec.delta.width",
          assign("values.chunked.compression.variable.offsets.delta.deltas"
                 ".out_of_line_bitpacking.uncompressed_bits_per_value", 64),
          flags=("WidthMismatch",)),
    fault(_RANGE, "wide", "64-bit offsets in a column of strings", "L.page.leaf.offset-width",
          assign("values.chunked.compression.variable.offsets.range"
                 ".uncompressed_bits_per_value", 64), flags=("WidthMismatch",)),
)  # fmt: skip

_LIMITS = (
    fault(_NULLS, "slots", "a list of 2**30 nulls", "L.page.limits.sparse",
          planes(lambda message: _many_slots(message, 2**30)), flags=("SparseCountHuge",)),
    fault(_NULLS, "positions", "twenty million positions in a range",
          "L.codec.limits.expansion", planes(_many_nulls), flags=("SequenceHuge",)),
)  # fmt: skip

NEGATIVES: tuple[Negative, ...] = (*_PLANES, *_STRUCTURE, *_SEQUENCES, *_LIMITS, *_UNTOLD)
"""Every negative case of 2.3 files."""
