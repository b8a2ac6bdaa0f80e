"""Rows of a query: where the rows lie that a filter asks for, and how they are read.

The columns of the filter are read first, run by run. Of the others only the rows are read that
passed, one by one where they are few, else by a scan that leaves the others out.

Clauses: L.table.deletions.applied
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.nesting import whole
from lanceref.file.schema import Field
from lanceref.search.filter import Filter
from lanceref.search.plan import BatchStatistics, RowSource, bounded_fields, boundings, candidates
from lanceref.search.projection import Projection, take_projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows

RUN_ROWS = 1 << 16
"""Rows of a fragment that a filter looks at together."""

FEW = 16
"""Rows are taken one by one when at least this many times as many do not pass."""

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Passed:
    """Live rows of a fragment that passed, ascending, and what was read of them already."""

    rows: FragmentRows
    positions: Positions
    fields: tuple[Field, ...]
    arrays: tuple[pa.Array, ...]

    def part(self, start: int, end: int) -> Passed:
        """Return some of the rows."""
        arrays = tuple(array.slice(start, end - start) for array in self.arrays)
        return Passed(self.rows, self.positions[start:end], self.fields, arrays)


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter, how its columns are read, and who may know where its rows are."""

    filter: Filter
    projection: Projection
    sources: tuple[RowSource, ...] = ()

    @property
    def asked(self) -> list[str]:
        """What indices are asked, one step a line."""
        return [text for text in (source.explained for source in self.sources) if text]

    def indexed(self, fragments: Sequence[FragmentRows]) -> Sequence[FragmentRows]:
        """Return the fragments that an index knows; all where none is asked."""
        indices = [source for source in self.sources if source.explained]
        if not indices:
            return fragments
        return [
            rows
            for rows in fragments
            if any(source.candidates(rows) is not None for source in indices)
        ]

    def explained(self, fragments: Sequence[FragmentRows]) -> list[str]:
        """The steps of a search whose rows have to pass: what is asked, and what is read."""
        known = {id(rows) for rows in self.indexed(fragments)} if self.asked else set()
        read = sum(id(rows) not in known for rows in fragments)
        names = ", ".join(self.filter.paths)
        steps = [f"Filter: columns=[{names}]", *self.asked]
        return [*steps, f"LanceRead: projection=[{names}], num_fragments={read}"] if read else steps

    def passed(self, rows: FragmentRows, early: Sequence[Field] = ()) -> Iterator[Passed]:
        """Yield the live rows of a fragment that pass; the `early` columns are read on the way."""
        chosen = candidates(self.sources, rows)
        if chosen.positions is not None:
            yield from self._among(rows, chosen.positions, early, exact=chosen.exact)
            return
        own = self.projection.fields
        fields = (*own, *(field for field in early if field not in own))
        system = () if chosen.exact else self.projection.system
        for start, end in chosen.ranges:
            at = start
            for count, arrays in rows.scan(fields, system, RUN_ROWS, start, end):
                mask = np.ones(count, np.bool_)
                if not chosen.exact:
                    asked = [*arrays[: len(own)], *arrays[len(fields) :]]
                    mask = self.filter.mask(self.projection.batch(count, asked))
                positions = np.flatnonzero(mask) + at
                at += count
                if len(positions):
                    held = arrays[: len(fields)]
                    if len(positions) < count:
                        held = [whole(array).filter(pa.array(mask)) for array in held]
                    yield Passed(rows, positions, fields, tuple(held))

    def _among(
        self, rows: FragmentRows, positions: Positions, early: Sequence[Field], *, exact: bool
    ) -> Iterator[Passed]:
        """Yield the rows at single positions that pass; all of them do if these are exact."""
        own = self.projection.fields
        fields = (*own, *(field for field in early if field not in own))
        for start in range(0, len(positions), RUN_ROWS):
            part = positions[start : start + RUN_ROWS]
            if exact:
                yield Passed(rows, part, (), ())
                continue
            arrays = _late(rows, part, fields)
            asked = [*arrays[: len(own)], *rows.take(part, (), self.projection.system)]
            mask = self.filter.mask(self.projection.batch(len(part), asked))
            if mask.any():
                held = tuple(whole(array).filter(pa.array(mask)) for array in arrays)
                yield Passed(rows, part[mask], fields, held)

    def positions(self, rows: FragmentRows) -> Positions:
        """Return the live rows of a fragment that pass, ascending."""
        return np.concatenate(
            [np.empty(0, np.int64), *(passed.positions for passed in self.passed(rows))]
        )


def filter_schema(snapshot: Snapshot) -> pa.Schema:
    """Return the columns that a filter may name: those of the table and the system columns."""
    schema = snapshot.schema(BlobHandling.DESCRIPTIONS)
    system = [pa.field(name, pa.uint64()) for name in SYSTEM_COLUMNS]
    return pa.schema([*schema.arrow, *system])


def condition(
    snapshot: Snapshot, given: Filter, *, use_stats: bool = True, use_indices: bool = True
) -> Condition:
    """Return how a filter is asked of a table: what is read, and which indices know its rows."""
    schema, found = snapshot.schema(BlobHandling.DESCRIPTIONS), given.predicate
    bounds = () if found is None or not use_stats else tuple(boundings(found))
    bounded = bounded_fields(bounds, snapshot.manifest.schema) if bounds else ()
    sources: list[RowSource] = []
    if use_indices and found is not None and snapshot.manifest.indices:
        from lanceref.search.index_plan import (
            IndexSource,  # without indices nobody needs it
            select,
        )

        plan = select(found, snapshot.indices.by_path)
        sources += [] if plan is None else [IndexSource(plan)]
    sources += [BatchStatistics(bounded)] if bounded else []
    return Condition(given, take_projection(schema, given.paths), tuple(sources))


def chosen_rows(
    fragments: Sequence[FragmentRows],
    wanted: Condition,
    offset: int,
    limit: int | None,
    early: Sequence[Field] = (),
) -> Iterator[Passed]:
    """Yield the rows that are asked for, until there are enough."""
    left = limit
    for rows in fragments:
        if left == 0:
            return
        for passed in wanted.passed(rows, early):
            found = len(passed.positions)
            skipped = min(offset, found)
            offset -= skipped
            end = found if left is None else min(found, skipped + left)
            left = None if left is None else left - (end - skipped)
            if end > skipped:
                yield passed.part(skipped, end)
            if left == 0:
                return


def read_passed(
    passed: Passed, projection: Projection, batch_size: int
) -> Iterator[pa.RecordBatch]:
    """Yield the columns of rows that passed; what was read already is not read again."""
    for start in range(0, len(passed.positions), batch_size):
        part = passed.part(start, min(start + batch_size, len(passed.positions)))
        held = dict(zip([field.id for field in part.fields], part.arrays, strict=True))
        known = {field.id for field in part.fields if field in projection.fields}
        late = tuple(field for field in projection.fields if field.id not in known)
        read = iter(_late(part.rows, part.positions, late))
        arrays = [
            held[field.id] if field.id in known else next(read) for field in projection.fields
        ]
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


def read_rows(
    rows: FragmentRows, positions: Positions, projection: Projection, batch_size: int
) -> Iterator[pa.RecordBatch]:
    """Yield the live rows of a fragment at ascending positions."""
    return read_passed(Passed(rows, positions, (), ()), projection, batch_size)
