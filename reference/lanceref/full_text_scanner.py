"""Full-text scanner: the rows that a full-text query finds, the best first (face).

Rows have a score, `_score`, and where elements of lists are documents the place of the element,
`_doc_index`. A filter is asked of the rows that were found, unless it is to be asked before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.errors import QueryRefused
from lanceref.file.schema import LanceSchema
from lanceref.projection import Projection, scan_projection, take_projection
from lanceref.query.batches import recut
from lanceref.query.columns import Computed, bind_columns
from lanceref.query.filter import Filter, bind_filter
from lanceref.query.full_text import FullTextQuery, MatchQuery, MultiMatchQuery
from lanceref.query.ordering import ordered
from lanceref.query.text_column import text_indices
from lanceref.query.text_matching import Hits
from lanceref.query.text_parts import ELEMENT_BITS
from lanceref.query.text_search import ELEMENT, SCORE, TextSearch
from lanceref.scanner import LanceScanner, ScanOptions
from lanceref.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows


def full_text_query(given: object, snapshot: Snapshot) -> FullTextQuery | None:
    """Return the query that a caller gives: text, a query, or both words and columns by name.

    Text is looked for in every column that has an index. Raises QueryRefused, TypeError.
    """
    if isinstance(given, Mapping):
        unknown = given.keys() - {"query", "columns"}
        if "query" not in given or unknown:
            raise TypeError("full_text_search() takes 'query' and 'columns'")
        query, columns = given["query"], given.get("columns")
    elif isinstance(given, str | FullTextQuery):
        query, columns = given, None
    else:
        return None
    if isinstance(query, FullTextQuery):
        return query
    if not columns:
        columns = _indexed(snapshot)
    if not columns:
        raise QueryRefused(
            "Cannot perform full text search unless an INVERTED index has been created on at "
            "least one column"
        )
    if len(columns) == 1:
        return MatchQuery(query, columns[0])
    return MultiMatchQuery(query, list(columns))


def _indexed(snapshot: Snapshot) -> list[str]:
    """Return the columns with a full-text index; those where rows are documents if there are."""
    found: dict[bool, list[str]] = {False: [], True: []}
    for path in snapshot.indices.by_path:
        for per_element in {one.list_elements for one in text_indices(snapshot, path)}:
            found[per_element].append(path)
    return found[False] or found[True]


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


class FullTextScanner(LanceScanner):
    """A search that has been described but not run."""

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        result: Shown,
        options: ScanOptions,
        search: TextSearch,
        after: Filter | None,
    ) -> None:
        super().__init__(snapshot, fragments, result.read, options)
        self._result, self._search, self._after = result, search, after

    @property
    def projected_schema(self) -> pa.Schema:
        """Schema of the result."""
        return self._result.schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, by falling score or in the order asked for."""
        options = self._options
        hits = self._found(options.limit, options.offset or 0)
        if options.order_by:
            hits = self._reordered(hits)
        batches = (
            batch
            for start in range(0, len(hits.places), self._size)
            for batch in self._read(_part(hits, slice(start, start + self._size)))
        )
        return recut(batches, self._size, options.batch_bytes, strict=options.strict)

    def _read(self, hits: Hits) -> list[pa.RecordBatch]:
        rows = self._snapshot.take(hits.places >> ELEMENT_BITS, self._result.read)
        table = self._result.table(rows, _columns(hits))
        return table.combine_chunks().to_batches()  # type: ignore[no-any-return]

    def _found(self, limit: int | None, offset: int) -> Hits:
        """Return the documents by falling score."""
        hits = self._allowed(self._search.hits())
        order = np.lexsort((hits.places, -hits.scores))
        end = None if limit is None else offset + limit
        hits = _part(hits, order[:end])
        if self._after is not None:
            hits = _part(hits, self._mask(hits, self._after))
        return _part(hits, slice(offset, end))

    def _allowed(self, hits: Hits) -> Hits:
        """Return the documents in rows of the fragments that pass the filter before."""
        wanted = self._options.condition
        if wanted is None and len(self._fragments) == len(self._snapshot.fragments):
            return hits
        positions = [np.empty(0, np.int64)]
        for rows in self._fragments:
            own = np.arange(rows.num_rows) if wanted is None else wanted.positions(rows)
            positions.append(own + rows.rows_before)
        kept = np.isin(hits.places >> ELEMENT_BITS, np.concatenate(positions))
        return _part(hits, kept)

    def _mask(self, hits: Hits, wanted: Filter) -> NDArray[np.bool_]:
        """Return of each document whether it passes a filter over the row and the score."""
        schema = self._snapshot.schema(BlobHandling.DESCRIPTIONS)
        found = _columns(hits)
        projection = take_projection(schema, [path for path in wanted.paths if path not in found])
        rows = _with(self._snapshot.take(hits.places >> ELEMENT_BITS, projection), found)
        masks = [wanted.mask(batch) for batch in rows.combine_chunks().to_batches()]
        return np.concatenate([np.empty(0, np.bool_), *masks])

    def _reordered(self, hits: Hits) -> Hits:
        found, names = _columns(hits), [one.column_name for one in self._options.order_by]
        schema = self._snapshot.schema(BlobHandling.DESCRIPTIONS)
        asked = list(dict.fromkeys(name for name in names if name not in found))
        projection = scan_projection(schema, asked)
        rows = self._snapshot.take(hits.places >> ELEMENT_BITS, projection)
        keys = [found[name] if name in found else rows[name].combine_chunks() for name in names]
        return _part(hits, ordered(keys, self._options.order_by))

    def count_rows(self) -> int:
        """Return the number of rows. Raises QueryRefused with a limit or an offset."""
        if self._options.limit is not None or self._options.offset is not None:
            raise QueryRefused("Cannot use limit/offset with aggregate.")
        return len(self._found(None, 0).places)

    def head(self, num_rows: int) -> pa.Table:
        """Return the first rows."""
        limit = self._options.limit
        limit = num_rows if limit is None else min(num_rows, limit)
        options = replace(self._options, limit=limit)
        return FullTextScanner(
            self._snapshot, self._fragments, self._result, options, self._search, self._after
        ).to_table()

    def explain_plan(self, verbose: bool = False) -> str:
        """Return what is done to run the search, one step a line, the last one first."""
        options = self._options
        steps = [self._search.explained]
        if options.condition is not None:
            steps.append(f"Filter: columns=[{', '.join(options.condition.filter.paths)}]")
        fetch = "" if options.limit is None else f" fetch={options.limit},"
        steps.insert(0, f"Sort:{fetch} [_score DESC]")
        if self._after is not None:
            steps.insert(0, f"Filter: columns=[{', '.join(self._after.paths)}]")
        steps.insert(0, f"Projection: [{', '.join(self.projected_schema.names)}]")
        return "\n".join(f"{'  ' * depth}{step}" for depth, step in enumerate(steps)) + "\n"


def _part(hits: Hits, chosen: slice | NDArray[np.generic]) -> Hits:
    return Hits(hits.places[chosen], hits.scores[chosen])


def _with(rows: pa.Table, found: Mapping[str, pa.Array]) -> pa.Table:
    """Return rows, of which no column may have been read, with further columns."""
    return pa.table({**found, **dict(zip(rows.schema.names, rows.columns, strict=True))})


def _columns(hits: Hits) -> dict[str, pa.Array]:
    """Return what a search knows of its rows."""
    elements = (hits.places & (1 << ELEMENT_BITS) - 1).astype(np.uint32)
    offsets = pa.array(np.arange(len(elements) + 1, dtype=np.int32))
    lists = pa.ListArray.from_arrays(offsets, pa.array(elements)).cast(ELEMENT.type)
    return {ELEMENT.name: lists, SCORE.name: pa.array(hits.scores)}


def full_text_scanner(
    snapshot: Snapshot,
    fragments: Sequence[FragmentRows],
    result: Shown,
    options: ScanOptions,
    search: TextSearch,
    given_filter: object,
) -> FullTextScanner:
    """Describe a search; `given_filter` is asked of the rows found. Raises QueryRefused."""
    after = None
    if given_filter is not None:
        rows = snapshot.schema(BlobHandling.DESCRIPTIONS).arrow
        system = (pa.field(one, pa.uint64()) for one in SYSTEM_COLUMNS)
        after = bind_filter(given_filter, pa.schema([*rows, *system, *search.found]))
    return FullTextScanner(snapshot, fragments, result, options, search, after)
