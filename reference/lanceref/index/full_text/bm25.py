"""BM25: how well a document answers a query, in 32-bit floats.

Robertson and Zaragoza, The probabilistic relevance framework: BM25 and beyond (2009), section 3.4,
with the weight of Robertson and Sparck Jones of section 3.1, 1 added inside of the logarithm.

A token in n of N documents weighs ln((N - n + 0.5) / (n + 0.5) + 1). In a document of length L, of
the mean length M, that holds it f times, it counts (K1 + 1) f / (f + K1 (1 - B + B L / M)) as much.

Impacts bound what a document of a posting block, and of every 32 blocks, can score. They are pairs
of a frequency and the code of a document length such that no document of the block has a higher
frequency and is shorter too. A code keeps the four leading bits of a length. The entries of the
blocks of a token come first, then those of its groups of 32 blocks.

Layout of an entry: varint last document; varint number of pairs; of each pair, by rising frequency,
varint (frequency - last - 1) << 1 | flag, and with the flag u8 the step of the code, which is 1
without.

Clauses: L.index.fts.score, L.index.fts.score.statistics, L.index.fts.score.rounded-length,
L.index.fts.impacts.count, L.index.fts.impacts.pairs
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.index.full_text.packed_integers import (
    ByteRuns,
    Counts,
    Numbers,
    arrange_runs,
    ranges,
    split_groups,
    varint_runs,
    zip_runs,
)
from lanceref.index.full_text.posting_blocks import BlockLayout, Postings

Scores = NDArray[np.float32]

GROUP_BLOCKS = 32
"""Posting blocks of a group of impacts."""

EXACT = 4
"""Bits of a length that its code keeps."""

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
    return np.asarray(K1 * (B * lengths.astype(np.float32) / mean_length + (ONE - B)))


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
    return np.asarray((K1 + ONE) * own / (own + norm))


def bounds(
    frequencies: Numbers, norm: Scores, starts: NDArray[np.int64], own_weights: Scores
) -> Scores:
    """Return the highest scores of runs of documents, as they are stored.

    `starts` are where runs begin, `own_weights` the weights of their tokens. The first two are
    (postings,), `starts`, `own_weights` and the result (runs,).
    """
    own = frequencies.astype(np.float32)
    greatest = np.maximum.reduceat(own / (own + norm), starts)
    return np.asarray(greatest * (own_weights * (K1 + ONE)))


def rounded_lengths(lengths: Numbers) -> Numbers:
    """Return document lengths with only their four leading bits. `lengths` and the result (n,)."""
    bits = np.frexp(lengths.astype(np.float64))[1]
    shifts = np.maximum(0, bits - EXACT).astype(np.uint32)
    return np.asarray(lengths >> shifts << shifts, np.uint32)


def length_codes(lengths: Counts) -> Counts:
    """Return the code of each document length: below 8 itself. `lengths` and the result (n,)."""
    shifts = np.maximum(0, np.frexp(lengths.astype(np.float64))[1].astype(np.int64) - EXACT)
    long = lengths >= 1 << EXACT - 1
    return np.where(long, lengths >> shifts & 7 | shifts + 1 << 3, lengths)


def impact_runs(
    postings: Postings, counts: Counts, lengths: Numbers, layout: BlockLayout
) -> tuple[ByteRuns, Counts]:
    """Return the impacts of many tokens, and how many each has.

    `counts` are the documents of each token; `lengths` are per posting. `counts` and the last
    result (tokens,), `lengths` (postings,).
    """
    cuts = [split_groups(counts, layout.size), split_groups(counts, layout.size * GROUP_BLOCKS)]
    starts, sizes, _ = (np.concatenate(one) for one in zip(*cuts, strict=True))
    tokens = [np.repeat(np.arange(len(counts)), runs) for _, _, runs in cuts]
    own = ranges(starts, sizes)
    last = postings.documents[starts + sizes - 1]
    impacts = _impact_runs(last, postings.frequencies[own], lengths[own], sizes)
    return arrange_runs([impacts], [np.concatenate(tokens)]), cuts[0][2] + cuts[1][2]


def _impact_runs(last: Numbers, frequencies: Numbers, lengths: Numbers, sizes: Counts) -> ByteRuns:
    """Return the impacts of runs of documents; `sizes` [runs], `last` are the last of each."""
    run, frequency, length = _front(frequencies, lengths, sizes)
    code = length_codes(length)
    # of one code the highest frequency counts, which comes first
    first = np.concatenate([[True], (run[1:] != run[:-1]) | (code[1:] != code[:-1])])
    # the front comes by falling frequency, and is written by rising
    run, frequency, code = (one[first][::-1] for one in (run, frequency, code))
    begins = np.concatenate([[True], run[1:] != run[:-1]])
    before = np.where(begins, 0, np.concatenate([[0], frequency[:-1]]))
    step = code - np.where(begins, 0, np.concatenate([[0], code[:-1]])) & 0xFF
    flag = step != 1
    pairs = zip_runs(
        varint_runs((frequency - before - 1 << 1 | flag).astype(np.uint64)),
        ByteRuns(step[flag].astype(np.uint8), flag.astype(np.int64)),
    )
    counts = np.bincount(run, minlength=len(sizes))
    own = pairs.merged(counts[::-1]).take(np.arange(len(sizes))[::-1])
    return zip_runs(varint_runs(last), varint_runs(counts.astype(np.uint64)), own)


def _front(frequencies: Numbers, lengths: Numbers, sizes: Counts) -> tuple[Counts, Counts, Counts]:
    """Return run, frequency and length of the best documents, by run, both falling in each."""
    runs = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
    keys = runs << np.uint64(32) | ~frequencies
    order = np.argsort(keys)
    keys = keys[order]
    # of one frequency the shortest document counts
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    length = np.minimum.reduceat(lengths[order], first).astype(np.int64)
    runs, frequency = (keys[first] >> np.uint64(32)).astype(np.int64), frequencies[order[first]]
    # a document counts that is shorter than all of its run with higher frequencies
    falling = length - runs * (int(length.max(initial=0)) + 1)
    least = np.minimum.accumulate(falling)
    mask = np.concatenate([[True], falling[1:] < least[:-1]])
    return runs[mask], frequency[mask].astype(np.int64), length[mask]
