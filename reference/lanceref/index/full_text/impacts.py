"""Impacts: of every posting block, and of every 32 blocks, what a document could score at most.

They are pairs of a frequency and the code of a document length such that no document of the block
has a higher frequency and is shorter too. A code keeps the four leading bits of a length.

Layout: varint last document; varint number of pairs; of each pair, by rising frequency, varint
(frequency - last - 1) << 1 | flag, and with the flag u8 the step of the code, which is 1 without.
The entries of the blocks of a token come first, then those of its groups of 32 blocks.

Clauses: L.index.fts.impacts.count, L.index.fts.impacts.pairs
"""

from __future__ import annotations

import numpy as np

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

GROUP_BLOCKS = 32
"""Posting blocks of a group."""

EXACT = 4
"""Bits of a length that are kept."""


def rounded_lengths(lengths: Numbers) -> Numbers:
    """Return document lengths with only their four leading bits."""
    bits = np.frexp(lengths.astype(np.float64))[1]
    shifts = np.maximum(0, bits - EXACT).astype(np.uint32)
    return np.asarray(lengths >> shifts << shifts, np.uint32)


def length_codes(lengths: Counts) -> Counts:
    """Return the code of each document length: below 8 itself."""
    shifts = np.maximum(0, np.frexp(lengths.astype(np.float64))[1].astype(np.int64) - EXACT)
    long = lengths >= 1 << EXACT - 1
    return np.where(long, lengths >> shifts & 7 | shifts + 1 << 3, lengths)


def impact_runs(
    postings: Postings, counts: Counts, lengths: Numbers, layout: BlockLayout
) -> tuple[ByteRuns, Counts]:
    """Return the impacts of many tokens, and how many each has.

    `counts` are the documents of each token; `lengths` are per posting.
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
    """Return run, frequency and length of the documents than which none is better.

    Runs rise; in each the frequencies fall, and the lengths.
    """
    runs = np.repeat(np.arange(len(sizes)), sizes)
    frequency, length = frequencies.astype(np.int64), lengths.astype(np.int64)
    order = np.lexsort((length, -frequency, runs))
    runs, frequency, length = runs[order], frequency[order], length[order]
    falling = length - runs * (int(length.max(initial=0)) + 1)
    least = np.minimum.accumulate(falling)
    kept = np.concatenate([[True], falling[1:] < least[:-1]])
    return runs[kept], frequency[kept], length[kept]
