"""Impacts: of every posting block, and of every 32 blocks, what a document could score at most.

They are pairs of a frequency and the code of a document length such that no document of the block
has a higher frequency and is shorter too. A code keeps the four leading bits of a length.

Layout: varint last document; varint number of pairs; of each pair, by rising frequency, varint
(frequency - last - 1) << 1 | flag, and with the flag u8 the step of the code, which is 1 without.

Clauses: L.index.fts.impacts.count, L.index.fts.impacts.pairs
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.index.full_text.bit_packer import (
    ByteRuns,
    Counts,
    Numbers,
    beside,
    cut,
    encode_varint,
    placed,
    ranges,
    varint_runs,
)
from lanceref.index.full_text.posting_blocks import BlockLayout, Postings

GROUP_BLOCKS = 32
"""Posting blocks of a group."""

EXACT = 4
"""Bits of a length that are kept."""


def length_code(length: int) -> int:
    """Return the code of a document length."""
    bits = length.bit_length()
    if bits < EXACT:
        return length
    shift = bits - EXACT
    return length >> shift & 7 | shift + 1 << 3


def rounded_lengths(lengths: Numbers) -> Numbers:
    """Return document lengths with only their four leading bits."""
    bits = np.frexp(lengths.astype(np.float64))[1]
    shifts = np.maximum(0, bits - EXACT).astype(np.uint32)
    return np.asarray(lengths >> shifts << shifts, np.uint32)


def encode_impacts(postings: Postings, lengths: Numbers, layout: BlockLayout) -> list[bytes]:
    """Return the impacts of the blocks, then those of the groups; `lengths` are per posting."""

    def of_runs(rows: int) -> list[bytes]:
        runs = (slice(start, start + rows) for start in range(0, len(lengths), rows))
        return [
            encode_impact(int(postings.documents[run][-1]), postings.frequencies[run], lengths[run])
            for run in runs
        ]

    blocks = of_runs(layout.size)
    return blocks * 2 if len(blocks) == 1 else blocks + of_runs(layout.size * GROUP_BLOCKS)


def encode_impact(last: int, frequencies: Numbers, lengths: Numbers) -> bytes:
    """Return the impacts of some documents, of which `last` is the last."""
    shortest: dict[int, int] = {}
    for frequency, length in zip(frequencies.tolist(), lengths.tolist(), strict=True):
        if shortest.get(frequency, length) >= length:
            shortest[frequency] = length
    pairs: dict[int, int] = {}
    least = max(shortest.values()) + 1
    for frequency in sorted(shortest, reverse=True):
        if shortest[frequency] < least:
            least = shortest[frequency]
            pairs.setdefault(length_code(least), frequency)  # the highest frequency of a code
    out = encode_varint(last) + encode_varint(len(pairs))
    code, before = 0, 0
    for next_code, frequency in sorted(pairs.items(), key=lambda pair: pair[1]):
        step = (next_code - code) & 0xFF
        out += encode_varint(frequency - before - 1 << 1 | (step != 1))
        out += b"" if step == 1 else bytes([step])
        code, before = next_code, frequency
    return out


def impact_runs(
    postings: Postings, counts: Counts, lengths: Numbers, layout: BlockLayout
) -> tuple[ByteRuns, Counts]:
    """Return the impacts of many tokens as `encode_impacts` does, and how many each has.

    `counts` are the documents of each token; `lengths` are per posting.
    """
    cuts = [cut(counts, layout.size), cut(counts, layout.size * GROUP_BLOCKS)]
    starts, sizes, _ = (np.concatenate(one) for one in zip(*cuts, strict=True))
    tokens = [np.repeat(np.arange(len(counts)), runs) for _, _, runs in cuts]
    own = ranges(starts, sizes)
    last = postings.documents[starts + sizes - 1]
    found = _impact_runs(last, postings.frequencies[own], lengths[own], sizes)
    return placed([found], [np.concatenate(tokens)]), cuts[0][2] + cuts[1][2]


def _impact_runs(last: Numbers, frequencies: Numbers, lengths: Numbers, sizes: Counts) -> ByteRuns:
    """Return of each run of documents what `encode_impact` does."""
    run, frequency, length = _front(frequencies, lengths, sizes)
    code = _length_codes(length)
    first = np.concatenate([[True], (run[1:] != run[:-1]) | (code[1:] != code[:-1])])
    # the front comes by falling frequency, and is written by rising
    run, frequency, code = (one[first][::-1] for one in (run, frequency, code))
    begins = np.concatenate([[True], run[1:] != run[:-1]])
    before = np.where(begins, 0, np.concatenate([[0], frequency[:-1]]))
    step = code - np.where(begins, 0, np.concatenate([[0], code[:-1]])) & 0xFF
    flag = step != 1
    pairs = beside(
        varint_runs((frequency - before - 1 << 1 | flag).astype(np.uint64)),
        ByteRuns(step[flag].astype(np.uint8), flag.astype(np.int64)),
    )
    counts = np.bincount(run, minlength=len(sizes))
    backwards = np.arange(len(sizes))[::-1]
    own = pairs.merged(counts[::-1]).take(backwards)
    return beside(varint_runs(last), varint_runs(counts.astype(np.uint64)), own)


def _front(
    frequencies: Numbers, lengths: Numbers, sizes: Counts
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
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


def _length_codes(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return of each length what `length_code` does."""
    shifts = np.maximum(0, np.frexp(lengths.astype(np.float64))[1].astype(np.int64) - EXACT)
    long = lengths >= 1 << EXACT - 1
    return np.where(long, lengths >> shifts & 7 | shifts + 1 << 3, lengths)
