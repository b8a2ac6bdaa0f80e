"""Fast form of what writes sets of rows; importing this module registers it.

Sets of few rows are written together: every number of theirs is one or two words of 16 bits, whose
places follow from how many fragments, containers and rows come before.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index import row_set
from lanceref.index.row_set import SHIFT, Keys
from lanceref.table.roaring import ARRAY_MAX, NO_RUNS

Places = NDArray[np.int64]
MANY = 256
"""Keys of a set, on average, from which on it is written by itself."""


@row_set.encode_sets.replaced_by
def encode_sets(keys: Keys, starts: Places) -> pa.Array:
    """Return each of the sets that begin at `starts` (sets,) of `keys` (n,) as bytes."""
    sizes = np.diff(starts, append=len(keys))
    if len(keys) >= MANY * len(sizes) or sizes.max() > ARRAY_MAX:
        return row_set.encode_sets.plain(keys, starts)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    rises = (keys[1:] > keys[:-1]) | (owners[1:] > owners[:-1])
    if not rises.all():
        order = np.lexsort((keys, owners))
        keys, owners = keys[order], owners[order]
        is_new = np.append(True, (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1]))
        keys, owners = keys[is_new], owners[is_new]
    return _encoded(keys, owners)


def _encoded(keys: Keys, owners: Places) -> pa.Array:
    """Return the sets of keys (n,), ascending in each, that belong to `owners` (n,), as bytes.

    Containers are arrays of words, which a set without runs has where they are not larger.
    """
    rows = np.arange(len(keys))
    containers = _firsts(keys >> np.uint64(16), owners)
    fragments = _firsts(keys >> SHIFT, owners)
    sets = _firsts(owners, owners)
    of_rows = np.searchsorted(fragments, rows, "right") - 1  # the fragment of each row
    of_containers = of_rows[containers]
    first = np.searchsorted(containers, fragments)  # container of each fragment
    counts = np.diff(first, append=len(containers))
    in_order = np.arange(len(fragments))
    # words of a set 2, of a fragment 8, of a container 4, of a row 1
    begins = 2 * (owners[fragments] + 1) + 8 * in_order + 4 * first + fragments
    heads = 2 * len(sets) + 8 * len(fragments) + 4 * len(containers)
    words = np.empty(heads + len(keys), "<u2")
    at_set = np.searchsorted(fragments, sets)
    _put(words, begins[at_set] - 2, np.diff(at_set, append=len(fragments)))
    sizes = 8 + 8 * counts + 2 * np.diff(fragments, append=len(keys))
    high = (keys >> SHIFT).astype(np.int64)
    fields = (high[fragments], sizes, np.full(len(fragments), NO_RUNS), counts)
    for number, values in enumerate(fields):
        _put(words, begins + 2 * number, values)
    at = begins[of_containers] + 8 + 2 * (np.arange(len(containers)) - first[of_containers])
    words[at] = (keys[containers] >> np.uint64(16)).astype("<u2")
    words[at + 1] = np.diff(containers, append=len(keys)) - 1
    before = 8 + 8 * counts[of_containers] + 2 * (containers - fragments[of_containers])
    _put(words, at + 2 * counts[of_containers], before)
    at = begins[of_rows] + 8 + 4 * counts[of_rows] + rows - fragments[of_rows]
    words[at] = keys.astype("<u2")
    ends = np.append(begins[at_set] - 2, len(words)).astype(np.int32) * 2
    return pa.Array.from_buffers(pa.binary(), len(sets), [None, *map(pa.py_buffer, (ends, words))])


def _firsts(numbers: NDArray[np.integer], owners: Places) -> Places:
    """Return where a number or an owner (n,) is another than that before."""
    is_new = (numbers[1:] != numbers[:-1]) | (owners[1:] != owners[:-1])
    return np.flatnonzero(np.append(True, is_new))


def _put(words: NDArray[np.uint16], places: Places, numbers: Places) -> None:
    """Store numbers of 32 bits."""
    words[places], words[places + 1] = numbers & 0xFFFF, numbers >> 16
