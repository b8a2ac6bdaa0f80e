"""Layers: which nesting a page's levels speak of.

One physical column stores one leaf of a field's type tree. The way from the field to that leaf is a
path of steps (list, struct, fixed-size list of structs, leaf); a page describes the same way as a
list of `RepDefLayer` codes, innermost first, which also says what can be null or empty in this
page. The codes give every definition level its meaning.

Layout (RepDefLayer): 1 ALL_VALID_ITEM, 2 ALL_VALID_LIST, 3 NULLABLE_ITEM, 4 NULLABLE_LIST,
5 EMPTYABLE_LIST, 6 NULL_AND_EMPTY_LIST; a struct or a fixed-size list of structs is an item layer.
Levels are numbered from the inside out: codes 3, 4 and 5 take one level, 6 takes two (null, then
empty), 1 and 2 none; level 0 is valid all the way.

Clauses: L.page.layers.present, L.page.layers.code, L.page.layers.path, L.page.layers.dimension,
L.page.levels.numbering, L.page.levels.visible

Nested rows of one leaf: what the levels of a page become.

Every layer around the leaf is described by its validity and, for lists, its offsets; the innermost
content is the leaf's Arrow array. All of it are views that can be cut at any row without a copy, so
that leaves whose pages do not align can be brought to the same rows.

Page: what every layout of a page of 2.1 and later offers to its column.

Expectations: one number of a description held against another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage, Place
from lanceref.file.schema import Field

ALL_VALID_ITEM, ALL_VALID_LIST, NULLABLE_ITEM, NULLABLE_LIST, EMPTYABLE_LIST, NULL_AND_EMPTY = (
    range(1, 7)
)
"""The codes of RepDefLayer."""

_ITEM_CODES = (ALL_VALID_ITEM, NULLABLE_ITEM)


class Step(Enum):
    """What a field is on the way to a leaf."""

    LIST = "list"
    STRUCT = "struct"
    FIXED_SIZE_LIST = "fixed-size list"
    LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class PathStep:
    """One field on the way to a leaf; `dimension` is 1 but for a fixed-size list."""

    step: Step
    field: Field
    dimension: int = 1


Path = tuple[PathStep, ...]
"""From the column's field (first) to the leaf (last)."""


def leaf_paths(field: Field) -> list[Path]:
    """Return the path to every leaf at or below `field`, in column order."""
    step = _step(field)
    if step.step is Step.LEAF:
        return [(step,)]
    return [(step, *path) for child in field.children for path in leaf_paths(child)]


def _step(field: Field) -> PathStep:
    if field.is_leaf:
        return PathStep(Step.LEAF, field)
    if field.logical_type == "struct":
        return PathStep(Step.STRUCT, field)
    if field.logical_type.startswith("fixed_size_list"):
        return PathStep(Step.FIXED_SIZE_LIST, field, field.arrow.type.list_size)
    return PathStep(Step.LIST, field)


@dataclass(frozen=True, slots=True)
class PageLayer:
    """One layer of a page and its levels.

    `below` levels belong to layers inside it; `own` is the highest level of this layer and those
    inside; an entry owns a slot here when its definition is at most `window`.
    """

    is_list: bool
    dimension: int
    below: int
    own: int
    window: int
    null: int | None
    empty: int | None


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of one page, innermost first, and what follows from them.

    `max_visible` is the highest definition of an entry that owns a value; `scale` is the number of
    page slots per row (more than 1 below a fixed-size list of structs).
    """

    layers: tuple[PageLayer, ...]
    max_rep: int
    max_def: int
    max_visible: int
    scale: int


def parse_layers(codes: Sequence[int], path: Path, place: Place) -> Layers:
    """Hold the codes of a page against the path of its leaf and number the levels."""
    if not codes:
        raise CorruptPage("L.page.layers.present", place, found="no layers", wanted="one per step")
    for code in codes:
        if not ALL_VALID_ITEM <= code <= NULL_AND_EMPTY:
            raise CorruptPage("L.page.layers.code", place, found=f"layer {code}", wanted="1 to 6")
    steps = path[::-1]
    found = [code not in _ITEM_CODES for code in codes]
    wanted = [step.step is Step.LIST for step in steps]
    if found != wanted:
        raise CorruptPage("L.page.layers.path", place, found=_shown(found), wanted=_shown(wanted))
    scale = 1
    for step in steps:
        scale *= step.dimension
    if scale < 1:
        raise CorruptPage("L.page.layers.dimension", place, found=scale, wanted="1 or more items")
    return _number(tuple(codes), tuple(step.dimension for step in steps), scale)


def _shown(are_lists: Sequence[bool]) -> str:
    return ", ".join("list" if is_list else "item" for is_list in are_lists)


@lru_cache
def _number(codes: tuple[int, ...], dimensions: tuple[int, ...], scale: int) -> Layers:
    own, layers = 0, []
    for at, (code, dimension) in enumerate(zip(codes, dimensions, strict=True)):
        below = own
        own += _levels(code)  # L.page.levels.numbering
        layers.append(
            PageLayer(
                is_list=code not in _ITEM_CODES,
                dimension=dimension,
                below=below,
                own=own,
                window=own + _items_until_list(codes, at + 1),
                null=below + 1 if code in (NULLABLE_ITEM, NULLABLE_LIST, NULL_AND_EMPTY) else None,
                empty=own if code in (EMPTYABLE_LIST, NULL_AND_EMPTY) else None,
            )
        )
    lists = sum(layer.is_list for layer in layers)
    max_visible = _items_until_list(codes, 0)  # L.page.levels.visible
    return Layers(tuple(layers), lists, own, max_visible, scale)


def _levels(code: int) -> int:
    """Return how many definition levels a layer takes."""
    return {ALL_VALID_ITEM: 0, ALL_VALID_LIST: 0, NULL_AND_EMPTY: 2}.get(code, 1)


def _items_until_list(codes: Sequence[int], start: int) -> int:
    """Return the levels of the item layers from `start` up to the next list layer."""
    levels = 0
    for code in codes[start:]:
        if code not in _ITEM_CODES:
            break
        levels += _levels(code)
    return levels


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer around a leaf.

    `count` slots; `validity` bool (count,) or None when all are valid; `offsets` int64 (count + 1,)
    for a list, first 0; `dimension` child slots per slot otherwise.
    """

    count: int
    validity: NDArray[np.bool_] | None
    offsets: NDArray[np.int64] | None = None
    dimension: int = 1


@dataclass(frozen=True, slots=True)
class Nested:
    """Rows of one leaf: `layers` from the outside in, then the leaf's array."""

    layers: tuple[Layer, ...]
    leaf: pa.Array

    @property
    def num_rows(self) -> int:
        """Rows."""
        return self.layers[0].count if self.layers else len(self.leaf)

    def slice(self, start: int, end: int) -> Nested:
        """Return rows `start`..`end` as views."""
        if start == 0 and end == self.num_rows:
            return self
        layers, first, last = cut_layers(self.layers, start, end)
        return Nested(layers, self.leaf.slice(first, last - first))


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


class Scanned(Protocol):
    """Rows of a leaf that can be read one after the other."""

    num_rows: int

    def scan(self, start: int, end: int) -> Iterator[Nested]:
        """Yield rows `start`..`end`, about RUN_BYTES at a time."""


class Page(Scanned, Protocol):
    """One page of a leaf: what every layout offers."""

    def take(self, rows: NDArray[np.int64]) -> Nested:
        """Return the given rows of the page (ascending, each once)."""

    def check(self) -> None:
        """Decode the whole page with every cross-check."""


def expect(clause: str, found: object, wanted: object, place: Place) -> None:
    """Raise CorruptPage unless `found` is `wanted`."""
    if found != wanted:
        raise CorruptPage(clause, place, found, wanted)
