"""Layers: the nesting around a leaf, as pages describe it and as rows have it.

One physical column stores one leaf of a field's type tree. The way from the field to that leaf is a
path of steps (list, struct, fixed-size list of structs, leaf); a page describes the same way as a
list of `RepDefLayer` codes, innermost first, which also says what can be null or empty in this
page. The codes give every definition level its meaning.

Decoded rows have for every layer its validity and, for lists, its offsets; the innermost content is
the leaf's Arrow array. All of it are views that can be cut at any row without a copy, so that
leaves whose pages do not align can be brought to the same rows.

Layout (RepDefLayer): 1 ALL_VALID_ITEM, 2 ALL_VALID_LIST, 3 NULLABLE_ITEM, 4 NULLABLE_LIST,
5 EMPTYABLE_LIST, 6 NULL_AND_EMPTY_LIST; a struct or a fixed-size list of structs is an item layer.
Levels are numbered from the inside out: codes 3, 4 and 5 take one level, 6 takes two (null, then
empty), 1 and 2 none; level 0 is valid all the way.

Clauses: L.page.layers.present, L.page.layers.code, L.page.layers.path, L.page.layers.dimension,
L.page.levels.numbering, L.page.levels.visible
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import prod
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.cursor import FileBytes
from lanceref.core.errors import CorruptPage, Place
from lanceref.core.file_versions import FileVersion
from lanceref.file.container import PageMetadata
from lanceref.file.schema import Field

ALL_VALID_ITEM, ALL_VALID_LIST, NULLABLE_ITEM, NULLABLE_LIST, EMPTYABLE_LIST, NULL_AND_EMPTY = (
    range(1, 7)
)
"""The codes of RepDefLayer."""

ITEM_CODES = (ALL_VALID_ITEM, NULLABLE_ITEM)
"""Codes of structs, fixed-size lists of them and leaves."""


def levels_of(code: int) -> int:
    """Return how many definition levels a layer takes."""
    return {ALL_VALID_ITEM: 0, ALL_VALID_LIST: 0, NULL_AND_EMPTY: 2}.get(code, 1)


def levels_until_list(codes: Sequence[int], start: int = 0) -> int:
    """Return the levels of the item layers from `start` up to the next list layer."""
    levels = 0
    for code in codes[start:]:
        if code not in ITEM_CODES:
            break
        levels += levels_of(code)
    return levels


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
    if field.is_leaf:
        return [(PathStep(Step.LEAF, field),)]
    step = PathStep(Step.LIST, field)
    if field.logical_type == "struct":
        step = PathStep(Step.STRUCT, field)
    elif field.logical_type.startswith("fixed_size_list"):
        step = PathStep(Step.FIXED_SIZE_LIST, field, field.arrow.type.list_size)
    return [(step, *path) for child in field.children for path in leaf_paths(child)]


def scale_of(path: Path) -> int:
    """Return the page slots per row: the product of the fixed-size lists on the way."""
    return prod(step.dimension for step in path)


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
    """Compare the codes of a page with the path of its leaf and number the levels.

    Raises CorruptPage for codes that do not describe the path.
    """
    if not codes:
        raise CorruptPage("L.page.layers.present", place, "no layers", "one per step")
    for code in codes:
        if not ALL_VALID_ITEM <= code <= NULL_AND_EMPTY:
            raise CorruptPage("L.page.layers.code", place, f"layer {code}", "1 to 6")
    kinds = ["item" if code in ITEM_CODES else "list" for code in codes]
    wanted = ["list" if step.step is Step.LIST else "item" for step in path[::-1]]
    if kinds != wanted:
        raise CorruptPage("L.page.layers.path", place, ", ".join(kinds), ", ".join(wanted))
    scale = scale_of(path)
    if scale < 1:
        raise CorruptPage("L.page.layers.dimension", place, scale, "1 or more items")
    return _number(tuple(codes), tuple(step.dimension for step in path[::-1]), scale)


@lru_cache
def _number(codes: tuple[int, ...], dimensions: tuple[int, ...], scale: int) -> Layers:
    own, layers = 0, []
    for at, (code, dimension) in enumerate(zip(codes, dimensions, strict=True)):
        below = own
        own += levels_of(code)  # L.page.levels.numbering
        layers.append(
            PageLayer(
                is_list=code not in ITEM_CODES,
                dimension=dimension,
                below=below,
                own=own,
                window=own + levels_until_list(codes, at + 1),
                null=below + 1 if code in (NULLABLE_ITEM, NULLABLE_LIST, NULL_AND_EMPTY) else None,
                empty=own if code in (EMPTYABLE_LIST, NULL_AND_EMPTY) else None,
            )
        )
    lists = sum(layer.is_list for layer in layers)
    max_visible = levels_until_list(codes)  # L.page.levels.visible
    return Layers(tuple(layers), lists, own, max_visible, scale)


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
        """Number of rows that the piece holds."""
        return self.layers[0].count if self.layers else len(self.leaf)

    def slice(self, start: int, end: int) -> Nested:
        """Return rows `start` to `end` of the piece as views."""
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


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page in its file: what the file says of it, the type of its leaf, and the version."""

    file: FileBytes
    metadata: PageMetadata
    type: pa.DataType
    version: FileVersion


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
