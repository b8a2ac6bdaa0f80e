"""Cases of planar pages of 2.3: planes, offsets, sequences of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, Constant
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout, SparseValiditySet

from lance_conformance.recipes import blocks, edits
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.columns import LISTS
from lance_conformance.recipes.constructors import case, fault, lint
from lance_conformance.recipes.edits import assign, build, byte, clear
from lance_conformance.recipes.handmade_files import Page, with_pages, words
from lance_conformance.recipes.model import Maker, MessageEdit, Recipe
from lance_conformance.recipes.oracle_files import column
from lance_conformance.recipes.pages import NO_NULLS, PICKS, vectors_3, zip_items, zipped_items

_ROWS = 12


def _buffers(*sequences: Block) -> tuple[bytes, ...]:
    """Return the buffers of the sequences that have one."""
    return tuple((data for _, data in sequences if data))


_ITEMS = (b"the first item", b"", b"the third", b"the last")


def _positions(nulls: Block, places: Sequence[int]) -> Page:
    """Lay out twelve slots that are 7, or null at some positions."""
    validity = "structure.sparse.layers.0.validity"
    paths = {
        f"{validity}.meaning": SparseValiditySet.NULL_POSITIONS,
        f"{validity}.num_positions": len(places),
        f"{validity}.positions": nulls[0],
        "values.constant.scalar": words(7, width=2),
    }
    return Page(build(PlanarLayout, paths), _ROWS, _buffers(nulls))


def _counts(counts: Block, numbers: tuple[int, ...]) -> Page:
    """Lay out lists of 7, with as many items as counts say."""
    lists = "structure.sparse.layers.0.list"
    paths = {
        f"{lists}.num_child_slots": sum(numbers),
        f"{lists}.num_non_empty_positions": len(numbers),
        f"{lists}.non_empty_positions": blocks.range_(0, 1, 64)[0],
        f"{lists}.counts": counts[0],
        f"{lists}.validity": NO_NULLS,
        "structure.sparse.layers.1.validity": NO_NULLS,
        "values.constant.scalar": words(7, width=1),
    }
    return Page(build(PlanarLayout, paths), len(numbers), _buffers(counts))


def _indices(indices: Block, picks: Sequence[int]) -> Page:
    """Lay out slots that name four zipped items."""
    paths = {
        "structure.sparse.layers.0.validity": NO_NULLS,
        "values.indexed.indices": indices[0],
        "values.indexed.items": zipped_items(len(_ITEMS)),
    }
    return Page(build(PlanarLayout, paths), len(picks), (indices[1], *zip_items(_ITEMS)))


def _nulls(*positions: int) -> list[int | None]:
    return [None if i in positions else 7 for i in range(_ROWS)]


_NOTHING: Block = (CompressiveEncoding(constant=Constant()), b"")
_NULLS = (1, 3, 4, 9)
_ANY_NULLS = {**{name: (made, _NULLS) for name, made in blocks.ascending(_NULLS, 64).items()},
    "range": (blocks.range_(2, 3, 64), (2, 5, 8)), "constant": (blocks.constant(5, 64), (5,)),
    "delta, constant": (blocks.delta(1, blocks.constant(4, 64), 64), (1, 5, 9)),
    "delta, range": (blocks.delta(0, blocks.range_(1, 1, 64), 64), (0, 1, 3, 6, 10)),
    "rle of ranges": (blocks.rle(blocks.range_(1, 2, 64), blocks.flat([1] * 4, 32)),
        (1, 3, 5, 7))}  # fmt: skip

_COUNTS = (1, 3, 2, 3)
_ANY_COUNTS = {**{name: (made, _COUNTS) for name, made in blocks.codecs(_COUNTS, 64).items()},
    "delta": (blocks.delta(1, blocks.flat([2, 0, 4], 64), 64), (1, 3, 3, 7)),
    "rle, range of lengths": (blocks.rle(blocks.flat([2, 1, 3], 64), blocks.range_(1, 1, 32)),
        (2, 1, 1, 3, 3, 3)), "rle, constant values": (
        blocks.rle(blocks.constant(2, 64), blocks.flat([2, 2], 32)), (2, 2, 2, 2))}  # fmt: skip

_ANY_INDICES = {**{name: (made, PICKS) for name, made in blocks.codecs(PICKS, 32).items()},
    "constant": (blocks.constant(2, 32), (2, 2)), "range": (blocks.range_(0, 1, 32), (0, 1, 2, 3)),
    "delta": (blocks.delta(0, blocks.flat([1, 0, 2], 32), 32), (0, 1, 1, 3))}  # fmt: skip


def _one_null(nulls: Block) -> Maker:
    """Return a maker of twelve slots of which one is null."""
    return with_pages(column(pa.array(_nulls(5), pa.int16())), "2.3", {0: [_positions(nulls, [5])]})


def _many(
    page: Callable[[Block, Any], Page], made: Mapping[str, tuple[Block, Any]], values: pa.Array
) -> Maker:
    """Return a maker of a column of a page for each way to make a sequence."""
    return with_pages(column(values), "2.3", {0: [page(*one) for one in made.values()]})


_DISTINCT = "values.indexed.indices.dictionary"
_OFFSETS = "values.chunked.compression.variable.offsets"


CASES: tuple[Recipe, ...] = (
    case("file/2.3/planar/chunked", "levels and values in chunks, as in a mini-block page",
        ("L.page.planar.planes", "L.page.planar.chunk-levels", "L.page.planar.compression"),
        pa.array([1, None, 3], pa.int32())),
    fault("no-values", "a page without a value plane", "L.page.planar.planes", clear("values"),
        flags="MissingPart"),
    fault("indexed", "indexed values beside levels", "L.page.planar.indexed",
        edits.page({"values.indexed": {}}), flags="WrongKind"),
    fault("no-levels", "dense chunks without their levels message", "L.page.planar.chunk-levels",
        clear("values.chunked.levels"), flags="MissingPart"),
    fault("no-codec", "chunks without a codec", "L.page.planar.compression",
        clear("values.chunked.compression"), flags="MissingPart"),
    fault("context", "a range for values in chunks", "L.codec.encoding.context",
        edits.page({"values.chunked.compression.range.uncompressed_bits_per_value": 64,
                "values.chunked.compression.range.step": 1}), flags="WrongKind"),
    fault("num-levels", "one level more than there are", "L.page.miniblock.num-levels",
        edits.add("chunk 0", "levels")),
    fault("size", "a value buffer one byte short", "L.codec.flat.size",
        edits.add("chunk 0", "size of value buffer 0", by=-1)),
    fault("def-range", "a level of 2 over one layer of nulls", "L.page.levels.def-range",
        byte("field c", "levels", at=0, new=2, nth=1)),
    fault("as-2-2", "a 2.3 file that says 2.2", "L.file.pages.type-url", edits.minor(2),
        stage="metadata", flags="GrammarOfAnotherVersion"),
    case("file/2.3/planar/chunked-list",
        "lists in chunks: both kinds of levels and a repetition index",
        ("L.page.planar.planes", "L.page.planar.chunk-levels"), LISTS),
    fault("rep-range", "a repetition level of 2 under one list", "L.page.levels.rep-range",
        byte("field c", "levels", at=2, new=2, nth=1)),
    case("file/2.3/planar/zipped", "vectors one after the other, as in a full-zip page",
        ("L.page.planar.planes", "L.page.planar.zip-levels"), vectors_3(())),
    fault("no-levels", "dense zipped values without their levels message",
        "L.page.planar.zip-levels", clear("values.zipped.levels"), flags="MissingPart"),
    fault("no-codec", "zipped values without a codec", "L.page.planar.compression",
        clear("values.zipped.compression")),
    fault("items", "more zipped items than 32 bits count", "L.page.limits.items",
        assign("values.zipped.num_items", 2 ** 32)),
    case("file/2.3/planar/zipped-binary", "long binaries after their lengths, with a row index",
        ("L.page.planar.planes", "L.page.planar.zip-levels", "L.page.rowindex.total"),
        pa.array([b"\x01" * 300, b"\x02" * 200, b"\x03" * 400, b"\x04" * 260])),
    fault("size", "a page one byte short", "L.page.rowindex.order", edits.resize(0, -1)),
    case("file/2.3/planar/zipped-list",
        "lists of strings zipped: bits for both levels in their message",
        ("L.page.planar.planes", "L.page.planar.zip-levels", "L.page.fullzip.control-word"),
        column(pa.array([["ab", "c"], [], None, ["d", None]]), structural_encoding="fullzip")),
    lint("visible", "one visible string less", "L.page.fullzip.num-visible",
        assign("values.zipped.num_visible_items", 2)),
    case("file/2.3/planar/constant", "one value for all rows: a page without buffers",
        "L.page.planar.constant-buffers", pa.array([7] * 9, pa.int32())),
    fault("no-structure", "a page without a structure plane", "L.page.planar.planes",
        clear("structure"), flags="MissingPart"),
    fault("buffer", "a constant page with a buffer", "L.page.planar.constant-buffers",
        edits.spare_buffer(), flags="SpareBuffer"),
    case("file/2.3/planar/packed-rows", "packed rows with a string: each row a variable value",
        "L.codec.packed-struct.row", column(pa.array([{"a": i, "s": "x" * i} for i in range(5)],
                pa.struct([("a", pa.uint8()), ("s", pa.string())])), packed="true")),
    fault("row", "a string that leaves bytes of its row", "L.codec.packed-struct.row",
        byte("field c", "value", at=1, new=3, nth=4), flags="BufferTooShort"),
    fault("width", "a byte told as two", "L.codec.packed-struct.field",
        assign("values.zipped.compression.variable_packed_struct.fields.0.bits_per_value", 16)),
    case("file/2.3/offsets/range", "strings of one length: offsets that need no buffer",
        "L.codec.variable.offsets", pa.array([f"{i:08d}" for i in range(60)])),
    fault("wide", "64-bit offsets in a column of strings", "L.page.leaf.offset-width",
        assign(f"{_OFFSETS}.range.uncompressed_bits_per_value", 64), flags="WidthMismatch"),
    fault("offsets", "offsets in steps of 0", "L.codec.range.step",
        assign(f"{_OFFSETS}.range.step", 0), flags="SequenceHuge"),
    fault("utf8", "a byte 128 among ASCII", "L.page.leaf.utf8",
        byte("field c", "bytes", at=0, new=0x80)),
    fault("end", "offsets that leave the last bytes over", "L.codec.variable.end",
        assign(f"{_OFFSETS}.range.step", 7)),
    case("file/2.3/offsets/delta", "offsets as bitpacked differences, in a buffer of their own",
        ("L.codec.variable.offsets", "L.codec.variable.end"),
        pa.array(["x" * (i % 5) + str(i) for i in range(300)])),
    fault("narrow", "32-bit offsets from differences of 64", "L.codec.delta.width",
        assign(f"{_OFFSETS}.delta.deltas.out_of_line_bitpacking.uncompressed_bits_per_value", 64),
        flags="WidthMismatch"),
    case("file/2.3/sequences/one-range", "one null position, by a range that could not go on",
        "L.codec.range.overflow", _one_null(blocks.range_(5, 2**64 - 1, 64))),
    case("file/2.3/sequences/one-delta", "one null position, by a delta without a difference",
        "L.codec.delta.overflow", _one_null(blocks.delta(5, blocks.constant(4, 64), 64))),
    case("file/2.3/sequences/no-delta",
        "one null position, by a delta whose differences are a constant without a value",
        "L.codec.delta.overflow", _one_null(blocks.delta(5, _NOTHING, 64))),
    case("file/2.3/sequences/positions", "null positions in 20 codecs, a page each",
        "L.page.sparse.positions", _many(_positions, _ANY_NULLS,
            pa.array([value for _, nulls in _ANY_NULLS.values() for value in _nulls(*nulls)],
                pa.int16()))),
    case("file/2.3/sequences/counts", "counts of lists in 15 codecs, a page each",
        "L.page.sparse.counts", _many(_counts, _ANY_COUNTS,
            pa.array([[7] * count for _, counts in _ANY_COUNTS.values() for count in counts],
                pa.list_(pa.int8())))),
    case("file/2.3/sequences/indices", "indices of an indexed plane in 15 codecs, a page each",
        "L.page.planar.indexed", _many(_indices, _ANY_INDICES,
            pa.array([_ITEMS[pick] for _, picks in _ANY_INDICES.values() for pick in picks],
                pa.binary()))),
    fault("delta-next", "indices of 32 bits that go on to 2**32", "L.codec.delta.overflow",
        MessageEdit("page 0.14", {"values.indexed.indices.delta.base": 2 ** 32 - 1})),
    fault("wide", "one index of 64 bits", "L.page.sparse.values",
        MessageEdit("page 0.12", {"values.indexed.indices.constant.value": words(2)})),
    fault("wide-items", "indices looked up in items of 128 bits", "L.codec.encoding.context",
        MessageEdit("page 0.10", {f"{_DISTINCT}.items.flat.bits_per_value": 128,
                f"{_DISTINCT}.num_dictionary_items": 1})),
    fault("many-items", "2**32 - 1 distinct values", "L.page.limits.items",
        MessageEdit("page 0.0", {"values.indexed.items.num_items": 2 ** 32 - 1,
                "values.indexed.items.num_visible_items": 2 ** 32 - 1})),
    fault("delta-bit", "differences of a bit", "L.codec.delta.width",
        MessageEdit("page 0.14", {"values.indexed.indices.delta.deltas.flat.bits_per_value": 1})),
    case("file/2.3/sequences/computed", "counts in runs of which neither part has bytes",
        "L.codec.rle.sum", with_pages(
            column(pa.array([[7] * count for count in (1, 1, 2, 2, 3, 3)], pa.list_(pa.int8()))),
            "2.3", {0: [_counts(blocks.rle(blocks.range_(1, 1, 64), blocks.constant(2, 32)),
                        (1, 1, 2, 2, 3, 3))]})),
)  # fmt: skip
