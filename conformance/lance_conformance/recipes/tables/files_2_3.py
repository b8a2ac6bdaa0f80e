"""Positive cases of 2.3 files: structure x value plane, and the sequences they are made of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout, SparseValiditySet

from lance_conformance.recipes.hand import Page, by_hand, words
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column, file
from lance_conformance.recipes.tables import columns as c


def _case(
    slug: str,
    title: str,
    array: pa.Array,
    clauses: tuple[str, ...],
    **knobs: str,
) -> Positive:
    return Positive(
        id=f"file/2.3/{slug}",
        title=title,
        clauses=clauses,
        make=file(column(array, **knobs), "2.3"),
        version="2.3",
    )


def _sparse(
    slug: str, title: str, array: pa.Array, clauses: tuple[str, ...], **knobs: str
) -> Positive:
    return _case(f"sparse/{slug}", title, array, clauses, structural_encoding="sparse",
                 **knobs)  # fmt: skip


def _vectors(nulls: tuple[int, ...]) -> pa.Array:
    rng = np.random.default_rng(c.RANDOM_SEED)
    items = pa.array(rng.standard_normal(8 * 100), pa.float32())
    mask = pa.array([i in nulls for i in range(8)])
    return pa.FixedSizeListArray.from_arrays(items, 100, mask=mask)


def _pairs() -> pa.Array:
    structs = pa.array([{"a": i} for i in range(6)], pa.struct([("a", pa.int16())]))
    return pa.FixedSizeListArray.from_arrays(structs, 2)


_PLANAR = ("L.page.planar.planes",)

_DENSE = [
    _case("planar/chunked", "levels and values in chunks, as in a mini-block page",
          pa.array([1, None, 3], pa.int32()),
          (*_PLANAR, "L.page.planar.chunk-levels", "L.page.planar.compression")),
    _case("planar/chunked-list", "lists in chunks: both kinds of levels and a repetition index",
          c.LISTS, (*_PLANAR, "L.page.planar.chunk-levels")),
    _case("planar/zipped", "vectors one after the other, as in a full-zip page", _vectors(()),
          (*_PLANAR, "L.page.planar.zip-levels")),
    _case("planar/zipped-binary", "long binaries after their lengths, with a row index",
          pa.array([b"\1" * 300, b"\2" * 200, b"\3" * 400, b"\4" * 260]),
          (*_PLANAR, "L.page.planar.zip-levels", "L.page.rowindex.total")),
    _case("planar/zipped-list", "lists of strings zipped: bits for both levels in their message",
          pa.array([["ab", "c"], [], None, ["d", None]]),
          (*_PLANAR, "L.page.planar.zip-levels", "L.page.fullzip.control-word"),
          structural_encoding="fullzip"),
    _case("planar/constant", "one value for all rows: a page without buffers",
          pa.array([7] * 9, pa.int32()), ("L.page.planar.constant-buffers",)),
    _case("planar/packed-rows", "packed rows with a string: each row a variable value",
          pa.array([{"a": i, "s": "x" * i} for i in range(5)],
                   pa.struct([("a", pa.uint8()), ("s", pa.string())])),
          ("L.codec.packed-struct.row",), packed="true"),
    _case("offsets/range", "strings of one length: offsets that need no buffer",
          pa.array([f"{i:08d}" for i in range(60)]), ("L.codec.variable.offsets",)),
    _case("offsets/delta", "offsets as bitpacked differences, in a buffer of their own",
          pa.array(["x" * (i % 5) + str(i) for i in range(300)]), ("L.codec.variable.offsets",)),
    _case("rle/lz4-lengths", "runs whose lengths are compressed",
          pa.array(np.repeat(np.arange(50), 100), pa.int32()), ("L.codec.rle.sum",),
          compression="lz4", bss="off"),
    _case("rle/packed-values", "runs whose values are bitpacked",
          pa.array(np.repeat(np.arange(900), 3), pa.int32()), ("L.codec.rle.sum",)),
]  # fmt: skip

_POSITIONS = ("L.page.sparse.positions", "L.page.sparse.num-positions")
_LISTS = ("L.page.sparse.counts", "L.page.sparse.child-slots")

_SPARSE = [
    _sparse("chunked", "null positions as a range, a value for every slot",
            pa.array([1, None, 3, 4, None, 6], pa.int32()),
            (*_POSITIONS, "L.page.sparse.meaning", "L.page.sparse.layers")),
    _sparse("validity-delta", "null positions as bitpacked differences",
            pa.array([i if i % 7 in (0, 3) else None for i in range(200)], pa.int16()),
            _POSITIONS),
    _sparse("list", "lists: the positions of those that are not empty, and their counts",
            pa.array([[1, 2], None, [], [3]], pa.list_(pa.int32())),
            (*_LISTS, "L.page.sparse.null-list", "L.page.sparse.buffers")),
    _sparse("list-delta", "positions of lists as differences in a buffer",
            pa.array([[1, 2], None, [], [3], [4, 5, 6], None, [7], [], [8]], pa.list_(pa.int32())),
            _LISTS),
    _sparse("list-list", "lists of lists, nulls and empties at both levels", c.LISTS_OF_LISTS,
            _LISTS),
    _sparse("struct", "two leaves of a struct that can be null, each with its own structure",
            c.NULL_STRUCTS, ("L.page.sparse.layers", "L.page.siblings.validity")),
    _sparse("fixed-size-list", "pairs of structs: a layer that multiplies the slots", _pairs(),
            ("L.page.sparse.layers", "L.page.layout.scale")),
    _sparse("list-fixed-size-list", "lists of pairs of structs",
            pa.ListArray.from_arrays(pa.array([0, 1, None, 1, 3], pa.int32()), _pairs()),
            ("L.page.sparse.layers", "L.page.sparse.child-slots")),
    _sparse("vectors", "null vectors take no bytes: valid slots alone are zipped",
            _vectors((2, 5)), ("L.page.sparse.stored", "L.page.sparse.levels")),
    _sparse("long-strings", "long strings, of which nulls take neither bytes nor row index",
            pa.array([None if i % 4 == 1 else f"{i}-" * 100 for i in range(8)]),
            ("L.page.sparse.stored",), compression="none"),
    _sparse("dictionary", "indices in chunks, the items in a buffer before the structure",
            pa.array([None if i % 3 == 0 else f"word {i % 5}" for i in range(300)]),
            ("L.page.sparse.values",)),
    _sparse("constant", "one value for all slots, counts as a dictionary sequence",
            pa.array([[7, 7], None, [], [7]] * 5, pa.list_(pa.int32())),
            ("L.codec.dictionary.frame", "L.codec.dictionary.index-range")),
    _sparse("nullable-constant", "one value or null",
            pa.array([7, 7, None], pa.int32()), ("L.page.sparse.meaning",)),
    _sparse("none", "only nulls: no value plane at all", pa.array([None] * 5, pa.int32()),
            ("L.page.sparse.meaning", "L.codec.constant.width")),
    _sparse("none-list", "lists of nulls", pa.array([[None, None], [], None], pa.list_(pa.int32())),
            _LISTS),
    _sparse("none-many", "a list of 900 000 nulls that need no bytes",
            pa.array([[None] * 900_000, None, [None]], pa.list_(pa.null())), _LISTS),
    _sparse("none-nullable", "nulls alone in a column that had none of its values",
            pa.array([None] * 3, pa.int16()), ("L.page.sparse.none",)),
    _sparse("validity-wide", "null positions as differences of eight bytes",
            pa.array([i if i % 5 in (0, 3) else None for i in range(60)], pa.int16()),
            ("L.codec.delta.width",)),
    _sparse("null-type", "a column of type null", pa.nulls(3), ("L.page.planar.planes",)),
    _sparse("counts-rle", "counts as runs of a range",
            pa.array([[1] * (2 if i < 200 else 5) for i in range(300)], pa.list_(pa.int8())),
            ("L.codec.rle.frame",)),
    _sparse("counts-rle-constant", "counts as runs of equal length",
            pa.array([[1] * (2 if i // 50 % 2 else 5) for i in range(400)], pa.list_(pa.int8())),
            ("L.codec.rle.frame",)),
    _sparse("counts-packed", "counts in two bits",
            pa.array([[1] * (1 + i % 3) for i in range(300)], pa.list_(pa.int8())),
            ("L.codec.bitpack.out-of-line",)),
]  # fmt: skip

_ITEMS = (b"the first item of the plane", b"", b"the third")
"""Distinct values of the indexed plane."""


def _indexed(raw: tuple[int, ...]) -> PlanarLayout:
    """Describe five slots, the second null, as indices packed to two bits; `raw` are all."""
    layout = PlanarLayout()
    validity = layout.structure.sparse.layers.add().validity
    validity.meaning = SparseValiditySet.NULL_POSITIONS
    validity.num_positions = 1
    validity.positions.constant.value = words(1)
    packed = layout.values.indexed.indices.out_of_line_bitpacking
    packed.uncompressed_bits_per_value, packed.values.flat.bits_per_value = 32, 2
    items = layout.values.indexed.items
    items.compression.variable.offsets.flat.bits_per_value = 32
    items.bits_per_offset, items.num_items, items.num_visible_items = 32, 3, 3
    assert max(raw) < len(_ITEMS)
    return layout


def _indexed_page() -> Page:
    indices = (0, 0, 2, 1, 0)
    zipped = b"".join(words(len(item), width=4) + item for item in _ITEMS)
    ends = np.cumsum([0, *(4 + len(item) for item in _ITEMS)])
    row_index = bytes(ends.tolist())
    return Page(_indexed(indices), 5, (words(*indices, width=4), zipped, row_index))


_INDEXED = Positive(
    id="file/2.3/sparse/indexed",
    title="an index for every slot, the distinct values zipped; a raw tail of indices",
    clauses=("L.page.sparse.index-range", "L.page.planar.indexed", "L.codec.bitpack.raw-tail"),
    make=by_hand(
        column(pa.array([_ITEMS[0], None, _ITEMS[2], _ITEMS[1], _ITEMS[0]], pa.binary())),
        "2.3",
        {0: [_indexed_page()]},
    ),
    version="2.3",
    reachable=True,
)

POSITIVES: tuple[Positive, ...] = (*_DENSE, *_SPARSE, _INDEXED)
"""Every positive case of 2.3 files."""
