"""BM25: how well a document answers a query, in 32-bit floats.

Robertson and Zaragoza, The probabilistic relevance framework: BM25 and beyond (2009), section 3.4,
with the weight of Robertson and Sparck Jones of section 3.1, 1 added inside of the logarithm.

A token in n of N documents weighs ln((N - n + 0.5) / (n + 0.5) + 1). In a document of length L, of
the mean length M, that holds it f times, it counts (K1 + 1) f / (f + K1 (1 - B + B L / M)) as much.

Clauses: L.index.fts.score, L.index.fts.score.statistics, L.index.fts.score.rounded-length
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.index.full_text.packed_integers import Numbers

Scores = NDArray[np.float32]

K1, B, ONE, HALF = np.float32(1.2), np.float32(0.75), np.float32(1), np.float32(0.5)


@dataclass(frozen=True, slots=True)
class Corpus:
    """All documents: how many there are, and their tokens together."""

    num_documents: int = 0
    num_tokens: int = 0

    @property
    def mean_length(self) -> np.float32:
        """Mean number of tokens of a document."""
        if not self.num_documents:
            return np.float32(0)
        return np.float32(self.num_tokens) / np.float32(self.num_documents)

    def __add__(self, other: Corpus) -> Corpus:
        return Corpus(self.num_documents + other.num_documents, self.num_tokens + other.num_tokens)


def weights(num_documents: int, num_with_token: NDArray[np.int64]) -> Scores:
    """Return the weight of each of many tokens. `num_with_token` and the result (tokens,)."""
    n, total = num_with_token.astype(np.float32), np.float32(num_documents)
    ratio = (total - n + HALF) / (n + HALF) + ONE
    return np.log(ratio.astype(np.float64)).astype(np.float32)


def weight(num_documents: int, num_with_token: int) -> np.float32:
    """Return the inverse document frequency of a token, as BM25 weighs it."""
    return np.float32(weights(num_documents, np.array([num_with_token]))[0])


def norms(lengths: Numbers | NDArray[np.float32], mean_length: np.float32) -> Scores:
    """Return for lengths [n] the term beside the frequency in the divisor."""
    own = lengths.astype(np.float32)
    return K1 * (ONE - B + B * own / mean_length)


def scores(
    frequencies: Numbers,
    lengths: Numbers,
    documents: Numbers,
    own_weight: np.float32,
    mean_length: np.float32,
) -> Scores:
    """Return what a token adds to the score of each of the documents that hold it.

    `lengths` (all documents,), the other arrays and the result (documents with the token,).
    """
    # L.index.fts.score
    return own_weight * counts(frequencies, norms(lengths[documents], mean_length))


def counts(frequencies: Numbers | Scores, norm: Scores) -> Scores:
    """Return how much of its weight a token gives each document. All are (documents,)."""
    # L.index.fts.score
    own = frequencies.astype(np.float32)
    found: Scores = (K1 + ONE) * own
    found /= own + norm
    return found


def bounds(
    frequencies: Numbers, norm: Scores, starts: NDArray[np.int64], own_weights: Scores
) -> Scores:
    """Return the highest scores of runs of documents, as they are stored.

    `starts` are where runs begin, `own_weights` the weights of their tokens. The first two are
    (postings,), `starts`, `own_weights` and the result (runs,).
    """
    own = frequencies.astype(np.float32)
    found: Scores = np.maximum.reduceat(own / (own + norm), starts)
    return found * (own_weights * (K1 + ONE))
