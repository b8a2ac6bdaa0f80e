"""Layers and levels: the nesting around a leaf, as pages describe it and as rows have it.

One physical column stores one leaf of a field's type tree. The way from the field to that leaf is a
path of steps; a page describes it as a list of `RepDefLayer` codes, innermost first, which also say
what can be null or empty in this page (see `level_numbering`).

The entries of a page are its leaf values plus one placeholder for every list that is null or empty.
Each has a repetition level (which list begins here) and a definition level (how far the way down is
valid), zeros where a page has none; an entry is visible, owns a value, when its definition is at
most `Layers.max_visible`. Decoded rows have for every layer its validity and, for lists, offsets:
views that can be cut at any row without a copy.

Layout of levels: two u16 sequences of equal length. Repetition: the number of list layers where a
row begins, r where a new list of rank r (counted from the inside) does, 0 inside a list.

Clauses: L.page.layers.present, L.page.layers.code, L.page.layers.path, L.page.layers.dimension,
L.page.levels.rep-range, L.page.levels.def-range, L.page.levels.first-entry,
L.page.levels.special-alone, L.page.levels.fsl-group, L.page.levels.rows
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.codecs.values import Bools, Ints
from lanceref.core.context import expect, specified
from lanceref.core.errors import CorruptPage, Place
from lanceref.pages.leafvalues import Path, Step, scale_of
from lanceref.pages.level_numbering import (
    ALL_VALID_ITEM,
    ITEM_CODES,
    NULL_AND_EMPTY,
    Layers,
    PageLayer,
    number_levels,
)


def parse_layers(codes: Sequence[int], path: Path, place: Place) -> Layers:
    """Compare the codes of a page with the path of its leaf and number the levels.

    Raises CorruptPage for codes that do not describe the path.
    """
    if not codes:
        raise CorruptPage("L.page.layers.present", place, "no layers", "one per step")
    for code in codes:
        if not ALL_VALID_ITEM <= code <= NULL_AND_EMPTY:
            raise CorruptPage("L.page.layers.code", place, f"layer {code}", "1 to 6")
    kinds = ", ".join("item" if code in ITEM_CODES else "list" for code in codes)
    wanted = ", ".join("list" if step.step is Step.LIST else "item" for step in path[::-1])
    expect("L.page.layers.path", kinds, wanted, place)
    scale = scale_of(path)
    if scale < 1:
        raise CorruptPage("L.page.layers.dimension", place, scale, "1 or more items")
    return number_levels(tuple(codes), tuple(step.dimension for step in path[::-1]), scale)


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer around a leaf.

    `count` slots; `validity` bool (count,) or None when all are valid; `offsets` int64 (count + 1,)
    for a list, first 0; `dimension` child slots per slot otherwise.
    """

    count: int
    validity: Bools | None
    offsets: Ints | None = None
    dimension: int = 1


@dataclass(frozen=True, slots=True)
class Nested:
    """Rows of one leaf: `layers` from the outside in, then the leaf's array."""

    layers: tuple[Layer, ...]
    leaf: pa.Array

    @property
    def num_rows(self) -> int:
        """Number of rows that the piece holds."""
        return self.layers[0].count if self.layers else len(self.leaf)

    def slice(self, start: int, end: int) -> Self:
        """Return rows `start` to `end` of the piece as views."""
        if start == 0 and end == self.num_rows:
            return self
        layers, first, last = cut_layers(self.layers, start, end)
        return type(self)(layers, self.leaf.slice(first, last - first))


class Page(Protocol):
    """One page of a leaf in any layout, which says where a run of its rows ends, and reads rows."""

    num_rows: int

    def run_end(self, start: int) -> int:
        """Return where a run of rows from `start` on ends: about RUN_BYTES of values."""

    def read(self, starts: Ints, ends: Ints) -> Nested:
        """Return the rows of ascending ranges `starts`..`ends` (n,), one after the other."""

    def check(self) -> None:
        """Decode the whole page with every cross-check."""

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end`, about RUN_BYTES at a time."""
        while start < end:
            stop = min(end, self.run_end(start))
            yield self.read(np.array([start]), np.array([stop]))
            start = stop

    def take(self, rows: Ints) -> Nested:
        """Return the given rows (ascending, each once), reading only what they need."""
        if len(rows) and int(rows[-1]) - int(rows[0]) + 1 == len(rows):  # one range
            return self.read(rows[:1], rows[-1:] + 1)
        return self.read(rows, rows + 1)


def cut_layers(layers: Sequence[Layer], start: int, end: int) -> tuple[tuple[Layer, ...], int, int]:
    """Return slots `start`..`end` of the outermost layer as views, and where their values are."""
    cut = []
    for layer in layers:
        validity = None if layer.validity is None else layer.validity[start:end]
        if layer.offsets is None:
            cut.append(Layer(end - start, validity, None, layer.dimension))
            start, end = start * layer.dimension, end * layer.dimension
        else:
            offsets = layer.offsets[start : end + 1]
            cut.append(Layer(end - start, validity, offsets - offsets[0]))
            start, end = int(offsets[0]), int(offsets[-1])
    return tuple(cut), start, end


Level = NDArray[np.unsignedinteger]
"""Levels of one kind: u8 or u16."""

Entries = slice | Ints
"""Some of the entries of a page."""

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
    starts: Ints | None = None

    def _at(self, at: Entries) -> tuple[Level | None, Level | None]:
        rep, definition = self.rep, self.definition
        return None if rep is None else rep[at], None if definition is None else definition[at]

    def slice(self, start: int, end: int) -> Levels:
        """Return the levels of entries `start` to `end` as views."""
        starts = self.starts
        if starts is not None:
            first, last = np.searchsorted(starts, [start, end])
            starts = starts[first:last] - start
        return Levels(end - start, *self._at(slice(start, end)), starts)

    def take(self, at: Ints) -> Levels:
        """Return the levels of the entries `at`. `at` (n,)."""
        return Levels(len(at), *self._at(at))

    def visible(self, layers: Layers) -> Bools | None:
        """Return which entries own a value; None when all do: (entries,)."""
        if self.definition is None or layers.max_visible >= layers.max_def:
            return None
        visible: Bools = self.definition <= layers.max_visible
        return visible

    def leaf_validity(self, layers: Layers) -> Bools | None:
        """Return the validity of the visible entries' values; None when all are valid.

        The result is (visible entries,).
        """
        visible = self.visible(layers)
        all_valid = layers.max_def == 0 or (visible is not None and layers.max_visible == 0)
        if self.definition is None or all_valid:
            return None
        chosen = self.definition if visible is None else self.definition[visible]
        return np.asarray(chosen == 0)


def join_levels(parts: Sequence[Levels]) -> Levels:
    """Return the levels of consecutive entries, at least one part, as one."""
    reps = [part.rep for part in parts if part.rep is not None]
    definitions = [part.definition for part in parts if part.definition is not None]
    rep, definition = (np.concatenate(one) if one else None for one in (reps, definitions))
    return Levels(sum(part.count for part in parts), rep, definition)


def check_ranges(levels: Levels, layers: Layers, place: Place) -> None:
    """Refuse levels above what the layers define."""
    for clause, stored, highest in (
        ("L.page.levels.rep-range", levels.rep, layers.max_rep),
        ("L.page.levels.def-range", levels.definition, layers.max_def),
    ):
        if stored is not None and len(stored) and int(stored.max()) > highest:
            raise CorruptPage(clause, place, f"a level {int(stored.max())}", f"at most {highest}")


def row_starts(levels: Levels, layers: Layers) -> Ints:
    """Return the entries where a page slot begins: those with the highest repetition.

    (slots,), ascending.
    """
    if levels.starts is not None:
        return levels.starts
    if levels.rep is None:
        return np.arange(levels.count, dtype=np.int64)
    return np.flatnonzero(levels.rep == layers.max_rep)


def select(levels: Levels, layers: Layers, starts: Ints, ends: Ints) -> tuple[Levels, Entries]:
    """Return the levels of the ranges of entries `starts`..`ends`, one after the other.

    The other part is which of the visible entries' values belong to them. `starts` and `ends`
    (ranges,), ascending.
    """
    if len(starts) and np.array_equal(starts[1:], ends[:-1]):
        start, end = int(starts[0]), int(ends[-1])
        if start == 0 and end == levels.count:
            return levels, slice(None)
        chosen, visible = levels.slice(start, end), levels.visible(layers)
        if visible is None:
            return chosen, slice(start, end)
        first = int(np.count_nonzero(visible[:start]))
        return chosen, slice(first, first + int(np.count_nonzero(visible[start:end])))
    at, visible = ranges(starts, ends), levels.visible(layers)
    return levels.take(at), at if visible is None else count_before(visible, at[visible[at]])


def ranges(starts: Ints, ends: Ints) -> Ints:
    """Return the numbers of all ranges, one range after the other.

    `starts` and `ends` (n,), the result (sum of sizes,).
    """
    sizes = ends - starts
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()), dtype=np.int64)


def unravel(layers: Layers, levels: Levels, leaf: pa.Array, num_rows: int, place: Place) -> Nested:
    """Turn the levels of `num_rows` whole rows into validity and offsets of every layer.

    `leaf` has a value for each visible entry. Raises CorruptPage.
    """
    if levels.rep is not None and levels.count:
        expect("L.page.levels.first-entry", int(levels.rep[0]), layers.max_rep, place)
    built: list[Layer] = []
    for layer in layers.layers[1:]:
        done, levels = (_list if layer.is_list else _item)(layer, layers, levels, place)
        built.append(done)
    nested = Nested(tuple(built[::-1]), leaf)
    expect("L.page.levels.rows", nested.num_rows, num_rows, place)
    return nested


def _item(layer: PageLayer, layers: Layers, levels: Levels, place: Place) -> tuple[Layer, Levels]:
    """Return a struct or fixed-size list layer, and the entries that begin its slots."""
    if layer.dimension > 1:  # each list, or what ends outside, has as many entries here
        if levels.count % layer.dimension:
            found, wanted = f"{levels.count} items of lists", f"a multiple of {layer.dimension}"
            raise CorruptPage("L.page.levels.fsl-group", place, found, wanted)
        levels = levels.take(np.arange(0, levels.count, layer.dimension))
    definition = levels.definition
    if definition is None:
        return Layer(levels.count, None, None, layer.dimension), levels
    if layer.window < layers.max_def:  # what ends further outside has no slot here
        definition = definition[definition <= layer.window]
    validity = None if layer.window == layer.below else definition <= layer.below
    return Layer(len(definition), validity, None, layer.dimension), levels


def _list(layer: PageLayer, layers: Layers, levels: Levels, place: Place) -> tuple[Layer, Levels]:
    """Return a list layer, and the entries that begin its lists."""
    definition, starts = levels.definition, levels.starts
    assert levels.rep is not None
    if starts is None or layers.max_rep > 1:
        starts = np.flatnonzero(levels.rep != 0)
    # Further outside a list is one entry, its first; repetition counts from the next layer on.
    rep = None if layers.max_rep == 1 else levels.rep[starts] - 1
    bounds = np.append(starts, levels.count)
    if definition is None:
        return Layer(len(starts), None, bounds), Levels(len(starts), rep, None)
    firsts = definition[starts]
    # An entry above `below` has no item: it stands alone for a null or empty list, or for what
    # ends further outside. Every other entry is an item, so only these are missing in the offsets.
    is_special = firsts > layer.below
    special = np.flatnonzero(is_special)
    num_alone = int(np.count_nonzero(definition > layer.below))
    sizes = bounds[special + 1] - bounds[special]
    if num_alone != len(special) or sizes.max(initial=1) > 1:
        found = f"{num_alone} entries without an item, {len(special)} null or empty"
        wanted = "one entry for each null or empty list"
        raise CorruptPage("L.page.levels.special-alone", place, found, wanted)
    outer = Levels(len(starts), rep, firsts)
    offsets = bounds - np.append(0, np.cumsum(is_special))
    if layer.window < layers.max_def:  # what ends further outside has no slot here
        kept = firsts <= layer.window
        firsts, offsets = firsts[kept], np.append(offsets[:-1][kept], offsets[-1])
    validity = None
    if layer.null is not None or layer.window > layer.own:
        validity = firsts <= layer.own
        if layer.null is not None:
            validity &= firsts != layer.null
    return Layer(len(firsts), validity, offsets), outer


@specified
def count_before(flags: Bools, at: Ints) -> Ints:
    """Return how many of `flags` are set before each of the positions `at`.

    `flags` (n,); `at` and the result (m,).
    """
    before: Ints = np.append(0, np.cumsum(flags, dtype=np.int64))[at]
    return before
