"""Plan of a filter: which rows of a fragment are looked at, and what is known of them before.

A source says which live rows may be asked for. What it says is exact when all of them are, and
nothing is left to be looked at; otherwise the filter is asked about each of them. Without a source
that knows better all rows are looked at. The statistics of 0.1 files are such a source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import NotFound
from lanceref.core.file_versions import V0_1
from lanceref.file.schema import Field, LanceSchema, project
from lanceref.file_0_1.binary import VAR_BINARY
from lanceref.search.pruning import Bounding
from lanceref.table.rows import FragmentRows


@dataclass(frozen=True, slots=True)
class Candidates:
    """Live rows of a fragment that may be asked for.

    Ascending ranges of positions, half open, or else single positions.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    positions: NDArray[np.int64] | None = None
    exact: bool = False

    @staticmethod
    def all_of(rows: FragmentRows) -> Candidates:
        """Return every live row."""
        return Candidates(((0, rows.num_rows),))


class RowSource(Protocol):
    """Says where the rows of a filter may be."""

    @property
    def explained(self) -> str:
        """What is asked, as a step of a plan; nothing when it is a part of reading."""

    def candidates(self, rows: FragmentRows) -> Candidates | None:
        """Return the candidates of a fragment, None when nothing is known of it."""


@dataclass(frozen=True, slots=True)
class BatchStatistics:
    """Skips the batches of 0.1 files whose bounds rule every row out."""

    bounded: tuple[tuple[Bounding, Field], ...]

    @property
    def explained(self) -> str:
        """Nothing: statistics are read with the data."""
        return ""

    def candidates(self, rows: FragmentRows) -> Candidates | None:
        """Return the rows of the batches that are left, None without statistics."""
        if not self.bounded or all(one.version != V0_1 for one in rows.columns.fragment.files):
            return None
        from lanceref.table.rows import batch_bounds  # files of 0.1 have statistics

        masks: list[tuple[NDArray[np.int64], NDArray[np.bool_]]] = []
        for field, bounds in batch_bounds(rows.columns, [field for _, field in self.bounded]):
            nulls, sizes = bounds.nulls, bounds.rows
            for bounding, own in self.bounded:
                if own is field:
                    mask = bounding.possible(bounds.least, bounds.greatest, nulls, sizes)
                    masks.append((bounds.offsets, np.asarray(mask.to_numpy(zero_copy_only=False))))
        if not masks:
            return None
        left = np.ones(rows.columns.physical_rows, np.bool_)
        for offsets, mask in masks:
            left &= np.repeat(mask.astype(np.bool_), np.diff(offsets))
        live = np.delete(left, rows.deleted)
        edges = np.flatnonzero(np.diff(live.astype(np.int8), prepend=0, append=0))
        return Candidates(tuple(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)))


def bounded_fields(
    boundings: Sequence[Bounding], schema: LanceSchema
) -> tuple[tuple[Bounding, Field], ...]:
    """Return the boundings of columns whose values are stored as they read, with their fields."""
    found = []
    for bounding in boundings:
        try:
            (field,) = project(schema, [bounding.path])
        except NotFound:  # a system column
            continue
        while len(field.children) == 1:
            (field,) = field.children
        empty_is_null = bounding.wants_null and field.arrow.type in VAR_BINARY
        if not field.children and not empty_is_null:
            found.append((bounding, field))
    return tuple(found)


def candidates(sources: Sequence[RowSource], rows: FragmentRows) -> Candidates:
    """Return what the first source that knows a fragment says of it."""
    for source in sources:
        found = source.candidates(rows)
        if found is not None:
            return found
    return Candidates.all_of(rows)
