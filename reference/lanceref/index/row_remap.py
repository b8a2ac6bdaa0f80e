"""Moved rows: where rows are after a rewrite of their fragments, by row address."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from lanceref.index.row_set import SHIFT, Keys


class MovedRows:
    """Rows that were at `before` are at `after`; all others of the fragments are gone."""

    def __init__(self, before: Keys, after: Keys, fragments: Collection[int]) -> None:
        order = np.argsort(before)
        self._before, self._after = before[order], after[order]
        self._fragments = np.array(sorted(fragments), np.uint64)

    def __call__(self, keys: Keys) -> tuple[NDArray[np.bool_], Keys]:
        """Return which keys are left, and where these are; keys of other fragments stay."""
        moved = np.isin(keys >> SHIFT, self._fragments)
        if not len(self._before):
            return ~moved, keys[~moved]
        at = np.minimum(np.searchsorted(self._before, keys), len(self._before) - 1)
        kept = np.asarray(~moved | (self._before[at] == keys), np.bool_)
        return kept, np.where(moved, self._after[at], keys)[kept]
