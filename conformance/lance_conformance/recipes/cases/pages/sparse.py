"""Cases of sparse structure of 2.3."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout, SparseValiditySet

from lance_conformance.recipes import edits
from lance_conformance.recipes.blocks import packed
from lance_conformance.recipes.columns import LISTS_OF_LISTS, NULL_STRUCTS, pairs
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import assign, byte, clear, page
from lance_conformance.recipes.handmade_files import one_page, words
from lance_conformance.recipes.model import Recipe, SpanPatch
from lance_conformance.recipes.oracle_files import column
from lance_conformance.recipes.pages import NO_NULLS, vectors_3, zip_items, zipped_items

_sparse = partial(column, structural_encoding="sparse")
"""Returns a table of one column whose structure is sparse."""

_VALIDITY = "structure.sparse.layers.0.validity"
_LISTS = "structure.sparse.layers.0.list"
_ITEMS = (b"the first item of the plane", b"", b"the third")
"""Distinct values of the indexed plane."""


def _many_slots(slots: int) -> dict[str, object]:
    """Claim one list of `slots` nulls."""
    return {f"{_LISTS}.num_child_slots": slots, f"{_LISTS}.counts.constant.value": words(slots)}


_MANY_NULLS = {**_many_slots(20_000_000),
    "structure.sparse.layers.1.validity.positions.range.uncompressed_bits_per_value": 64,
    "structure.sparse.layers.1.validity.positions.range.step": 1,
    "structure.sparse.layers.1.validity.num_positions": 20_000_000}  # fmt: skip

_INDEXED = edits.build(PlanarLayout, {f"{_VALIDITY}.meaning": SparseValiditySet.NULL_POSITIONS,
        f"{_VALIDITY}.num_positions": 1, f"{_VALIDITY}.positions.constant.value": words(1),
        "values.indexed.indices": packed(32, 2),
        "values.indexed.items": zipped_items(len(_ITEMS))})  # fmt: skip
"""Five slots, the second null, as indices packed to two bits, after which all are as they are."""

_ZIPPED = zip_items(_ITEMS)

_NO_SLOTS = edits.build(PlanarLayout, {f"{_LISTS}.non_empty_positions.constant": {},
        f"{_LISTS}.counts.constant": {}, f"{_LISTS}.validity": NO_NULLS,
        "structure.sparse.layers.1.validity": NO_NULLS, "values.zipped.bits_per_value": 8,
        "values.zipped.compression.flat.bits_per_value": 8})  # fmt: skip
"""Lists of nothing, whose zipped values are none."""


CASES: tuple[Recipe, ...] = (
    case("file/2.3/sparse/chunked", "null positions as a range, a value for every slot",
        ("L.page.sparse.positions", "L.page.sparse.num-positions", "L.page.sparse.meaning",
            "L.page.sparse.layers"), _sparse(pa.array([1, None, 3, 4, None, 6], pa.int32()))),
    fault("no-codec", "sparse chunks without a codec", "L.page.planar.compression",
        clear("values.chunked.compression"), flags="MissingPart"),
    fault("layer", "a list layer where the schema has none", "L.page.sparse.layers",
        page({"structure.sparse.layers.0.list": {}}), flags="WrongKind"),
    fault("meaning", "a validity set that says neither null nor valid", "L.page.sparse.meaning",
        assign(f"{_VALIDITY}.meaning", 0), flags="WrongKind"),
    fault("beyond", "a null position beyond the rows", "L.page.sparse.positions",
        assign(f"{_VALIDITY}.positions.range.start", 4), flags="OffsetsNotMonotonic"),
    fault("too-many", "more null positions than rows", "L.page.sparse.num-positions",
        assign(f"{_VALIDITY}.num_positions", 7), flags="SparseCountHuge"),
    fault("levels", "levels in a sparse page", "L.page.sparse.levels",
        page({"values.chunked.levels": {}}), flags="MissingPart"),
    fault("no-buffers", "a chunked plane without buffers", "L.page.sparse.values",
        edits.no_buffers(), flags="MissingPart"),
    fault("step", "a range that stands still", "L.codec.range.step",
        assign(f"{_VALIDITY}.positions.range.step", 0)),
    fault("range-overflow", "a range beyond 64 bits", "L.codec.range.overflow",
        assign(f"{_VALIDITY}.positions.range.start", 2 ** 64 - 2), flags="SequenceOverflow"),
    fault("range-width", "a range of 16 bits", "L.codec.sequence.width",
        assign(f"{_VALIDITY}.positions.range.uncompressed_bits_per_value", 16),
        flags="WidthMismatch"),
    lint("padding", "a chunk of a sparse page, padded with zeros", "L.page.miniblock.padding",
        SpanPatch(("chunk 0", "padding"), edits.zeros)),
    case("file/2.3/sparse/validity-delta", "null positions as bitpacked differences",
        ("L.page.sparse.positions", "L.page.sparse.num-positions"),
        _sparse(pa.array([i if i % 7 in (0, 3) else None for i in range(200)], pa.int16()))),
    fault("width", "positions of 32 bits", "L.page.sparse.num-positions",
        assign(f"{_VALIDITY}.positions.delta.uncompressed_bits_per_value", 32),
        flags="CountMismatch"),
    fault("overflow", "differences beyond 64 bits", "L.codec.delta.overflow",
        assign(f"{_VALIDITY}.positions.delta.base", 2 ** 64 - 2), flags="SequenceOverflow"),
    case("file/2.3/sparse/list",
        "lists: the positions of those that are not empty, and their counts",
        ("L.page.sparse.counts", "L.page.sparse.child-slots", "L.page.sparse.null-list",
            "L.page.sparse.buffers"),
        _sparse(pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())))),
    fault("layers", "one layer for a list of numbers", "L.page.sparse.layers",
        page({"structure.sparse.layers": lambda old: old[1:]}), flags="WrongKind"),
    fault("count-zero", "a list that is not empty and has no item", "L.page.sparse.counts",
        byte("field c", "structure", "values", at=0, new=0), flags="CountMismatch"),
    fault("count", "counts of one item more", "L.page.sparse.child-slots",
        byte("field c", "structure", "values", at=8, new=2), flags="CountMismatch"),
    fault("non-empty", "more lists that are not empty than lists", "L.page.sparse.num-positions",
        assign(f"{_LISTS}.num_non_empty_positions", 5), flags="SparseCountHuge"),
    fault("null-list", "a null list that has items", "L.page.sparse.null-list",
        assign(f"{_LISTS}.validity.positions.constant.value", bytes(8)), flags="LevelsDisagree"),
    fault("buffer", "a buffer that no sequence needs", "L.page.sparse.buffers",
        edits.spare_buffer(), flags="SpareBuffer"),
    fault("constant-width", "a constant of three bytes", "L.codec.constant.width",
        assign(f"{_LISTS}.validity.positions.constant.value", bytes(3)), flags="WidthMismatch"),
    fault("child-slots", "one item more than the lists have", "L.page.sparse.child-slots",
        assign("structure.sparse.layers.0.list.num_child_slots", 4)),
    fault("counts-width", "counts of 32 bits", "L.page.sparse.num-positions",
        assign("structure.sparse.layers.0.list.counts.flat.bits_per_value", 32),
        flags="WidthMismatch"),
    case("file/2.3/sparse/list-delta", "positions of lists as differences in a buffer",
        ("L.page.sparse.counts", "L.page.sparse.child-slots"), _sparse(pa.array(
                [[1, 2], None, [], [3], [4, 5, 6], None, [7], [], [8]], pa.list_(pa.int32())))),
    fault("repeat", "a position twice", "L.page.sparse.positions",
        byte("field c", "structure", "deltas", at=8, new=0), flags="OffsetsNotMonotonic"),
    case("file/2.3/sparse/list-list", "lists of lists, nulls and empties at both levels",
        ("L.page.sparse.counts", "L.page.sparse.child-slots"), _sparse(LISTS_OF_LISTS)),
    case("file/2.3/sparse/struct",
        "two leaves of a struct that can be null, each with its own structure",
        ("L.page.sparse.layers", "L.page.siblings.validity"), _sparse(NULL_STRUCTS)),
    case("file/2.3/sparse/fixed-size-list", "pairs of structs: a layer that multiplies the slots",
        ("L.page.sparse.layers", "L.page.layout.scale"), _sparse(pairs([*range(6)]))),
    fault("dimension", "lists of three structs in a column of pairs", "L.page.sparse.layers",
        assign("structure.sparse.layers.0.fixed_size_list.dimension", 3), flags="WrongKind"),
    fault("scale", "a page of five slots for pairs", "L.page.layout.scale",
        edits.column_edit({"pages.0.length": 5}), flags="CountMismatch"),
    case("file/2.3/sparse/list-fixed-size-list", "lists of pairs of structs",
        ("L.page.sparse.layers", "L.page.sparse.child-slots"), _sparse(pa.ListArray.from_arrays(
                pa.array([0, 1, None, 1, 3], pa.int32()), pairs([*range(6)])))),
    case("file/2.3/sparse/vectors", "null vectors take no bytes: valid slots alone are zipped",
        ("L.page.sparse.stored", "L.page.sparse.levels"), _sparse(vectors_3((2, 5)))),
    fault("levels", "zipped levels in a sparse page", "L.page.sparse.levels",
        page({"values.zipped.levels": {}}), flags="MissingPart"),
    fault("stored", "one null position fewer than vectors left out", "L.page.sparse.stored",
        assign(f"{_VALIDITY}.num_positions", 1), flags="CountMismatch"),
    case("file/2.3/sparse/long-strings",
        "long strings, of which nulls take neither bytes nor row index", "L.page.sparse.stored",
        _sparse(pa.array([None if i % 4 == 1 else f"{i}-" * 100 for i in range(8)]),
            compression="none")),
    case("file/2.3/sparse/dictionary",
        "indices in chunks, the items in a buffer before the structure", "L.page.sparse.values",
        _sparse(pa.array([None if i % 3 == 0 else f"word {i % 5}" for i in range(300)]))),
    case("file/2.3/sparse/constant", "one value for all slots, counts as a dictionary sequence",
        ("L.codec.dictionary.frame", "L.codec.dictionary.index-range"),
        _sparse(pa.array([[7, 7], None, [], [7]] * 5, pa.list_(pa.int32())))),
    fault("frame", "indices longer than the frame", "L.codec.dictionary.frame",
        byte("field c", "size of indices", at=1, new=1), flags="FrameBroken"),
    fault("num-items", "a dictionary of no items", "L.codec.dictionary.num-items",
        assign(f"{_LISTS}.counts.dictionary.num_dictionary_items", 0), flags="CountMismatch"),
    fault("index", "an index beyond the items", "L.codec.dictionary.index-range",
        assign(f"{_LISTS}.counts.dictionary.num_dictionary_items", 1), flags="IndexBeyondItems"),
    fault("payload", "bytes for indices that need none", "L.codec.encoding.payload",
        page({f"{_LISTS}.counts.dictionary.indices.constant.value": bytes(4)}),
        flags="SpareBuffer"),
    case("file/2.3/sparse/nullable-constant", "one value or null", "L.page.sparse.meaning",
        _sparse(pa.array([7, 7, None], pa.int32()))),
    case("file/2.3/sparse/none", "only nulls: no value plane at all",
        ("L.page.sparse.meaning", "L.codec.constant.width"),
        _sparse(pa.array([None] * 5, pa.int32()))),
    fault("constant-none", "a constant without a value, once", "L.codec.constant.width",
        assign(f"{_VALIDITY}.num_positions", 1), flags="WidthMismatch"),
    case("file/2.3/sparse/none-list", "lists of nulls",
        ("L.page.sparse.counts", "L.page.sparse.child-slots"),
        _sparse(pa.array([[None, None], [], None], pa.list_(pa.int32())))),
    fault("slots", "a list of 2**30 nulls", "L.page.limits.sparse", page(_many_slots(2**30)),
        flags="SparseCountHuge"),
    fault("positions", "twenty million positions in a range", "L.codec.limits.expansion",
        page(_MANY_NULLS), flags="SequenceHuge"),
    case("file/2.3/sparse/none-many", "a list of 900 000 nulls that need no bytes",
        ("L.page.sparse.counts", "L.page.sparse.child-slots"),
        _sparse(pa.array([[None] * 900_000, None, [None]], pa.list_(pa.null())))),
    case("file/2.3/sparse/none-nullable", "nulls alone in a column that had none of its values",
        "L.page.sparse.none", _sparse(pa.array([None] * 3, pa.int16()))),
    fault("valid", "valid slots and no values", "L.page.sparse.none",
        assign(f"{_VALIDITY}.meaning", 1), flags="NullWhereNone"),
    fault("no-plane", "a sparse page without a value plane", "L.page.planar.planes",
        clear("values"), flags="MissingPart"),
    case("file/2.3/sparse/validity-wide", "null positions as differences of eight bytes",
        "L.codec.delta.width",
        _sparse(pa.array([i if i % 5 in (0, 3) else None for i in range(60)], pa.int16()))),
    case("file/2.3/sparse/null-type", "a column of type null", "L.page.planar.planes",
        _sparse(pa.nulls(3))),
    case("file/2.3/sparse/counts-rle", "counts as runs of a range", "L.codec.rle.frame",
        _sparse(pa.array([[1] * (2 if i < 200 else 5) for i in range(300)], pa.list_(pa.int8())))),
    fault("frame", "values longer than the frame of the runs", "L.codec.rle.frame",
        byte("field c", "size of values", at=7, new=0x7F), flags="FrameSizeHuge"),
    case("file/2.3/sparse/counts-rle-constant", "counts as runs of equal length",
        "L.codec.rle.frame", _sparse(
            pa.array([[1] * (2 if i // 50 % 2 else 5) for i in range(400)], pa.list_(pa.int8())))),
    fault("sum", "equal runs that miss the count", "L.codec.rle.sum",
        assign(f"{_LISTS}.counts.rle.run_lengths.constant.value", b"\x07\x00\x00\x00"),
        flags="CountMismatch"),
    case("file/2.3/sparse/counts-packed", "counts in two bits", "L.codec.bitpack.out-of-line",
        _sparse(pa.array([[1] * (1 + i % 3) for i in range(300)], pa.list_(pa.int8())))),
    case("file/2.3/sparse/indexed",
        "an index for every slot, the distinct values zipped; a raw tail of indices",
        ("L.page.sparse.index-range", "L.page.planar.indexed", "L.codec.bitpack.raw-tail"),
        one_page(pa.array([_ITEMS[0], None, _ITEMS[2], _ITEMS[1], _ITEMS[0]], pa.binary()), "2.3",
            _INDEXED, words(0, 0, 2, 1, 0, width=4), _ZIPPED[0], _ZIPPED[1]), reachable=True),
    fault("index", "an index beyond the items", "L.page.sparse.index-range",
        byte("field c", "packed values", at=0, new=3), flags="IndexBeyondItems"),
    fault("raw-tail", "a raw index of more than two bits", "L.codec.bitpack.raw-tail",
        byte("field c", "packed values", at=1, new=1)),
    fault("size", "an index buffer one byte short", "L.codec.bitpack.out-of-line",
        edits.resize(0, -1), flags="BufferTooShort"),
    fault("index-width", "indices of 64 bits", "L.codec.bitpack.out-of-line",
        assign("values.indexed.indices.out_of_line_bitpacking.uncompressed_bits_per_value", 64),
        flags="WidthMismatch"),
    fault("no-indices", "indices without a codec", "L.codec.encoding.present",
        clear("values.indexed.indices.out_of_line_bitpacking")),
    case("file/2.3/sparse/no-slots", "lists of nothing, and zipped values of which there are none",
        "L.page.sparse.stored",
        one_page(pa.array([[], [], []], pa.list_(pa.int8())), "2.3", _NO_SLOTS, b"")),
)  # fmt: skip
