"""Positive cases of 2.1 and 2.2 pages for clauses that the plain cases do not show."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.tables import columns as c


def _table(
    version: str,
    slug: str,
    title: str,
    table: pa.Table,
    clauses: tuple[str, ...],
) -> Positive:
    return Positive(
        id=f"file/{version}/{slug}",
        title=title,
        clauses=clauses,
        make=file(table, version),
        version=version,
    )


def _case(
    version: str,
    slug: str,
    title: str,
    array: pa.Array,
    clauses: tuple[str, ...],
    **knobs: str,
) -> Positive:
    return _table(version, slug, title, column(array, **knobs), clauses)


_POINT = pa.struct([("a", pa.int32()), ("b", pa.int32())])

_POINTS = pa.array([[{"a": 1, "b": 2}, {"a": 3, "b": 4}], [{"a": 5, "b": 6}], []], pa.list_(_POINT))

_VECTOR_LISTS = pa.array([[[1.0, None], [2.0, 3.0]], [], None], pa.list_(pa.list_(pa.float32(), 2)))

_VECTOR_TABLE = pa.table({"c": _VECTOR_LISTS, "d": pa.array([9, 8, 7], pa.int32())})


def _pairs(values: list[int]) -> pa.Array:
    structs = pa.array([{"a": value} for value in values], pa.struct([("a", pa.int16())]))
    return pa.FixedSizeListArray.from_arrays(structs, 2)


def _vectors(items: list[float | None]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(items, pa.float32()), 100)


_FLAGS = pa.list_(pa.struct([("x", pa.bool_()), ("y", pa.struct([("z", pa.bool_())]))]))
_CUT = pa.array(
    [[], *([[{"x": True, "y": {"z": False}}]] * 33_000), None, [{"x": False, "y": None}]], _FLAGS
)
"""33,003 entries: too many for one page of `z`, whose definition levels are of one bit more."""

_MINI = "miniblock"
_LARGE = "miniblock-large"

_LEVELS = (
    _case("2.1", "levels/list-struct", "lists of structs: both leaves repeat the list", _POINTS,
          ("L.page.siblings.rows", "L.page.siblings.offsets", "L.codec.encoding.levels")),
    _case("2.1", "levels/cut-siblings", "one leaf cut in two pages for its levels, its sibling not",
          _CUT, ("L.page.siblings.rows", "L.page.layers.code", "L.page.miniblock.num-levels")),
    _case("2.1", "levels/null-lists", "lists of which one is null and none empty",
          pa.array([[1, 2], None, [3]], pa.list_(pa.int32())),
          ("L.page.layers.code", "L.page.levels.numbering")),
    _case("2.1", "levels/empty-lists", "lists of which one is empty and none null",
          pa.array([[1, 2], [], [3]], pa.list_(pa.int32())),
          ("L.page.layers.code", "L.page.layers.path")),
    _table("2.1", "levels/list-vectors", "lists of vectors: two level and two value buffers",
           _VECTOR_TABLE, ("L.page.miniblock.chunk-header",)),
    _case("2.2", "levels/fixed-size-list-struct", "pairs of structs: two slots a row",
          _pairs([1, 2, 3, 4, 5, 6]), ("L.page.layers.dimension", "L.page.layout.scale")),
    _case("2.2", "levels/list-fixed-size-list-struct", "lists of pairs: entries repeated per slot",
          pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), _pairs([1, 2, 3, 4, 5, 6])),
          ("L.page.levels.fsl-group",)),
    _case("2.1", "miniblock/plain", "three numbers, no level", pa.array([5, 6, 7], pa.int32()),
          ("L.page.layout.present", "L.page.leaf.width", "L.page.leaf.kind", "L.codec.flat.bits")),
    _case("2.1", "miniblock/four-chunks", "four chunks of two-bit values",
          c.small_integers(4000, pa.uint8(), 4),
          ("L.page.miniblock.log", "L.codec.bitpack.count", "L.codec.bitpack.types")),
    _case("2.1", "variable/empty", "empty strings: a table and no bytes", pa.array([""] * 6),
          ("L.codec.variable.table",)),
    _case("2.1", "dictionary/flat-indices", "indices that are not packed",
          pa.array([f"{i % 3}" * 9 for i in range(200)]), ("L.page.dictionary.index-width",),
          compression="none"),
    _case("2.1", "dictionary/decimal", "few distinct decimals: a flat dictionary",
          pa.array([i % 5 for i in range(300)], pa.int64()).cast(pa.decimal128(19, 0)),
          ("L.page.dictionary.index-range",)),
)  # fmt: skip

_CODECS = (
    _case("2.1", "rle/int16", "an odd number of runs",
          pa.array(np.repeat(np.arange(25), 100), pa.int16()), ("L.codec.rle.pairs",)),
    _case("2.1", "byte-stream-split/float32", "floats in four streams, then zstd",
          pa.array(np.linspace(0, 1, 1500), pa.float32()), ("L.codec.byte-stream-split.size",),
          compression="zstd", bss="on"),
    _case("2.1", "general/zstd", "value buffers as zstd frames after their size",
          pa.array(np.arange(1500) % 977 * 65537, pa.int32()), ("L.codec.general.frame",),
          compression="zstd", bss="off"),
    _case("2.1", "fsst/escapes", "fsst codes, with characters that have none",
          pa.concat_arrays([c.URLS, pa.array(["\u00e9", "{}|\\^~"])]),
          ("L.codec.fsst.escape", "L.codec.fsst.code"), compression="fsst"),
    _case("2.1", "fsst/off", "fsst asked for short strings: a table that is off",
          pa.array(["a", None, "b"]),
          ("L.codec.fsst.table",), compression="fsst"),
    _case("2.2", "packed-struct/variable", "packed rows with a string between their numbers",
          pa.array([{"a": i, "s": "x" * i} for i in range(5)],
                   pa.struct([("a", pa.uint8()), ("s", pa.string())])),
          ("L.codec.packed-struct.field", "L.codec.packed-struct.row"),
          packed="true"),
)  # fmt: skip

_FULLZIP = (
    _case("2.1", "fullzip/list-strings", "lists of strings: control word, length, bytes",
          pa.array([["ab", "c"], [], ["d"]]),
          ("L.page.fullzip.values-present", "L.page.fullzip.details", "L.page.fullzip.buffers",
           "L.page.fullzip.entry", "L.page.fullzip.row-start", "L.page.rowindex.width"),
          structural_encoding="fullzip"),
    _case("2.1", "fullzip/int32", "numbers after a control byte each",
          pa.array([1, None, 3], pa.int32()), ("L.page.fullzip.control-word",),
          structural_encoding="fullzip"),
    _case("2.1", "fullzip/bool", "booleans take a byte each", pa.array([True, None, False]),
          ("L.page.leaf.width",), structural_encoding="fullzip"),
    _case("2.1", "fullzip/null-items", "vectors of 100 items, some null: bitmap, then items",
          _vectors([None if i % 3 else float(i) for i in range(200)]),
          ("L.codec.fixed-size-list.size", "L.codec.fixed-size-list.items")),
    _case("2.1", "fullzip/all-null-items", "vectors of nulls: bitmaps alone",
          _vectors([None] * 400), ("L.codec.fixed-size-list.all-null",)),
)  # fmt: skip

_NULL_LISTS = pa.array([[None, None], [], None, [None]], pa.list_(pa.int32()))

_CONSTANT = (
    _case("2.1", "constant/levels", "lists of nulls: two buffers of raw levels", _NULL_LISTS,
          ("L.page.levels.first-entry", "L.page.levels.special-alone", "L.page.levels.rows",
           "L.page.constant.level-count", "L.page.constant.repetition")),
    _case("2.2", "constant/packed-levels", "lists of nulls: levels with codecs", _NULL_LISTS,
          ("L.page.limits.levels", "L.page.constant.level-count")),
    _case("2.1", "constant/null-structs", "structs and their field null: levels without lists",
          pa.array([None, {"x": None}, None], pa.struct([("x", pa.int32())])),
          ("L.page.constant.level-count", "L.page.levels.numbering")),
    _case("2.2", "constant/buffer-levels", "one string below lists: value, then both levels",
          pa.array([["a string of more than thirty-two bytes"] * 2, [], None,
                    ["a string of more than thirty-two bytes"]]),
          ("L.page.constant.value-buffer", "L.page.constant.form")),
    _case("2.2", "constant/plain", "one number for nine rows", pa.array([2**40] * 9, pa.int64()),
          ("L.page.constant.form", "L.page.constant.raw-levels", "L.page.constant.value-type")),
    _case("2.2", "constant/list-pairs", "one number below lists of pairs: raw repetition levels",
          pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), _pairs([7] * 6)),
          ("L.page.levels.fsl-group", "L.page.layout.scale")),
    _case("2.1", "fixed-size-list/pairs", "vectors of two numbers",
          pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2)),
          ("L.page.limits.row",)),
)  # fmt: skip

POSITIVES: tuple[Positive, ...] = (*_LEVELS, *_CODECS, *_FULLZIP, *_CONSTANT)
"""Every further positive case of 2.1 and 2.2 pages."""
