"""Repetition and definition levels, and the rows they spell.

The entries of a page are its leaf values plus one placeholder for every list that is null or empty.
Each entry has a repetition level (which list begins here) and a definition level (how far the way
down is valid); an entry is visible, owns a value, when its definition is at most
`Layers.max_visible`. A page without one of the levels has zeros there.

Layout: two u16 sequences of equal length. Repetition: the number of list layers at the first entry
of a row, r at an entry that begins a new list of rank r (counted from the inside), 0 inside a list.

Clauses: L.page.levels.rep-range, L.page.levels.def-range, L.page.levels.first-entry,
L.page.levels.special-alone, L.page.levels.fsl-group, L.page.levels.rows
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.values import count_before
from lanceref.core.context import expect
from lanceref.core.errors import CorruptPage, Place
from lanceref.pages.layers import Layer, Layers, Nested, PageLayer

Level = NDArray[np.unsignedinteger]
"""Levels of one kind: u8 or u16."""

LEVEL_BYTES = 16
"""Memory that one level takes while rows are cut from it."""


@dataclass(frozen=True, slots=True)
class Levels:
    """The levels of `count` entries; None stands for zeros.

    `starts` are the entries where a page slot begins, once they are known.
    """

    count: int
    rep: Level | None
    definition: Level | None
    starts: NDArray[np.int64] | None = None

    def slice(self, start: int, end: int) -> Levels:
        """Return the levels of entries `start` to `end` as views."""
        starts = self.starts
        if starts is not None:
            first, last = np.searchsorted(starts, [start, end])
            starts = starts[first:last] - start
        return Levels(
            end - start,
            None if self.rep is None else self.rep[start:end],
            None if self.definition is None else self.definition[start:end],
            starts,
        )

    def take(self, at: NDArray[np.int64]) -> Levels:
        """Return the levels of the entries `at`. `at` (n,)."""
        return Levels(
            len(at),
            None if self.rep is None else self.rep[at],
            None if self.definition is None else self.definition[at],
        )

    def visible(self, layers: Layers) -> NDArray[np.bool_] | None:
        """Return which entries own a value; None when all do: (entries,)."""
        if self.definition is None or layers.max_visible >= layers.max_def:
            return None
        visible: NDArray[np.bool_] = self.definition <= layers.max_visible
        return visible

    def leaf_validity(self, layers: Layers) -> NDArray[np.bool_] | None:
        """Return the validity of the visible entries' values; None when all are valid.

        The result is (visible entries,).
        """
        if self.definition is None or layers.max_def == 0:
            return None
        visible = self.visible(layers)
        if visible is not None and layers.max_visible == 0:
            return None
        validity: NDArray[np.bool_]
        validity = (self.definition if visible is None else self.definition[visible]) == 0
        return validity


def check_ranges(levels: Levels, layers: Layers, place: Place) -> None:
    """Refuse levels above what the layers define."""
    for clause, stored, highest in (
        ("L.page.levels.rep-range", levels.rep, layers.max_rep),
        ("L.page.levels.def-range", levels.definition, layers.max_def),
    ):
        if stored is not None and len(stored) and int(stored.max()) > highest:
            raise CorruptPage(clause, place, f"a level {int(stored.max())}", f"at most {highest}")


def row_starts(levels: Levels, layers: Layers) -> NDArray[np.int64]:
    """Return the entries where a page slot begins: those with the highest repetition.

    (slots,), ascending.
    """
    if levels.starts is not None:
        return levels.starts
    if levels.rep is None:
        return np.arange(levels.count, dtype=np.int64)
    if layers.max_rep == 1 and levels.rep.itemsize == 1:  # checked: no level is above
        return np.flatnonzero(levels.rep.view(np.bool_))
    return np.flatnonzero(levels.rep == layers.max_rep)


def select(
    levels: Levels, layers: Layers, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Levels, slice | NDArray[np.int64]]:
    """Return the levels of the ranges of entries `starts`..`ends`, one after the other.

    The other part is which of the visible entries' values belong to them. `starts` and `ends`
    (ranges,), ascending.
    """
    if len(starts) and np.array_equal(starts[1:], ends[:-1]):
        return cut(levels, layers, int(starts[0]), int(ends[-1]))
    at, visible = ranges(starts, ends), levels.visible(layers)
    if visible is None:
        return levels.take(at), at
    return levels.take(at), count_before(visible, at[visible[at]])


def cut(levels: Levels, layers: Layers, start: int, end: int) -> tuple[Levels, slice]:
    """Return the levels of the entries `start`..`end`, and which visible entries are theirs."""
    if start == 0 and end == levels.count:
        return levels, slice(None)
    visible = levels.visible(layers)
    chosen = levels.slice(start, end)
    if visible is None:
        return chosen, slice(start, end)
    first = int(np.count_nonzero(visible[:start]))
    return chosen, slice(first, first + int(np.count_nonzero(visible[start:end])))


def ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, one range after the other.

    `starts` and `ends` (n,), the result (sum of sizes,).
    """
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()), dtype=np.int64)


def unravel(layers: Layers, levels: Levels, leaf: pa.Array, num_rows: int, place: Place) -> Nested:
    """Turn the levels of `num_rows` whole rows into validity and offsets of every layer.

    `leaf` has a value for each visible entry.
    """
    if levels.rep is not None and levels.count:
        expect("L.page.levels.first-entry", int(levels.rep[0]), layers.max_rep, place)
    built: list[Layer] = []
    lists_left = layers.max_rep
    for layer in layers.layers[1:]:
        if layer.is_list:
            lists_left -= 1
            begins = levels.starts if layers.max_rep == 1 else None
            done, levels = _unravel_list(
                layer, layers.max_def, levels, begins, lists_left == 0, place
            )
        else:
            done, levels = _unravel_item(layer, layers.max_def, levels, place)
        built.append(done)
    nested = Nested(tuple(built[::-1]), leaf)
    expect("L.page.levels.rows", nested.num_rows, num_rows, place)
    return nested


def _unravel_item(
    layer: PageLayer, max_def: int, levels: Levels, place: Place
) -> tuple[Layer, Levels]:
    """Return a struct or fixed-size list layer, and the entries that begin its slots."""
    if layer.dimension > 1:
        levels = levels.take(_first_of_each(layer, levels, place))
    definition = levels.definition
    if definition is None:
        return Layer(levels.count, None, None, layer.dimension), levels
    if layer.window < max_def:
        definition = definition[definition <= layer.window]
    validity = None if layer.window == layer.below else definition <= layer.below
    return Layer(len(definition), validity, None, layer.dimension), levels


def _first_of_each(layer: PageLayer, levels: Levels, place: Place) -> NDArray[np.int64]:
    """Return the first of the entries that each fixed-size list, or what ends outside, has here."""
    if levels.count % layer.dimension:
        found, wanted = f"{levels.count} items of lists", f"a multiple of {layer.dimension}"
        raise CorruptPage("L.page.levels.fsl-group", place, found, wanted)
    return np.arange(0, levels.count, layer.dimension)


def _unravel_list(
    layer: PageLayer,
    max_def: int,
    levels: Levels,
    starts: NDArray[np.int64] | None,
    is_outermost: bool,
    place: Place,
) -> tuple[Layer, Levels]:
    """Return a list layer, and the entries that begin its lists (`starts` when known)."""
    definition = levels.definition
    assert levels.rep is not None
    if starts is None:
        starts = np.flatnonzero(levels.rep != 0)
    outer = Levels(len(starts), None if is_outermost else levels.rep[starts] - 1, None)
    if definition is None:
        return Layer(len(starts), None, np.append(starts, levels.count)), outer
    firsts = definition.take(starts)
    outer = Levels(outer.count, outer.rep, firsts)
    special = np.flatnonzero(firsts > layer.below)  # lists that begin with an entry without item
    num_slots = levels.count - int(np.count_nonzero(definition > layer.below))
    sizes = np.append(starts, levels.count).take(special + 1) - starts.take(special)
    if levels.count - num_slots != len(special) or (sizes != 1).any():
        found = f"{levels.count - num_slots} entries without an item, {len(special)} null or empty"
        wanted = "one entry for each null or empty list"
        raise CorruptPage("L.page.levels.special-alone", place, found, wanted)
    offsets = np.empty(len(starts) + 1, np.int64)  # entries before, less those without an item
    widths = np.diff(special, prepend=-1, append=len(starts) - 1)
    np.subtract(starts, np.repeat(np.arange(len(widths)), widths), out=offsets[:-1])
    offsets[-1] = num_slots
    if layer.window < max_def:
        kept = firsts <= layer.window
        firsts, offsets = firsts[kept], np.append(offsets[:-1][kept], num_slots)
    validity = None
    if layer.null is not None or layer.window > layer.own:
        validity = firsts <= layer.own
        if layer.null is not None:
            validity &= firsts != layer.null
    return Layer(len(firsts), validity, offsets), outer
