"""Positive cases of 2.3 sequences by hand: one page for each codec a sequence can have.

Positions, counts and indices of sparse pages are sequences; no writer chooses most of the codecs
that may hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding, Constant
from lanceref.proto.encodings_v2_3_pb2 import PlanarLayout, SparseValiditySet

from lance_conformance.recipes import blocks
from lance_conformance.recipes.blocks import Block
from lance_conformance.recipes.hand import Page, by_hand, words
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.oracle_made import column

_ROWS = 12
_NULLS = (1, 3, 4, 9)
_COUNTS = (1, 3, 2, 3)


def _buffers(*sequences: Block) -> tuple[bytes, ...]:
    """Return the buffers of the sequences that have one."""
    return tuple(data for _, data in sequences if data)


def _positions(nulls: Block, number: int) -> Page:
    """Lay out twelve slots that are 7, or null at some positions."""
    layout = PlanarLayout()
    validity = layout.structure.sparse.layers.add().validity
    validity.meaning = SparseValiditySet.NULL_POSITIONS
    validity.num_positions = number
    validity.positions.CopyFrom(nulls[0])
    layout.values.constant.scalar = words(7, width=2)
    return Page(layout, _ROWS, _buffers(nulls))


def _counts(counts: Block, numbers: tuple[int, ...]) -> Page:
    """Lay out lists of 7, with as many items as counts say."""
    layout = PlanarLayout()
    lists = layout.structure.sparse.layers.add().list
    lists.num_child_slots = sum(numbers)
    lists.num_non_empty_positions = len(numbers)
    positions = blocks.steps(0, 1, 64)
    lists.non_empty_positions.CopyFrom(positions[0])
    lists.counts.CopyFrom(counts[0])
    lists.validity.meaning = SparseValiditySet.NULL_POSITIONS
    lists.validity.positions.constant.SetInParent()
    validity = layout.structure.sparse.layers.add().validity
    validity.meaning = SparseValiditySet.NULL_POSITIONS
    validity.positions.constant.SetInParent()
    layout.values.constant.scalar = words(7, width=1)
    return Page(layout, len(numbers), _buffers(counts))


_ITEMS = (b"the first item", b"", b"the third", b"the last")


def _indices(indices: Block, number: int) -> Page:
    """Lay out slots that name four zipped items."""
    layout = PlanarLayout()
    validity = layout.structure.sparse.layers.add().validity
    validity.meaning = SparseValiditySet.NULL_POSITIONS
    validity.positions.constant.SetInParent()
    layout.values.indexed.indices.CopyFrom(indices[0])
    items = layout.values.indexed.items
    items.compression.variable.offsets.flat.bits_per_value = 32
    items.bits_per_offset, items.num_items, items.num_visible_items = 32, 4, 4
    zipped = b"".join(words(len(item), width=4) + item for item in _ITEMS)
    ends = [0]
    for item in _ITEMS:
        ends.append(ends[-1] + 4 + len(item))
    return Page(layout, number, (indices[1], zipped, bytes(ends)))


def _case(
    slug: str, title: str, array: pa.Array, pages: Mapping[str, Page], *clauses: str
) -> Positive:
    return Positive(
        id=f"file/2.3/sequences/{slug}",
        title=f"{title} in {len(pages)} codecs, a page each",
        clauses=clauses,
        make=by_hand(column(array), "2.3", {0: list(pages.values())}),
        version="2.3",
        reachable=False,
    )


def _nulls(*positions: int) -> list[int | None]:
    return [None if i in positions else 7 for i in range(_ROWS)]


def _one(codec: str, title: str, made: Block) -> Positive:
    """Return the case of one null position."""
    case = _case(f"one-{codec}", title, pa.array(_nulls(5), pa.int16()),
                 {codec: _positions(made, 1)}, f"L.codec.{codec}.overflow")  # fmt: skip
    return replace(case, title=f"one null position, by {title}")


_NOTHING: Block = CompressiveEncoding(constant=Constant()), b""

_ANY_NULLS = {
    **{name: (made, _NULLS) for name, made in blocks.rising(_NULLS, 64).items()},
    "range": (blocks.steps(2, 3, 64), (2, 5, 8)),
    "constant": (blocks.constant(5, 64), (5,)),
    "delta, constant": (blocks.differences(1, blocks.constant(4, 64), 64), (1, 5, 9)),
    "delta, range": (blocks.differences(0, blocks.steps(1, 1, 64), 64), (0, 1, 3, 6, 10)),
    "rle of ranges": (blocks.runs(blocks.steps(1, 2, 64), blocks.flat([1] * 4, 32)), (1, 3, 5, 7)),
}

_ANY_COUNTS = {
    **{name: (made, _COUNTS) for name, made in blocks.every(_COUNTS, 64).items()},
    "delta": (blocks.differences(1, blocks.flat([2, 0, 4], 64), 64), (1, 3, 3, 7)),
    "rle, range of lengths": (
        blocks.runs(blocks.flat([2, 1, 3], 64), blocks.steps(1, 1, 32)), (2, 1, 1, 3, 3, 3)
    ),
    "rle, constant values": (
        blocks.runs(blocks.constant(2, 64), blocks.flat([2, 2], 32)), (2, 2, 2, 2)
    ),
}  # fmt: skip

_PICKS = (3, 0, 2, 2, 1)
_ANY_INDICES = {
    **{name: (made, _PICKS) for name, made in blocks.every(_PICKS, 32).items()},
    "constant": (blocks.constant(2, 32), (2, 2)),
    "range": (blocks.steps(0, 1, 32), (0, 1, 2, 3)),
    "delta": (blocks.differences(0, blocks.flat([1, 0, 2], 32), 32), (0, 1, 1, 3)),
}

POSITIVES: tuple[Positive, ...] = (
    _one("range", "a range that could not go on", blocks.steps(5, 2**64 - 1, 64)),
    _one("delta", "a delta without a difference",
         blocks.differences(5, blocks.constant(4, 64), 64)),
    replace(
        _one("delta", "a delta whose differences are a constant without a value",
             blocks.differences(5, _NOTHING, 64)),
        id="file/2.3/sequences/no-delta"),
    _case(
        "positions", "null positions",
        pa.array([value for _, nulls in _ANY_NULLS.values() for value in _nulls(*nulls)],
                 pa.int16()),
        {name: _positions(made, len(nulls)) for name, (made, nulls) in _ANY_NULLS.items()},
        "L.page.sparse.positions",
    ),
    _case(
        "counts", "counts of lists",
        pa.array([[7] * count for _, counts in _ANY_COUNTS.values() for count in counts],
                 pa.list_(pa.int8())),
        {name: _counts(made, counts) for name, (made, counts) in _ANY_COUNTS.items()},
        "L.page.sparse.counts",
    ),
    _case(
        "indices", "indices of an indexed plane",
        pa.array([_ITEMS[pick] for _, picks in _ANY_INDICES.values() for pick in picks],
                 pa.binary()),
        {name: _indices(made, len(picks)) for name, (made, picks) in _ANY_INDICES.items()},
        "L.page.planar.indexed",
    ),
)  # fmt: skip
"""Every case of sequences."""
