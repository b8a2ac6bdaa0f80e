"""Search scanner: rows that a search has found, and what it knows of them (face).

A full-text query gives each row a score, and where elements of lists are documents the place of
the element; a query for vectors or texts alike a distance, and of a batch of queries the number of
the query first. A filter is applied to the rows that were found, unless it is to be applied before.
The columns of the rows are read last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from lanceref.core.arrow_buffers import whole
from lanceref.core.comparison import sort_order
from lanceref.file.schema import LanceSchema
from lanceref.search.minhash_search import MinHashSearch
from lanceref.search.row_locator import positions_of_ids
from lanceref.search.rows import Filter
from lanceref.search.snapshot import Projection, scan_projection, take_projection
from lanceref.search.text_column import ELEMENT_BITS, places_in_lists
from lanceref.search.text_search import ELEMENT, SCORE, TextSearch
from lanceref.search.vector_search import VectorSearch
from lanceref.table.logical import BlobHandling
from numpy.typing import NDArray

from pylanceref.scanner import LanceScanner
from pylanceref.sql.columns import Computed, bind_columns
from pylanceref.sql.filters import all_columns

QUERY_INDEX = pa.field("query_index", pa.int32(), nullable=False)
DISTANCE = pa.field("_distance", pa.float32())
"""What a search for vectors knows of the rows it finds: the query, in a batch, and the distance."""


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
        given = {**columns, **{name: name for name in [*extra, *system]}}
        computed = bind_columns(given, all_columns(schema, found))
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
        """Return some of them, by their places. `places` (n,)."""
        chosen = pa.array(places)
        columns = {name: whole(column).take(chosen) for name, column in self.columns.items()}
        return FoundRows(self.positions[places], columns)

    def part(self, start: int, end: int | None) -> FoundRows:
        """Return those from a place to another."""
        if not start and (end is None or end >= len(self)):
            return self
        return self.chosen(np.arange(len(self))[start:end])


@dataclass(eq=False, repr=False)
class SearchScanner(LanceScanner):
    """A search that has been described but not run; `_after` filters what it has found."""

    _result: Shown
    _search: TextSearch | VectorSearch | MinHashSearch
    _after: Filter | None

    def _found(self, limit: int | None, offset: int) -> FoundRows:
        """Return the rows that are found after an offset, up to a limit, in their order."""
        end = None if limit is None else offset + limit
        if isinstance(self._search, TextSearch):
            wanted, allowed = self._options.condition, None  # None for all rows
            if wanted is not None:
                allowed = wanted.of_table(self._fragments)
            elif len(self._fragments) < len(self._snapshot.fragments):
                parts = [np.arange(one.num_rows) + one.rows_before for one in self._fragments]
                allowed = np.concatenate([np.empty(0, np.int64), *parts])
            hits = self._search.hits(allowed, end)
            best = np.lexsort((hits.places, -hits.scores))[:end]
            places = hits.places[best]
            lists = pa.array(places_in_lists(places, self._search.levels).tolist(), ELEMENT.type)
            columns = {ELEMENT.name: lists, SCORE.name: pa.array(hits.scores[best])}
            rows = FoundRows(places >> ELEMENT_BITS, columns)
            return self._reordered(self._passing(rows)).part(offset, end)
        near = self._search.nearest(self._options.condition)
        ids = np.concatenate([one.ids for one in near])
        distances = np.concatenate([one.distances for one in near])
        numbers = np.repeat(np.arange(len(near), dtype=np.int32), [len(one.ids) for one in near])
        columns = {QUERY_INDEX.name: pa.array(numbers), DISTANCE.name: pa.array(distances)}
        rows = FoundRows(positions_of_ids(self._snapshot, ids), columns)
        return self._reordered(self._passing(rows)).part(offset, end)

    @property
    def projected_schema(self) -> pa.Schema:
        """The Arrow schema of the rows that the search returns."""
        return self._result.schema

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, the best first or in the order asked for."""
        options = self._options
        rows = self._found(options.limit, options.offset or 0)
        parts = (rows.part(at, at + self._size) for at in range(0, len(rows), self._size))
        tables = (
            self._result.table(self._snapshot.take(part.positions, self._result.read), part.columns)
            for part in parts
        )
        return (batch for table in tables for batch in table.combine_chunks().to_batches())

    def _passing(self, rows: FoundRows) -> FoundRows:
        """Return those that pass the filter over the row and what the search knows of it."""
        if self._after is None:
            return rows
        schema = self._snapshot.schema(BlobHandling.DESCRIPTIONS)
        paths = [path for path in self._after.paths if path not in rows.columns]
        read = self._snapshot.take(rows.positions, take_projection(schema, paths))
        table = _with(read, rows.columns)
        masks = [self._after.mask(batch) for batch in table.combine_chunks().to_batches()]
        return rows.chosen(np.flatnonzero(np.concatenate([np.empty(0, np.bool_), *masks])))

    def _reordered(self, rows: FoundRows) -> FoundRows:
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
        orders = [(one.ascending, one.nulls_first) for one in self._options.order_by]
        return rows.chosen(sort_order(keys, orders))

    def _count(self) -> int:
        return len(self._found(None, 0))

    def _steps(self, *, verbose: bool) -> list[str]:
        from pylanceref.plan_text import condition_steps, search_steps  # few searches are explained

        options, steps = self._options, search_steps(self._search)
        if options.condition is not None:
            steps += condition_steps(options.condition, self._fragments)
        fetch = "" if options.limit is None else f" fetch={options.limit},"
        if isinstance(self._search, TextSearch):
            steps.insert(0, f"Sort:{fetch} [_score DESC]")
        if self._after is not None:
            steps.insert(0, f"Filter: columns=[{', '.join(self._after.paths)}]")
        return steps if isinstance(self._search, TextSearch) else self._ordered_steps(steps)


def _with(rows: pa.Table, found: Mapping[str, pa.Array]) -> pa.Table:
    """Return rows, of which no column may have been read, with further columns."""
    return pa.table({**found, **dict(zip(rows.schema.names, rows.columns, strict=True))})
