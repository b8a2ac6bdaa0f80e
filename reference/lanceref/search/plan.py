"""Plan of a filter: which rows of a fragment are looked at, and what is known of them before.

A source says which live rows may be asked for. What it says is exact when all of them are, and
nothing is left to be looked at; otherwise the filter is asked about each of them. Without a source
that knows better all rows are looked at. The statistics of 0.1 files are such a source.

Bounds that a filter sets: what must hold of a run of rows for one of them to be asked for.

Where conditions are joined by AND, each that compares a column with literals rules out every run of
rows whose least and greatest values say that it holds for none of them.

Bounds may lie outside of the values, never inside; a bound that is null is none. NaN, which is
greater than any other value, does not count in them, nor do nulls: of a batch that has some the
bounds say nothing, because a null of 0.1 reads as a value.

Divergences: D.table.filter-null-batch-0-1, D.table.filter-single-value-batch-0-1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import NotFound
from lanceref.core.file_versions import V0_1
from lanceref.encodings_2_0.binary import STRINGS
from lanceref.file.schema import Field, LanceSchema, project
from lanceref.file_0_1.statistics import is_covered
from lanceref.index.predicate import Among, IsNull, Within
from lanceref.search.filter import And, On, Predicate
from lanceref.table.rows import FragmentRows

types = pa.types


@dataclass(frozen=True, slots=True)
class Bounding:
    """A column whose value is, in every row asked for, within `low` to `high`, or null.

    A missing end is open. `wants_null` says that null is asked for, and nothing else.
    """

    path: str
    low: pa.Scalar | None = None
    high: pa.Scalar | None = None
    wants_null: bool = False

    def possible(
        self, least: pa.Array, greatest: pa.Array, nulls: pa.Array, rows: pa.Array
    ) -> pa.Array:
        """Return for each run of rows whether one of them may be asked for: bool."""
        some = pc.greater(nulls, 0)
        if self.wants_null:
            return some
        result = pc.less(nulls, rows)
        if self.high is not None:
            within = pc.fill_null(pc.less_equal(least, self.high), True)
            result = pc.and_(result, pc.or_(some, within))
        nan_counts = types.is_floating(greatest.type) and self.high is None
        if self.low is not None and not nan_counts:
            within = pc.fill_null(pc.greater_equal(greatest, self.low), True)
            result = pc.and_(result, pc.or_(some, within))
        return result


def boundings(predicate: Predicate) -> Iterator[Bounding]:
    """Yield what the questions joined by AND say of single columns."""
    if isinstance(predicate, And):
        for part in predicate.parts:
            yield from boundings(part)
    elif isinstance(predicate, On):
        asked = predicate.question
        if isinstance(asked, IsNull):
            yield Bounding(predicate.path, wants_null=True)
        elif isinstance(asked, Among):
            yield from _bounded(predicate.path, asked.values, asked.values)
        elif isinstance(asked, Within):
            low, high = (() if end is None else (end,) for end in (asked.low, asked.high))
            yield from _bounded(predicate.path, low, high)


def _bounded(path: str, low: Sequence[pa.Scalar], high: Sequence[pa.Scalar]) -> Iterator[Bounding]:
    """Yield the bounds of a column between the least and the greatest of some values."""
    if not all(is_covered(one.type) for one in (*low, *high)):
        return
    least, greatest = _ends(low), _ends(high)
    if least or greatest:
        yield Bounding(
            path,
            low=least[0] if least else None,
            high=greatest[1] if greatest else None,
        )


def _ends(values: Sequence[pa.Scalar]) -> tuple[pa.Scalar, pa.Scalar] | None:
    """Return the least and the greatest of values; None without, or with one that is NaN."""
    if not values:
        return None
    found = pa.array(list(values), values[0].type)
    if types.is_floating(found.type) and pc.any(pc.is_nan(found)).as_py():
        return None
    ends = pc.min_max(found)
    return ends["min"], ends["max"]


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
        empty_is_null = bounding.wants_null and field.arrow.type in STRINGS
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
