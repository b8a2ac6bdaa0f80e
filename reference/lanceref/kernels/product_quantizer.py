"""Product quantizer: vectors as codes of their sub-vectors, and the sums that estimate distances.

A vector of d numbers is cut into m sub-vectors of d / m, and each is replaced by the number of the
nearest of k = 2 ** bits codewords (Jegou, Douze, Schmid: Product quantization for nearest neighbor
search, 2011, section II). The distance of a query from a vector is estimated by that from its
codewords (section III, asymmetric), a sum that needs one table for each query:

    l2   T[m][c] = |q_m - w_mc| ** 2,   distance = sum of T[m][code[m]]
    dot  T[m][c] = 1 - q_m.w_mc,        distance = sum of T[m][code[m]] - (m - 1)

Codes are [m, n], one row for each sub-vector. Codes of 8 bits are a byte each; of those of 4 bits
two lie in a byte, the first in its low half. The rows of a partition lie one after the other, or
transposed: first the first byte of each, then the second of each.

    rows        row 0: b0 b1 .. | row 1: b0 b1 .. | ..
    transposed  b0 of row 0, 1, .. | b1 of row 0, 1, .. | ..

Stored bytes are [n, w], columns [w, n]. The sum of a row is T[0][byte 0] + T[1][byte 1] + ..
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import specified
from lanceref.kernels import kmeans
from lanceref.kernels.distance import AnyVectors, Floats, Metric, accumulator
from lanceref.kernels.kmeans import assign

Sums = TypeVar("Sums", np.float32, np.int32)
Bytes = NDArray[np.uint8]


def columns_of(stored: Bytes, *, transposed: bool) -> Bytes:
    """Return the columns [w, n] of a partition whose rows are stored as [n, w]."""
    # L.index.vector.pq.layout
    return stored.reshape(stored.shape[::-1]) if transposed else np.ascontiguousarray(stored.T)


def stored_from(columns: Bytes, *, transposed: bool) -> Bytes:
    """Return the stored bytes [n, w] of a partition with these columns [w, n]."""
    if transposed:
        return np.ascontiguousarray(columns).reshape(columns.shape[::-1])
    return np.ascontiguousarray(columns.T)


def codes_in(columns: Bytes, num_bits: int) -> Bytes:
    """Return the codes [m, n] in columns: themselves, or the halves of each, 4 bits."""
    if num_bits == 8:
        return columns
    return np.stack([columns & 15, columns >> 4], axis=1).reshape(2 * len(columns), -1)


def columns_from(codes: Bytes, num_bits: int) -> Bytes:
    """Return the columns that hold codes [m, n]; m is even for 4 bits."""
    return codes if num_bits == 8 else codes[0::2] | codes[1::2] << np.uint8(4)


@specified
def look_up(table: NDArray[Sums], columns: Bytes) -> NDArray[Sums]:
    """Return the sums [n] of the entries in a table [w, 256] for columns [w, n]."""
    # L.index.vector.pq.distance
    sums: NDArray[Sums] = np.zeros(columns.shape[1], table.dtype)
    for row, column in zip(table, columns, strict=True):
        sums += row.take(column)
    return sums


@dataclass(frozen=True, slots=True)
class ProductQuantizer:
    """The codewords, [m, k, d / m] with k 16 or 256, and the metric: l2 or dot."""

    codebook: AnyVectors
    metric: Metric

    @property
    def num_bits(self) -> int:
        """Bits of a code: 4 or 8."""
        return int(self.codebook.shape[1]).bit_length() - 1

    def encode(self, vectors: AnyVectors) -> Bytes:
        """Return the codes [m, n] of vectors [n, d]: whatever the metric, the nearest by l2."""
        parts = np.split(vectors, len(self.codebook), axis=1)
        pairs = zip(parts, self.codebook, strict=True)
        return np.stack([assign(part, words, "l2").astype(np.uint8) for part, words in pairs])

    def decode(self, codes: Bytes) -> AnyVectors:
        """Return the vectors [n, d] that codes [m, n] represent."""
        pairs = zip(self.codebook, codes, strict=True)
        return np.concatenate([words[row] for words, row in pairs], axis=1)

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
        return bytewise(sums) if self.num_bits == 4 else sums

    def distances(self, table: Floats, columns: Bytes) -> Floats:
        """Return estimated distances [n] of a query with this table from stored bytes [w, n]."""
        sums = look_up(table, columns)
        if self.metric == "dot":
            sums -= np.float32(len(self.codebook) - 1)
        return sums


def bytewise(table: NDArray[Sums]) -> NDArray[Sums]:
    """Return the sums for whole bytes [w, 256] from those for their halves [2 w, 16]."""
    sums: NDArray[Sums] = (table[1::2, :, None] + table[0::2, None, :]).reshape(-1, 256)
    return sums


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
    parts = map(np.ascontiguousarray, np.split(vectors, num_sub_vectors, axis=1))
    words = [kmeans.train(part, 2**num_bits, "l2", random, rounds) for part in parts]
    return ProductQuantizer(np.stack(words), metric)
