"""Search scanner: rows that a search has found, and what it knows of them (face).

What a search finds stands in an order of its own; a filter may be asked of it, and another order be
asked for. The columns of the rows are read last.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from lanceref.core.errors import QueryRefused
from lanceref.core.nesting import whole
from lanceref.file.schema import LanceSchema
from lanceref.search.batches import recut
from lanceref.search.filter import Filter
from lanceref.search.ordering import ordered
from lanceref.search.projection import Projection, scan_projection, take_projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows
from numpy.typing import NDArray

from pylanceref.scanner import LIMITED_COUNT, LanceScanner, ScanOptions
from pylanceref.sql.columns import Computed, bind_columns
from pylanceref.sql.filter import bind_filter


@dataclass(frozen=True, slots=True)
class Shown:
    """What of the rows is returned: `names` in order, from `read`, the search, or computed."""

    read: Projection
    names: tuple[str, ...]
    schema: pa.Schema
    computed: Computed | None = None

    def table(self, rows: pa.Table, found: Mapping[str, pa.Array]) -> pa.Table:
        """Put columns that were read, and those of the search, together."""
        rows = _with(rows, found)
        if self.computed is None:
            return pa.table([rows[name] for name in self.names], schema=self.schema)
        batches = rows.combine_chunks().to_batches()
        made = pa.Table.from_batches(map(self.computed.batch, batches), self.computed.schema)
        return made.cast(self.schema)


def shown(
    schema: LanceSchema,
    columns: Sequence[str] | Mapping[str, str] | None,
    system: Sequence[str],
    found: Sequence[pa.Field],
    *,
    added: bool,
) -> Shown:
    """Return what a search returns; `added` appends what the search knows of the rows."""
    own = {one.name: one for one in found}
    extra = [name for name in own if added and name not in (columns or ())]
    if isinstance(columns, Mapping):
        every = [*schema.arrow, *(pa.field(one, pa.uint64()) for one in SYSTEM_COLUMNS), *found]
        given = {**columns, **{name: name for name in [*extra, *system]}}
        computed = bind_columns(given, pa.schema(every))
        read = take_projection(schema, sorted(computed.paths - own.keys()))
        return Shown(read, tuple(given), computed.schema, computed)
    asked = [field.name for field in schema.fields] if columns is None else list(columns)
    read = scan_projection(schema, [name for name in asked if name not in own], system)
    names = [name for name in asked if name not in system] + extra + list(system)
    fields = [own[name] if name in own else read.schema.field(name) for name in names]
    return Shown(read, tuple(names), pa.schema(fields, read.schema.metadata))


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Rows by their positions in the table, in order, and what a search knows of them."""

    positions: NDArray[np.int64]
    columns: Mapping[str, pa.Array]

    def __len__(self) -> int:
        return len(self.positions)

    def chosen(self, places: NDArray[np.int64]) -> FoundRows:
        """Return some of them, by their places."""
        chosen = pa.array(places)
        columns = {name: whole(column).take(chosen) for name, column in self.columns.items()}
        return FoundRows(self.positions[places], columns)

    def part(self, start: int, end: int | None) -> FoundRows:
        """Return those from a place to another."""
        if not start and (end is None or end >= len(self)):
            return self
        return self.chosen(np.arange(len(self))[start:end])


class SearchScanner(LanceScanner):
    """A search that has been described but not run."""

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        result: Shown,
        options: ScanOptions,
        after: Filter | None,
    ) -> None:
        super().__init__(snapshot, fragments, result.read, options)
        self._result, self._after = result, after

    @abstractmethod
    def found(self, limit: int | None, offset: int) -> FoundRows:
        """Return the rows that are found behind an offset, up to a limit, in their order."""

    @property
    def projected_schema(self) -> pa.Schema:
        """Schema of the result."""
        return self._result.schema

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, the best first or in the order asked for."""
        options = self._options
        rows = self.found(options.limit, options.offset or 0)
        batches = (
            batch
            for start in range(0, len(rows), self._size)
            for batch in self._read(rows.part(start, start + self._size))
        )
        return recut(batches, self._size, options.batch_bytes, strict=options.strict)

    def _read(self, rows: FoundRows) -> list[pa.RecordBatch]:
        table = self._result.table(
            self._snapshot.take(rows.positions, self._result.read), rows.columns
        )
        return table.combine_chunks().to_batches()  # type: ignore[no-any-return]

    def passing(self, rows: FoundRows) -> FoundRows:
        """Return those that pass the filter over the row and what the search knows of it."""
        if self._after is None:
            return rows
        schema = self._snapshot.schema(BlobHandling.DESCRIPTIONS)
        paths = [path for path in self._after.paths if path not in rows.columns]
        read = self._snapshot.take(rows.positions, take_projection(schema, paths))
        table = _with(read, rows.columns)
        masks = [self._after.mask(batch) for batch in table.combine_chunks().to_batches()]
        return rows.chosen(np.flatnonzero(np.concatenate([np.empty(0, np.bool_), *masks])))

    def reordered(self, rows: FoundRows) -> FoundRows:
        """Return the rows in the order asked for, if any is."""
        if not self._options.order_by:
            return rows
        names = [one.column_name for one in self._options.order_by]
        schema = self._snapshot.schema(BlobHandling.DESCRIPTIONS)
        asked = list(dict.fromkeys(name for name in names if name not in rows.columns))
        read = self._snapshot.take(rows.positions, scan_projection(schema, asked))
        keys = [
            rows.columns[name] if name in rows.columns else read[name].combine_chunks()
            for name in names
        ]
        return rows.chosen(ordered(keys, self._options.order_by))

    def count_rows(self) -> int:
        """Return the number of rows. Raises QueryRefused with a limit or an offset."""
        if self._options.limit is not None or self._options.offset is not None:
            raise QueryRefused(LIMITED_COUNT)
        return len(self.found(None, 0))

    def head(self, num_rows: int) -> pa.Table:
        """Return the first rows."""
        limit = self._options.limit
        limit = num_rows if limit is None else min(num_rows, limit)
        first = copy.copy(self)
        first._options = replace(self._options, limit=limit)
        return first.to_table()


def _with(rows: pa.Table, found: Mapping[str, pa.Array]) -> pa.Table:
    """Return rows, of which no column may have been read, with further columns."""
    return pa.table({**found, **dict(zip(rows.schema.names, rows.columns, strict=True))})


def filter_after(
    snapshot: Snapshot, given_filter: object, found: Sequence[pa.Field]
) -> Filter | None:
    """Bind a filter over rows and what a search knows of them. Raises QueryRefused."""
    if given_filter is None:
        return None
    rows = snapshot.schema(BlobHandling.DESCRIPTIONS).arrow
    system = (pa.field(one, pa.uint64()) for one in SYSTEM_COLUMNS)
    return bind_filter(given_filter, pa.schema([*rows, *system, *found]))
