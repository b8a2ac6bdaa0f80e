"""Impacts: of every posting block, and of every 32 blocks, what a document could score at most.

They are pairs of a frequency and the code of a document length such that no document of the block
has a higher frequency and is shorter too. A code keeps the four leading bits of a length.

Layout: varint last document; varint number of pairs; of each pair, by rising frequency, varint
(frequency - last - 1) << 1 | flag, and with the flag u8 the step of the code, which is 1 without.

Clauses: L.index.fts.impacts.count, L.index.fts.impacts.pairs
"""

from __future__ import annotations

import numpy as np

from lanceref.index.fulltext.bit_packer import Numbers
from lanceref.index.fulltext.posting_blocks import BlockLayout, Postings
from lanceref.index.fulltext.varints import encode_varint

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
