"""Scanner: the rows of a table or of some of its fragments, as a stream (face).

Has the names of pylance's `LanceScanner`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import pyarrow as pa

from lanceref.projection import Projection, scan_projection
from lanceref.query.columns import Computed, bind_columns
from lanceref.query.ordering import ColumnOrdering, ordered
from lanceref.query.rows import Condition, chosen_rows, condition, read_rows
from lanceref.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_ADDRESS, SYSTEM_COLUMNS, FragmentRows

DEFAULT_BATCH_SIZE = 8192
"""Rows of a batch when the caller does not say."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan returns besides its columns: None for a number means the default."""

    batch_size: int | None = None
    limit: int | None = None
    offset: int | None = None
    condition: Condition | None = None
    order_by: Sequence[ColumnOrdering] = ()
    computed: Computed | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for a number out of range."""
        for name, value in (("Limit", self.limit), ("Offset", self.offset)):
            if value is not None and value < 0:
                raise ValueError(f"{name} must be non-negative, it is {value}")
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"batch_size must be positive, it is {self.batch_size}")


class ScanArguments(TypedDict, total=False):
    """Arguments of a scan besides columns, filter, limit and offset.

    From `batch_readahead` on they only say how another reader goes about it.
    """

    batch_size: int | None
    with_row_id: bool | None
    with_row_address: bool | None
    blob_handling: str | None
    order_by: Sequence[ColumnOrdering | str] | None
    nearest: object
    full_text_query: object
    batch_readahead: int | None
    batch_size_bytes: int | None
    fast_search: bool | None
    fragment_readahead: int | None
    io_buffer_size: int | None
    late_materialization: bool | list[str] | None
    prefilter: bool | None
    scan_in_order: bool | None
    strict_batch_size: bool | None
    use_scalar_index: bool | None
    use_stats: bool | None


Columns = Sequence[str] | Mapping[str, str] | None
"""Columns by name, expressions by the name of the result, or None for all columns."""


def describe(
    snapshot: Snapshot,
    fragments: Sequence[FragmentRows],
    columns: Columns,
    filter: object,
    limit: int | None,
    offset: int | None,
    arguments: ScanArguments,
) -> LanceScanner:
    """Describe a scan of fragments.

    Raises NotFound for an unknown column, QueryRefused for an expression that does not fit,
    ValueError for a number out of range, NotImplementedError for a search.
    """
    for name in ("nearest", "full_text_query"):
        if arguments.get(name) is not None:
            raise NotImplementedError(f"{name}: indices are not searched yet")
    schema = snapshot.schema(BlobHandling.of(arguments.get("blob_handling")))
    wanted = (("with_row_id", ROW_ID), ("with_row_address", ROW_ADDRESS))
    system = [name for argument, name in wanted if arguments.get(argument)]
    orderings = [
        ColumnOrdering(one) if isinstance(one, str) else one
        for one in arguments.get("order_by") or ()
    ]
    computed = None
    if isinstance(columns, Mapping):
        every = pa.schema([*schema.arrow, *(pa.field(one, pa.uint64()) for one in SYSTEM_COLUMNS)])
        expressions = {**columns, **{name: name for name in system}}
        computed = bind_columns(expressions, every)
        columns = [name for name in every.names if name in computed.columns]
        system = []
    options = ScanOptions(
        arguments.get("batch_size"),
        limit,
        offset,
        None if filter is None else condition(snapshot, filter),
        orderings,
        computed,
    )
    return LanceScanner(snapshot, fragments, scan_projection(schema, columns, system), options)


class LanceScanner:
    """A scan that has been described but not run."""

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        projection: Projection,
        options: ScanOptions,
    ) -> None:
        self._snapshot = snapshot
        self._fragments = fragments
        self._projection = projection
        self._options = options

    @property
    def projected_schema(self) -> pa.Schema:
        """Schema of the result."""
        computed = self._options.computed
        return self._projection.schema if computed is None else computed.schema

    @property
    def dataset_schema(self) -> pa.Schema:
        """Schema of the table."""
        return self._snapshot.arrow_schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in the order of the table; no batch crosses a fragment."""
        options = self._options
        if options.order_by:
            yield from self._sorted()
            return
        for batch in self._batches(options.offset or 0, options.limit):
            yield batch if options.computed is None else options.computed.batch(batch)

    def _batches(self, offset: int, limit: int | None) -> Iterator[pa.RecordBatch]:
        size = self._options.batch_size or DEFAULT_BATCH_SIZE
        if self._options.condition is None:
            end = offset + _limited(self._live_rows(), offset, limit)
            return self._snapshot.scan(self._fragments, self._projection, size, offset, end)
        chosen = chosen_rows(self._fragments, self._options.condition, offset, limit)
        return (
            batch
            for rows, positions in chosen
            for batch in read_rows(rows, positions, self._projection, size)
        )

    def _sorted(self) -> Iterator[pa.RecordBatch]:
        options = self._options
        batches = self._batches(0, None)
        if options.computed is not None:
            batches = map(options.computed.batch, batches)
        table = pa.Table.from_batches(batches, schema=self.projected_schema)
        rows = ordered(table, options.order_by).slice(options.offset or 0, options.limit)
        yield from rows.to_batches(options.batch_size or DEFAULT_BATCH_SIZE)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the batches as a reader."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def to_table(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(self.to_batches(), schema=self.projected_schema)

    def head(self, num_rows: int) -> pa.Table:
        """Return the first rows."""
        limit = self._options.limit
        limit = num_rows if limit is None else min(num_rows, limit)
        options = replace(self._options, limit=limit)
        return LanceScanner(self._snapshot, self._fragments, self._projection, options).to_table()

    def count_rows(self) -> int:
        """Return the number of rows; without a filter none is read."""
        offset, limit = self._options.offset or 0, self._options.limit
        if self._options.condition is None:
            return _limited(self._live_rows(), offset, limit)
        chosen = chosen_rows(self._fragments, self._options.condition, offset, limit)
        return sum(len(positions) for _, positions in chosen)

    def _live_rows(self) -> int:
        return sum(fragment.num_rows for fragment in self._fragments)


def _limited(rows: int, offset: int, limit: int | None) -> int:
    """Return how many of a number of rows are left behind an offset, up to a limit."""
    left = max(0, rows - offset)
    return left if limit is None else min(left, limit)
