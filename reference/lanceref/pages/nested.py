"""Nested rows of one leaf: what the levels of a page become.

Every layer around the leaf is described by its validity and, for lists, its offsets; the innermost
content is the leaf's Arrow array. All of it are views that can be cut at any row without a copy, so
that leaves whose pages do not align can be brought to the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


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
