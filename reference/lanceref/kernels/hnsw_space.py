"""Space: how far the vectors of a graph are from each other, many pairs at once.

Every distance of stored vectors is, up to a constant, that of a matrix product:
`|x - y|^2 = |x|^2 + |y|^2 - 2 x.y`, `1 - x.y`, and for bits `x + y - 2 x y` summed, which is the
first formula again. So a space keeps 32-bit vectors and which of the two formulas holds: cosine
vectors are brought to unit length, those of Hamming distance spread into bits. The products lose
digits where distances are small beside the vectors; what is stored in a graph is computed by
differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels.hnsw_graph import Distances, Nodes

Vectors = NDArray[np.float32]

PAIRS_AT_ONCE = 1 << 14
"""Pairs whose differences are computed together."""


SMALLEST = np.float32(2**-126)
"""What a squared length is taken for at least where it is divided by."""


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors (n, d), whether distances are squared l2 (else 1 - x.y), squared norms (n,)."""

    vectors: Vectors
    is_l2: bool
    norms: Distances

    def take(self, rows: Nodes | slice) -> Space:
        """Return the space of some of the vectors."""
        return Space(self.vectors[rows], self.is_l2, self.norms[rows])

    @property
    def directions(self) -> Space:
        """The space by whose l2 near vectors lie together: by dot those of one direction."""
        if self.is_l2:
            return self
        lengths = np.sqrt(np.maximum(self.norms, SMALLEST))
        return Space(
            (self.vectors / lengths[:, None]).astype(np.float32), True, np.ones_like(self.norms)
        )

    def to(self, other: Space) -> Distances:
        """Return the distances (n, m) of all vectors to all m of another space."""
        products: Distances = self.vectors @ other.vectors.T
        if not self.is_l2:
            np.subtract(1, products, out=products)
            return products
        products *= -2
        products += other.norms
        products += self.norms[:, None]
        np.maximum(products, 0, out=products)
        return products

    def to_one(self, places: Nodes) -> Distances:
        """Return the distances (b, k) of b groups of k to one member of each, by its place.

        The vectors are those of the groups, one group behind the other.
        """
        count = len(places)
        group = self.vectors.reshape(count, -1, self.vectors.shape[1])
        products: Distances = (group @ group[np.arange(count), places, :, None])[:, :, 0]
        if not self.is_l2:
            np.subtract(1, products, out=products)
            return products
        norms = self.norms.reshape(count, -1)
        products *= -2
        products += norms
        products += np.take_along_axis(norms, places[:, None], 1)
        return np.maximum(products, 0, out=products)

    def pairs(self, left: Nodes, right: Nodes) -> Distances:
        """Return the distances (p,) of pairs of rows, to the last digits of 32-bit floats."""
        out = np.empty(len(left), np.float32)
        for start in range(0, len(left), PAIRS_AT_ONCE):
            run = slice(start, start + PAIRS_AT_ONCE)
            x, y = self.vectors[left[run]], self.vectors[right[run]]
            if self.is_l2:
                x -= y
                out[run] = np.einsum("ij,ij->i", x, x)
            else:
                out[run] = 1 - np.einsum("ij,ij->i", x, y)
        return out


def space_of(vectors: NDArray[np.generic], metric: str) -> Space:
    """Return the space of vectors (n, d) under l2, cosine, dot or hamming (of bytes)."""
    if metric == "hamming":
        floats = np.unpackbits(vectors.astype(np.uint8), axis=1).astype(np.float32)
    else:
        floats = np.ascontiguousarray(vectors, np.float32)
    norms = np.einsum("ij,ij->i", floats, floats)
    if metric == "cosine":
        with np.errstate(invalid="ignore", divide="ignore"):
            floats = floats / np.sqrt(norms)[:, None]
        norms = np.ones_like(norms)
    return Space(floats, metric in ("l2", "hamming"), norms)
