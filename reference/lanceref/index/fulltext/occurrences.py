"""Occurrences: which tokens stand in which documents, how often, and where.

They are held by rising number of the token, those of a token by rising document, until a partition
is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lanceref.index.fulltext.bit_packer import Numbers
from lanceref.index.fulltext.byte_runs import Counts, offsets_of, ranges

_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Of each token and document: their numbers, and how often one is in the other, uint32.

    `positions` are those of all, one behind the other; empty where none are kept.
    """

    tokens: Numbers
    documents: Numbers
    frequencies: Numbers
    positions: Numbers

    def part(self, start: int, end: int) -> Occurrences:
        """Return some of them."""
        ends = np.zeros(2, np.int64)
        if len(self.positions):
            ends[:] = self.frequencies[:start].sum(), self.frequencies[:end].sum()
        return Occurrences(
            self.tokens[start:end],
            self.documents[start:end],
            self.frequencies[start:end],
            self.positions[slice(*ends.tolist())],
        )


def counted(tokens: Numbers, documents: Numbers, positions: Numbers | None) -> Occurrences:
    """Return the occurrences of tokens in documents, which rise, as they come in the text."""
    order = np.arange(len(tokens), dtype=np.uint64)
    order |= tokens.astype(np.uint64) << np.uint64(32)
    order.sort()
    order &= _LOW
    own, held = tokens[order], documents[order]
    first = np.ones(len(own), np.bool_)
    first[1:] = (own[1:] != own[:-1]) | (held[1:] != held[:-1])
    starts = np.flatnonzero(first)
    frequencies = np.diff(starts, append=len(own)).astype(np.uint32)
    places = np.empty(0, np.uint32) if positions is None else positions[order]
    return Occurrences(own[starts], held[starts], frequencies, places)


def gathered(parts: Sequence[Occurrences]) -> Occurrences:
    """Return the occurrences of all parts, whose documents follow each other."""
    none = np.empty(0, np.uint32)
    every = Occurrences(
        np.concatenate([none, *(part.tokens for part in parts)]),
        np.concatenate([none, *(part.documents for part in parts)]),
        np.concatenate([none, *(part.frequencies for part in parts)]),
        np.concatenate([none, *(part.positions for part in parts)]),
    )
    if len(parts) < 2:
        return every
    order = np.arange(len(every.tokens), dtype=np.uint64)
    order |= every.tokens.astype(np.uint64) << np.uint64(32)
    order.sort()
    order &= _LOW
    frequencies, places = every.frequencies[order], every.positions
    if len(places):
        starts = offsets_of(every.frequencies.astype(np.int64))[:-1]
        places = places[ranges(starts[order], frequencies.astype(np.int64))]
    return Occurrences(every.tokens[order], every.documents[order], frequencies, places)


def of_each(occurrences: Occurrences, num_tokens: int) -> Counts:
    """Return in how many documents each token is."""
    return np.bincount(occurrences.tokens, minlength=num_tokens)
