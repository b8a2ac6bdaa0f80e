"""Suffix array: where the endings of a text begin, in the order of the endings.

An ending that another one begins with comes before it. Endings are first put in order by seven
bytes; those that are equal so far by the rank of what follows, twice as far each time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FIRST_BYTES = 7
"""Bytes that the first order looks at; the eighth of a key says how many of them there are."""

Positions = NDArray[np.int64]


def suffix_array(text: NDArray[np.uint8]) -> Positions:
    """Return the first byte of every ending of a text below 2**31 bytes, endings ascending."""
    size = len(text)
    keys = _first_keys(text)
    order = np.argsort(keys).astype(np.int64)
    starts = np.flatnonzero(_differs(keys[order]))
    rank = np.empty(size, np.int64)
    rank[order] = np.repeat(starts, np.diff(starts, append=size))
    equal = _in_groups(starts, np.arange(size))
    ahead = FIRST_BYTES
    while len(equal):
        endings = order[equal]
        follow = endings + ahead
        second = np.zeros(len(endings), np.int64)
        inside = follow < size
        second[inside] = rank[follow[inside]] + 1
        keys = rank[endings].astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)
        by_key = np.argsort(keys)
        endings, keys = endings[by_key], keys[by_key]
        order[equal] = endings
        starts = np.flatnonzero(_differs(keys))
        rank[endings] = np.repeat(equal[starts], np.diff(starts, append=len(equal)))
        equal = _in_groups(starts, equal)
        ahead *= 2
    return order


def _first_keys(text: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return of every ending its first bytes, and how many there are of them."""
    size = len(text)
    padded = np.concatenate([text, np.zeros(FIRST_BYTES, np.uint8)])
    keys = np.zeros(size, np.uint64)
    for place in range(FIRST_BYTES):
        keys = keys << np.uint64(8) | padded[place : place + size]
    left = np.minimum(np.arange(size, 0, -1), FIRST_BYTES)
    return keys << np.uint64(8) | left.astype(np.uint64)


def _differs(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return for each key whether it differs from the one before."""
    found = np.ones(len(keys), np.bool_)
    found[1:] = keys[1:] != keys[:-1]
    return found


def _in_groups(starts: Positions, places: Positions) -> Positions:
    """Return the places that belong to a group of more than one; groups begin at `starts`."""
    sizes = np.diff(starts, append=len(places))
    return places[np.repeat(sizes > 1, sizes)]
