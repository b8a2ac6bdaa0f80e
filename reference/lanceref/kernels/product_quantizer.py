"""Product quantizer: vectors as codes of their sub-vectors.

A vector of d numbers is cut into m sub-vectors of d / m, and each is replaced by the number of the
nearest of k = 2 ** bits codewords (Jegou, Douze, Schmid: Product quantization for nearest neighbor
search, 2011, section II). The distance of a query from a vector is estimated by that from its
codewords (section III, asymmetric), a sum that needs one table for each query:

    l2   T[m][c] = |q_m - w_mc| ** 2,   distance = sum of T[m][code[m]]
    dot  T[m][c] = 1 - q_m.w_mc,        distance = sum of T[m][code[m]] - (m - 1)

Codes are [m, n], one row for each sub-vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.kernels import kmeans
from lanceref.kernels.assignment import assign
from lanceref.kernels.bounded import Rows, nearest
from lanceref.kernels.distance import AnyVectors, Floats, Metric, accumulator
from lanceref.kernels.look_up import Pairs, looked_up, looked_up_in

Codes = NDArray[np.uint8]

FEW = 256
"""Rows up to which the bytes of all columns are looked up at once."""


@dataclass(frozen=True, slots=True)
class ProductQuantizer:
    """The codewords, [m, k, d / m] with k 16 or 256, and the metric: l2 or dot."""

    codebook: AnyVectors
    metric: Metric

    @property
    def num_bits(self) -> int:
        """Bits of a code: 4 or 8."""
        return int(self.codebook.shape[1]).bit_length() - 1

    def encode(self, vectors: AnyVectors) -> Codes:
        """Return the codes [m, n] of vectors [n, d]: whatever the metric, the nearest by l2."""
        codes = np.empty((len(self.codebook), len(vectors)), np.uint8)
        parts = np.split(vectors, len(self.codebook), axis=1)
        for row, part, words in zip(codes, parts, self.codebook, strict=True):
            row[:] = assign(part, words, "l2")
        return codes

    def decode(self, codes: Codes) -> AnyVectors:
        """Return the vectors [n, d] that codes [m, n] stand for."""
        return np.concatenate(
            [words[row] for words, row in zip(self.codebook, codes, strict=True)], axis=1
        )

    def table(self, query: AnyVectors) -> Floats:
        """Return for a query [d] what each column of stored bytes adds to the distance: [w, 256].

        For codes of 4 bits, that is the sum of what the two halves of a byte add.
        """
        wide = accumulator(self.codebook)
        parts = query.astype(wide).reshape(len(self.codebook), 1, -1)
        words = self.codebook.astype(wide, copy=False)
        if self.metric == "dot":
            table = 1 - np.einsum("mkj,mij->mk", words, parts)
        else:
            gaps = words - parts
            table = np.einsum("mkj,mkj->mk", gaps, gaps)
        sums: Floats = table.astype(np.float32)
        if self.num_bits == 4:
            sums = (sums[1::2, :, None] + sums[0::2, None, :]).reshape(-1, 256)
        return sums

    def distances(self, table: Floats, columns: Codes | Pairs) -> Floats:
        """Return estimated distances [n] of a query with this table from stored bytes [w, n]."""
        few = columns.dtype == np.uint8 and columns.shape[1] <= FEW
        sums = looked_up_in(table, columns.view(np.uint8)) if few else looked_up(table, columns)
        if self.metric == "dot":
            sums -= np.float32(len(self.codebook) - 1)
        return sums

    def nearest(
        self, table: Floats, columns: Codes | Pairs, kept: NDArray[np.bool_], k: int
    ) -> tuple[Rows, Floats]:
        """Return rows, in order, of those that are kept [n], and their distances.

        The k nearest are among them: by l2, all others are as far by half of the sub-vectors alone.
        """
        half = len(columns) // 2 if self.metric == "l2" else 0
        if not half:
            rows: Rows = np.flatnonzero(kept)
            return rows, self.distances(table, columns)[rows]
        split = half * len(table) // len(columns)
        sums = looked_up(table[:split], columns[:half])
        sums[~kept] = np.inf

        def whole(rows: Rows) -> Floats:
            return looked_up(table[split:], columns[half:, rows], sums[rows])

        rows, near = nearest(sums, k, whole)
        there = kept[rows]
        return rows[there], near[there]


def train(
    vectors: AnyVectors,
    num_sub_vectors: int,
    num_bits: int,
    metric: Metric,
    random: np.random.Generator,
    rounds: int = kmeans.ROUNDS,
) -> ProductQuantizer:
    """Return a quantizer whose codewords are the centroids of sub-vectors of [n, d], n at least k.

    d is a multiple of `num_sub_vectors`.
    """
    parts = np.split(vectors, num_sub_vectors, axis=1)
    words = [
        kmeans.train(np.ascontiguousarray(part), 2**num_bits, "l2", random, rounds)
        for part in parts
    ]
    return ProductQuantizer(np.stack(words), metric)
