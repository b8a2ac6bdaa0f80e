"""Ravelling: the layers around a leaf written as levels.

The inverse of `repdef.unravel`. From the outside in, every slot of a layer is one entry; a list
replaces the entry of each of its slots by those of its items, and a slot without items keeps one
entry of its own that ends there.

Layout: repetition and definition levels, u16 each, one per entry; layer codes innermost first; see
`layers` for the numbering of levels.

Clauses: L.page.levels.numbering, L.page.levels.visible, L.page.layers.code
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.pages.layers import (
    ALL_VALID_ITEM,
    ALL_VALID_LIST,
    EMPTYABLE_LIST,
    NULL_AND_EMPTY,
    NULLABLE_ITEM,
    NULLABLE_LIST,
)
from lanceref.pages.nested import Layer
from lanceref.pages.shred import Shred

LevelArray = NDArray[np.uint16]
"""One level per entry."""


@dataclass(frozen=True, slots=True)
class RavelledLevels:
    """The levels of one page; None where every entry would have level 0.

    `codes` are the layer codes, innermost first; `max_rep` the number of list layers, `max_def` the
    highest definition that the codes allow; an entry owns a value when its definition is at most
    `max_visible` (None: every entry does).
    """

    codes: tuple[int, ...]
    rep: LevelArray | None
    definition: LevelArray | None
    max_rep: int
    max_def: int
    max_visible: int | None
    num_entries: int

    @property
    def num_rows(self) -> int:
        """Page slots."""
        if self.rep is None:
            return self.num_entries
        return int(np.count_nonzero(self.rep == self.max_rep))

    @property
    def visible(self) -> NDArray[np.bool_] | None:
        """Which entries own a value; None when all do."""
        if self.max_visible is None or self.definition is None:
            return None
        return self.definition <= self.max_visible


def flat_levels(count: int) -> RavelledLevels:
    """Return the levels of `count` values that nothing surrounds and none of which is null."""
    return RavelledLevels((ALL_VALID_ITEM,), None, None, 0, 0, None, count)


def layers_of(rows: Shred) -> list[Layer]:
    """Return the layers of some rows from the outside in, the leaf's own at the end."""
    return [*rows.layers, Layer(len(rows.leaf), rows.validity)]


def ravel(rows: Shred, codes: Sequence[int] | None = None) -> RavelledLevels:
    """Return the levels of some rows of a leaf.

    `codes` (from the outside in) may allow for more than the rows need; by default they allow for
    just what is there.
    """
    layers = layers_of(rows)
    codes = [layer_code(layer) for layer in layers] if codes is None else codes
    max_rep = sum(layer.offsets is not None for layer in layers)
    max_def = sum(map(_levels, codes))
    entries = _Entries(layers[0].count, max_rep, max_def)
    for layer, code in zip(layers, codes, strict=True):
        entries.record(layer, code)
    inner_first = codes[::-1]
    return RavelledLevels(
        codes=tuple(inner_first),
        rep=entries.rep if max_rep else None,
        definition=entries.definition if max_def else None,
        max_rep=max_rep,
        max_def=max_def,
        max_visible=_max_visible(inner_first) if max_rep else None,
        num_entries=len(entries.rep),
    )


def layer_code(layer: Layer) -> int:
    """Return the least code that can say what is null and empty in a layer."""
    nullable = layer.validity is not None and not layer.validity.all()
    if layer.offsets is None:
        return NULLABLE_ITEM if nullable else ALL_VALID_ITEM
    empty = np.diff(layer.offsets) == 0
    if nullable and layer.validity is not None:
        return NULL_AND_EMPTY if (empty & layer.validity).any() else NULLABLE_LIST
    return EMPTYABLE_LIST if empty.any() else ALL_VALID_LIST


def _levels(code: int) -> int:
    return {ALL_VALID_ITEM: 0, ALL_VALID_LIST: 0, NULL_AND_EMPTY: 2}.get(code, 1)


def _max_visible(inner_first: Sequence[int]) -> int:
    first_list = next(i for i, code in enumerate(inner_first) if code not in _ITEMS)
    return sum(map(_levels, inner_first[:first_list]))


_ITEMS = (ALL_VALID_ITEM, NULLABLE_ITEM)


class _Entries:
    """Entries from the outermost layer inward; `live` are those that still own a slot."""

    def __init__(self, count: int, max_rep: int, max_def: int) -> None:
        self.rep = np.zeros(count, np.uint16)
        self.definition = np.zeros(count, np.uint16)
        self._live = np.arange(count)
        self._next_rep, self._next_def = max_rep, max_def

    def record(self, layer: Layer, code: int) -> None:
        """Take in one layer, whose slots are the live entries."""
        if code in (NULLABLE_ITEM, NULLABLE_LIST, NULL_AND_EMPTY) and layer.validity is not None:
            null_level = self._next_def - (code == NULL_AND_EMPTY)
            null = self._live[~layer.validity]
            self.definition[null[self.definition[null] == 0]] = null_level
        empty_level = self._next_def
        self._next_def -= _levels(code)
        if layer.offsets is not None:
            self._open_lists(np.diff(layer.offsets), empty_level)
        elif layer.dimension > 1:
            self._repeat(layer.dimension)

    def _open_lists(self, lengths: NDArray[np.int64], empty_level: int) -> None:
        """Replace the entry of each list by those of its items; null and empty ones end here."""
        live = self._live
        starts = live[self.rep[live] == 0]
        self.rep[starts] = self._next_rep
        self._next_rep -= 1
        ends = (lengths == 0) | (self.definition[live] != 0)
        empty = live[ends]
        self.definition[empty[self.definition[empty] == 0]] = empty_level
        counts = np.ones(len(self.rep), np.int64)
        counts[live] = np.where(ends, 1, lengths)
        owns = np.zeros(len(self.rep), np.bool_)
        owns[live] = ~ends
        first = np.cumsum(counts) - counts
        rep = np.zeros(int(counts.sum()), np.uint16)
        rep[first] = self.rep
        self.rep = rep
        self.definition = np.repeat(self.definition, counts)
        self._live = np.flatnonzero(np.repeat(owns, counts))

    def _repeat(self, dimension: int) -> None:
        """Give each live entry to every item of its fixed-size list, repetition too."""
        counts = np.ones(len(self.rep), np.int64)
        counts[self._live] = dimension
        owns = np.zeros(len(self.rep), np.bool_)
        owns[self._live] = True
        self.rep = np.repeat(self.rep, counts)
        self.definition = np.repeat(self.definition, counts)
        self._live = np.flatnonzero(np.repeat(owns, counts))
