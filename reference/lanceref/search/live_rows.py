"""Live rows: which keys of a segment are of rows that count, and the ids these have now.

A row counts that lives in a fragment that the segment covers, and passes the filter if one is asked
before.

Clauses: L.index.vector.row-id
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import OutOfRange
from lanceref.index.row_set import LOW, SHIFT, Keys
from lanceref.index.segment import Moved, Segment
from lanceref.search.rows import Condition
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import FragmentRows

Mask = NDArray[np.bool_]


def live_rows(
    segment: Segment,
    fragments: Sequence[FragmentRows],
    condition: Condition | None,
    *,
    by_address: bool,
) -> Moved:
    """Return what says of keys which rows of some fragments they are."""
    if by_address:
        return segment.then(_Addresses(segment, fragments, condition))
    return _Ids(fragments, condition)


class Remembered:
    """Asks once about the keys of each partition, which stay the same array."""

    def __init__(self, moved: Moved) -> None:
        self._moved = moved
        self._found: dict[int, tuple[Keys, tuple[Mask, Keys]]] = {}

    def __call__(self, keys: Keys) -> tuple[Mask, Keys]:
        if id(keys) not in self._found:
            self._found[id(keys)] = keys, self._moved(keys)
        return self._found[id(keys)][1]


class _Addresses:
    """Looks addresses up in one mask over the rows of all fragments."""

    def __init__(
        self,
        segment: Segment,
        fragments: Sequence[FragmentRows],
        condition: Condition | None,
    ) -> None:
        fragments = sorted(fragments, key=lambda rows: rows.fragment.id)
        self._segment = segment
        self._owners = np.array([rows.fragment.id for rows in fragments], np.uint64)
        self._sizes = np.array([rows.columns.stated_rows for rows in fragments], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        whole = condition is None and not any(len(rows.deleted) for rows in fragments)
        self._mask = None if whole else self._live(fragments, condition)

    def _live(self, fragments: Sequence[FragmentRows], condition: Condition | None) -> Mask:
        mask = np.zeros(int(self._sizes.sum()), np.bool_)
        for start, rows in zip(self._starts.tolist(), fragments, strict=True):
            chosen = np.arange(rows.num_rows) if condition is None else condition.positions(rows)
            mask[start + rows.offsets(chosen)] = True
        return mask

    def __call__(self, keys: Keys) -> tuple[Mask, Keys]:
        if not len(self._owners):
            return np.zeros(len(keys), np.bool_), keys[:0]
        owners, offsets = keys >> SHIFT, (keys & LOW).astype(np.int64)
        places = np.minimum(np.searchsorted(self._owners, owners), len(self._owners) - 1)
        kept = self._owners[places] == owners
        beyond = kept & (offsets >= self._sizes[places])
        if beyond.any():
            raise OutOfRange(
                "L.index.vector.row-id",
                self._segment.place,
                found=f"row address {int(keys[np.argmax(beyond)])} in {self._segment.folder}",
                wanted=f"one of {int(self._sizes[places[np.argmax(beyond)]])} rows",
            )
        if self._mask is not None:
            kept[kept] = self._mask[(self._starts[places] + offsets)[kept]]
        return kept, keys if kept.all() else keys[kept]


class _Ids:
    """Looks ids up among those of all rows that count."""

    def __init__(self, fragments: Sequence[FragmentRows], condition: Condition | None) -> None:
        parts = [np.empty(0, np.uint64)]
        for rows in fragments:
            chosen = np.arange(rows.num_rows) if condition is None else condition.positions(rows)
            parts.append(rows.take(chosen, (), (ROW_ID,))[0].to_numpy())
        self._ids = np.sort(np.concatenate(parts))

    def __call__(self, keys: Keys) -> tuple[Mask, Keys]:
        if not len(self._ids):
            return np.zeros(len(keys), np.bool_), keys[:0]
        places = np.minimum(np.searchsorted(self._ids, keys), len(self._ids) - 1)
        kept = self._ids[places] == keys
        return kept, keys[kept]
