"""Occurrences: which tokens stand in which documents, how often, and where.

They are held by rising number of the token, those of a token by rising document, until a partition
is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.byte_runs import Counts, offsets_of, ranges

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


@dataclass(frozen=True, slots=True)
class Kept:
    """Occurrences until they are written, in numbers as narrow as hold them.

    `names` are the tokens, each once; of those before the i-th there are `ends[i]`. Documents count
    from `first` on.
    """

    names: Numbers
    ends: Counts
    first: int
    documents: NDArray[np.unsignedinteger]
    frequencies: NDArray[np.unsignedinteger]
    positions: Numbers

    def counts(self, num_tokens: int) -> Counts:
        """Return in how many of the documents each token is."""
        found = np.zeros(num_tokens, np.int64)
        found[self.names] = np.diff(self.ends)
        return found

    def of(self, start: int, end: int) -> Occurrences:
        """Return those of the tokens from one to another."""
        low, high = np.searchsorted(self.names, [start, end]).tolist()
        own = slice(*self.ends[[low, high]].tolist())
        places = np.zeros(2, np.int64)
        if len(self.positions):
            places[0] = self.frequencies[: own.start].sum(dtype=np.int64)
            places[1] = places[0] + self.frequencies[own].sum(dtype=np.int64)
        return Occurrences(
            np.repeat(self.names[low:high], np.diff(self.ends[low : high + 1])),
            self.documents[own].astype(np.uint32) + np.uint32(self.first),
            self.frequencies[own].astype(np.uint32),
            self.positions[slice(*places.tolist())],
        )


def keep(found: Occurrences) -> Kept:
    """Return occurrences to be kept."""
    starts = np.flatnonzero(np.diff(found.tokens, prepend=np.uint32(0xFFFFFFFF)))
    first = int(found.documents.min(initial=0xFFFFFFFF)) if len(found.documents) else 0
    return Kept(
        found.tokens[starts],
        np.append(starts, len(found.tokens)),
        first,
        _narrow(found.documents - np.uint32(first)),
        _narrow(found.frequencies),
        found.positions,
    )


def _narrow(numbers: Numbers) -> NDArray[np.unsignedinteger]:
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
