"""Nested values as plain Python, and the slow clear form of levels: what the tests compare with.

A row is None, a list (list or fixed-size list), a 1-tuple (struct with one child) or a leaf value.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.file.schema import Field
from lanceref.pages.layers import Layers, Nested, PageLayer, parse_layers
from lanceref.pages.leafvalues import Path, PathStep, Step

PLACE = Context("test").at(0)
_FIELD = Field("f", 0, -1, "int64", True, {}, (), pa.field("f", pa.int64()))


def path_of(*steps: Step | int) -> Path:
    """Build a path; a number is a fixed-size list of that dimension."""
    return tuple(
        PathStep(Step.FIXED_SIZE_LIST, _FIELD, step)
        if isinstance(step, int)
        else PathStep(step, _FIELD)
        for step in steps
    )


def layers_of(path: Path, codes: Sequence[int]) -> Layers:
    """Number the levels of a path; `codes` innermost first."""
    return parse_layers(codes, path, PLACE)


def shred(
    rows: Sequence[object], layers: Layers
) -> tuple[list[int], list[int], list[object], list[int]]:
    """Write rows as (repetition, definition, values of visible entries, entries of each row)."""
    entries: list[tuple[int, int]] = []
    values: list[object] = []
    outer = layers.layers[::-1]

    def emit(value: object, depth: int, rep: int) -> None:
        layer = outer[depth]
        if value is None or (layer.is_list and value == []):
            level = layer.null if value is None else layer.empty
            assert level is not None
            for _ in range(_copies(outer, depth) if value is None and not layer.is_list else 1):
                entries.append((rep, level))
                if level <= layers.max_visible:
                    values.append(None)
        elif depth + 1 == len(outer):
            entries.append((rep, 0))
            values.append(value)
        elif isinstance(value, tuple):
            emit(value[0], depth + 1, rep)
        else:
            inside = sum(below.is_list for below in outer[depth + 1 :])
            for at, item in enumerate(value):
                emit(item, depth + 1, inside if layer.is_list and at else rep)

    counts = []
    for row in rows:
        before = len(entries)
        emit(row, 0, layers.max_rep)
        counts.append(len(entries) - before)
    return [r for r, _ in entries], [d for _, d in entries], values, counts


def _copies(outer: Sequence[PageLayer], depth: int) -> int:
    """Return how many elements a null item layer still has: those of fixed-size lists inside."""
    copies = 1
    for layer in outer[depth:]:
        if layer.is_list:
            break
        copies *= layer.dimension
    return copies


def recursive(rep: list[int], definition: list[int], values: list[object], layers: Layers) -> list:
    """Read levels back, entry by entry (no fixed-size list layers): the specification."""
    outer = layers.layers[::-1]
    index, visible = [], -1
    for level in definition:
        visible += level <= layers.max_visible
        index.append(visible)

    def slot(depth: int, start: int, end: int, rank: int) -> object:
        layer = outer[depth]
        if layer.null is not None and definition[start] == layer.null:
            return None
        if depth + 1 == len(outer):
            return values[index[start]]
        if not layer.is_list:
            return (slot(depth + 1, start, end, rank),)
        if layer.empty is not None and definition[start] == layer.empty:
            return []
        cuts = [start, *(i for i in range(start + 1, end) if rep[i] == rank - 1), end]
        return [slot(depth + 1, a, b, rank - 1) for a, b in itertools.pairwise(cuts)]

    starts = [i for i, r in enumerate(rep) if r == layers.max_rep]
    bounds = [*starts, len(rep)]
    return [slot(0, a, b, layers.max_rep) for a, b in itertools.pairwise(bounds)]


def to_rows(nested: Nested, path: Path) -> list[object]:
    """Turn unravelled layers back into plain rows."""

    def slot(depth: int, at: int) -> object:
        if depth == len(nested.layers):
            return nested.leaf[at].as_py()
        layer = nested.layers[depth]
        if layer.validity is not None and not layer.validity[at]:
            return None
        if path[depth].step is Step.STRUCT:
            return (slot(depth + 1, at),)
        if layer.offsets is None:
            return [slot(depth + 1, at * layer.dimension + i) for i in range(layer.dimension)]
        first, last = int(layer.offsets[at]), int(layer.offsets[at + 1])
        return [slot(depth + 1, i) for i in range(first, last)]

    return [slot(0, at) for at in range(nested.num_rows)]
