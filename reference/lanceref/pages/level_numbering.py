"""Level numbering: the layers around a leaf, and what every definition level of a page means.

Layout (RepDefLayer): 1 ALL_VALID_ITEM, 2 ALL_VALID_LIST, 3 NULLABLE_ITEM, 4 NULLABLE_LIST,
5 EMPTYABLE_LIST, 6 NULL_AND_EMPTY_LIST; a struct or a fixed-size list of structs is an item layer.
Levels are numbered from the inside out: codes 3, 4 and 5 take one level, 6 takes two (null, then
empty), 1 and 2 none; level 0 is valid all the way.

Clauses: L.page.levels.numbering, L.page.levels.visible
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

ALL_VALID_ITEM, ALL_VALID_LIST, NULLABLE_ITEM, NULLABLE_LIST, EMPTYABLE_LIST, NULL_AND_EMPTY = (
    range(1, 7)
)
"""The codes of RepDefLayer."""

ITEM_CODES = (ALL_VALID_ITEM, NULLABLE_ITEM)
"""Codes of structs, fixed-size lists of them and leaves."""


def levels_of(code: int) -> int:
    """Return how many definition levels a layer takes."""
    return (0, 0, 0, 1, 1, 1, 2)[code]


def levels_until_list(codes: Sequence[int]) -> int:
    """Return the levels of the item layers up to the next list layer."""
    return sum(map(levels_of, takewhile(ITEM_CODES.__contains__, codes)))


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


@lru_cache
def number_levels(codes: tuple[int, ...], dimensions: tuple[int, ...], scale: int) -> Layers:
    """Number the levels of layers, given with the innermost first."""
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
                window=own + levels_until_list(codes[at + 1 :]),
                null=below + 1 if code in (NULLABLE_ITEM, NULLABLE_LIST, NULL_AND_EMPTY) else None,
                empty=own if code in (EMPTYABLE_LIST, NULL_AND_EMPTY) else None,
            )
        )
    lists = sum(layer.is_list for layer in layers)
    max_visible = levels_until_list(codes)  # L.page.levels.visible
    return Layers(tuple(layers), lists, own, max_visible, scale)
