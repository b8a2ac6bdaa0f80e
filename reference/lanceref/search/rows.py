"""Rows of a query: the rows of a table that pass a filter, and how they are read.

Where indices know which rows may pass, only those are read. The columns of the filter are read
first, run by run. Of the others only the rows that passed are read, one by one where they are few,
else by a scan that drops the rest.

Clauses: L.table.deletions.applied
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import whole
from lanceref.file.schema import Field
from lanceref.search.index_plan import Known, Mask, Plan, Predicate, select
from lanceref.search.snapshot import Projection, Snapshot, take_projection
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows

RUN_ROWS = 1 << 16
"""Rows of a fragment that a filter is evaluated on together."""

FEW = 16
"""Rows are taken one by one when at least this many times as many do not pass."""

Positions = NDArray[np.int64]


class Filter(Protocol):
    """A condition on rows, which pass where it is true; null is not true.

    It is a callable on batches, with its structure for indices.
    """

    columns: tuple[str, ...]
    """Names of the columns it reads, in the order of the schema."""

    paths: tuple[str, ...]
    """The same, or `a.b` where it reads only a part of a column."""

    @property
    def predicate(self) -> Predicate | None:
        """Its structure as far as it is known."""

    def mask(self, batch: pa.RecordBatch) -> Mask:
        """Return for each row of a batch of these columns whether it passes: bool (rows,)."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Live rows of a fragment that passed, ascending, and what was read of them already."""

    rows: FragmentRows
    positions: Positions
    fields: tuple[Field, ...] = ()
    arrays: tuple[pa.Array, ...] = ()

    def part(self, start: int, end: int) -> Passed:
        """Return rows `start` to `end` of those that passed the filter."""
        arrays = tuple(array.slice(start, end - start) for array in self.arrays)
        return Passed(self.rows, self.positions[start:end], self.fields, arrays)


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter, how its columns are read, and what indices are asked."""

    filter: Filter
    projection: Projection
    plan: Plan | None = None

    def known(self, rows: FragmentRows) -> Known | None:
        """Return what indices know of a fragment, None where none covers it."""
        return None if self.plan is None else self.plan.ask(rows)

    def num_candidates(self, rows: FragmentRows) -> int:
        """Return how many live rows of a fragment may pass, before any is read."""
        known = self.known(rows)
        return rows.num_rows if known is None else len(known.positions)

    def possible(self, fragments: Sequence[FragmentRows]) -> Sequence[FragmentRows]:
        """Return the fragments where a row may pass as far as indices know; the first of a scan."""
        if self.plan is None:
            return fragments
        ids = np.array([rows.fragment.id for rows in fragments], np.uint64)
        return [fragments[at] for at in np.flatnonzero(self.plan.possible(ids)).tolist()]

    def indexed(self, fragments: Sequence[FragmentRows]) -> Sequence[FragmentRows]:
        """Return the fragments that all indices asked cover; all where none is asked."""
        plan = self.plan
        return [rows for rows in fragments if plan is None or plan.covers(rows.fragment.id)]

    def passed(self, rows: FragmentRows, early: Sequence[Field] = ()) -> Iterator[Passed]:
        """Yield the live rows of a fragment that pass; the `early` columns are read on the way."""
        own, system = self.projection.fields, self.projection.system
        fields = (*own, *(field for field in early if field not in own))
        known = self.known(rows)
        if known is not None:
            positions = known.positions
            for start in range(0, len(positions), RUN_ROWS):
                part = positions[start : start + RUN_ROWS]
                if known.exact:
                    yield Passed(rows, part)
                else:
                    arrays = [*_late(rows, part, fields), *rows.take(part, (), system)]
                    yield from self._filtered(Passed(rows, part, fields, tuple(arrays)))
            return
        at = 0
        for count, arrays in rows.scan(fields, system, RUN_ROWS, 0, rows.num_rows):
            part = np.arange(at, at + count)
            at += count
            yield from self._filtered(Passed(rows, part, fields, tuple(arrays)))

    def _filtered(self, read: Passed) -> Iterator[Passed]:
        """Yield rows that were read, if any passes; arrays of system columns come last."""
        own, count = len(self.projection.fields), len(read.positions)
        arrays = [*read.arrays[:own], *read.arrays[len(read.fields) :]]
        mask = self.filter.mask(self.projection.batch(count, arrays))
        columns = read.arrays[: len(read.fields)]
        if mask.all():
            yield Passed(read.rows, read.positions, read.fields, columns)
        elif mask.any():
            columns = tuple(whole(array).filter(pa.array(mask)) for array in columns)
            yield Passed(read.rows, read.positions[mask], read.fields, columns)

    def positions(self, rows: FragmentRows) -> Positions:
        """Return the live rows of a fragment that pass, ascending: (rows,)."""
        parts = [passed.positions for passed in self.passed(rows)]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def of_table(self, fragments: Sequence[FragmentRows]) -> Positions:
        """Return the rows of fragments that pass, ascending, by position in the table: (rows,)."""
        parts = [self.positions(rows) + rows.rows_before for rows in self.possible(fragments)]
        return np.concatenate([np.empty(0, np.int64), *parts])


def condition(snapshot: Snapshot, filter_: Filter, *, use_indices: bool = True) -> Condition:
    """Return a filter with what is read for it, and the indices that know its rows."""
    predicate, plan = filter_.predicate, None
    if use_indices and predicate is not None and snapshot.manifest.indices:
        plan = select(predicate, snapshot.indices.by_path)
    projection = take_projection(snapshot.schema(BlobHandling.DESCRIPTIONS), filter_.paths)
    return Condition(filter_, projection, plan)


def passing_rows(
    fragments: Sequence[FragmentRows],
    wanted: Condition,
    offset: int,
    limit: int | None,
    early: Sequence[Field] = (),
) -> Iterator[Passed]:
    """Yield the rows that are asked for, until there are enough."""
    remaining = limit
    for rows in wanted.possible(fragments) if remaining != 0 else ():
        for passed in wanted.passed(rows, early):
            found = len(passed.positions)
            skipped = min(offset, found)
            offset -= skipped
            end = found if remaining is None else min(found, skipped + remaining)
            remaining = None if remaining is None else remaining - (end - skipped)
            if end > skipped:
                yield passed.part(skipped, end)
            if remaining == 0:
                return


def read_passed(
    passed: Passed, projection: Projection, batch_size: int
) -> Iterator[pa.RecordBatch]:
    """Yield the columns of rows that passed; what was read already is not read again."""
    for start in range(0, len(passed.positions), batch_size):
        part = passed.part(start, min(start + batch_size, len(passed.positions)))
        early = dict(zip([field.id for field in part.fields], part.arrays, strict=True))
        known = {field.id for field in part.fields if field in projection.fields}
        late = tuple(field for field in projection.fields if field.id not in known)
        read = iter(_late(part.rows, part.positions, late))
        fields = projection.fields
        arrays = [early[one.id] if one.id in known else next(read) for one in fields]
        arrays += part.rows.take(part.positions, (), projection.system)
        yield projection.batch(len(part.positions), arrays)


def _late(rows: FragmentRows, positions: Positions, fields: Sequence[Field]) -> list[pa.Array]:
    """Read columns of live rows at ascending positions, as many as one batch has."""
    if not fields:
        return []
    first, end = int(positions[0]), int(positions[-1]) + 1
    if len(positions) * FEW < max(end - first, RUN_ROWS):
        return rows.take(positions, fields, ())
    ((_, arrays),) = rows.scan(fields, (), end - first, first, end)
    if len(positions) == end - first:
        return arrays
    mask = np.zeros(end - first, np.bool_)
    mask[positions - first] = True
    return [whole(array).filter(pa.array(mask)) for array in arrays]
