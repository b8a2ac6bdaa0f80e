"""Scans over a table and the log before it: of each primary key the newest row (face).

What is newer stands before what is older: rows of the log that are not flushed yet, the tables of a
shard by falling generation, the table itself. A deleted key hides the older rows.

Clauses: L.index.mem-wal.newest
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref.core.arguments import unsigned
from lanceref.core.errors import EditFailed, OperationRefused
from lanceref.core.slices import whole_rows
from lanceref.file.schema import PRIMARY_KEY
from lanceref.index.mem_wal.log_entry import TOMBSTONE
from lanceref.operations.key_values import key_values
from lanceref.search.filter import Filter
from lanceref.table.rows import ROW_ADDRESS, SYSTEM_COLUMNS
from numpy.typing import NDArray

from pylanceref.shard_snapshot import ShardSnapshot
from pylanceref.sql.filter import bind_filter

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset

SYSTEM_FIELDS = tuple(pa.field(name, pa.uint64()) for name in SYSTEM_COLUMNS)
"""Columns besides those of the table: `_rowid` and `_rowaddr` of its own rows, else null."""

ADDRESS = pa.field(ROW_ADDRESS, pa.uint64())
GENERATION = pa.field("_memtable_gen", pa.uint64(), nullable=False)
BASE_GENERATION = 0


def primary_key(schema: pa.Schema) -> list[str]:
    """Return the columns of the primary key, none when there is none."""
    return [one.name for one in schema if PRIMARY_KEY.encode() in (one.metadata or {})]


def chosen_keys(schema: pa.Schema, given: Sequence[str] | None) -> list[str]:
    """Return columns that are given, or those of the primary key.

    Raises EditFailed for a column that there is not, OperationRefused without a primary key.
    """
    found = primary_key(schema) if given is None else names_of(given)
    if given is None and not found:
        raise OperationRefused(
            f"Dataset has no primary key. Set '{PRIMARY_KEY}' metadata on the primary key field(s)."
        )
    for name in found:
        if name not in schema.names:
            raise EditFailed(f"Field '{name}' not found. Available fields: {schema.names}")
    return found


def names_of(columns: Sequence[str]) -> list[str]:
    """Return names of columns, each once. Raises TypeError."""
    if isinstance(columns, str) or not all(isinstance(name, str) for name in columns):
        raise TypeError(f"argument 'columns': names are wanted, not {columns!r}")
    return list(dict.fromkeys(columns))


def projected(
    schema: pa.Schema,
    columns: Sequence[str] | None,
    keys: Sequence[str],
    extra: Sequence[pa.Field] = SYSTEM_FIELDS,
) -> pa.Schema:
    """Return the columns that are chosen of a schema and of `extra`, then what of the key is not.

    Raises TypeError, and EditFailed for a column that there is not.
    """
    known = {one.name: one for one in [*extra, *schema]}
    wanted = schema.names if columns is None else names_of(columns)
    for name in wanted:
        if name not in known:
            raise EditFailed(f"Column '{name}' not found in schema")
    return pa.schema([known[name] for name in dict.fromkeys([*wanted, *keys])])


def row_keys(rows: pa.Table) -> list[tuple[object, ...]]:
    """Return the key of each row, of all columns."""
    return list(zip(*(key_values(column) for column in rows.columns), strict=True))


class LsmScanner:
    """A scan that has been described but not run."""

    def __init__(
        self,
        dataset: LanceDataset,
        snapshots: Sequence[ShardSnapshot],
        unflushed: Sequence[tuple[int, pa.Table]] = (),
        keys: Sequence[str] | None = None,
    ) -> None:
        """Describe a scan; of rows that are alike in the `keys`, the primary ones, one is left."""
        self._dataset, self._snapshots, self._unflushed = dataset, snapshots, unflushed
        self._columns: Sequence[str] | None = None
        self._filter: Filter | None = None
        self._limit: tuple[int | None, int] = None, 0
        self._added: tuple[str, ...] = ()
        self._keys = chosen_keys(dataset.schema, keys)

    @staticmethod
    def from_snapshots(
        dataset: LanceDataset, shard_snapshots: Sequence[ShardSnapshot]
    ) -> LsmScanner:
        """Describe a scan of a table and of flushed generations. Raises OperationRefused."""
        return LsmScanner(dataset, list(shard_snapshots))

    def project(self, columns: Sequence[str]) -> LsmScanner:
        """Choose columns; the primary key is returned in any case.

        Raises TypeError, EditFailed.
        """
        projected(self._dataset.schema, columns, self._keys)
        self._columns = list(columns)
        return self

    def filter(self, expr: str) -> LsmScanner:
        """Choose rows among the newest. Raises QueryRefused."""
        self._filter = bind_filter(expr, self._dataset.schema)
        return self

    def limit(self, n: int | None = None, offset: int | None = None) -> LsmScanner:
        """Choose so many rows behind an offset. Raises TypeError, OverflowError."""
        self._limit = None if n is None else unsigned(n), unsigned(offset or 0)
        return self

    def with_row_address(self) -> LsmScanner:
        """Return the address of rows of the table itself, null for others."""
        self._added = (*self._added, ADDRESS.name)
        return self

    def with_memtable_gen(self) -> LsmScanner:
        """Return the generation of each row, 0 for those of the table itself."""
        self._added = (*self._added, GENERATION.name)
        return self

    def to_table(self) -> pa.Table:
        """Return the rows. Raises FormatError."""
        parts = list(self._parts())
        rows = whole_rows(pa.concat_tables([newest_last(one, self._keys) for one in parts]))
        kept = _first_of_each(rows.select(self._keys))  # L.index.mem-wal.newest
        kept = kept[~np.asarray(rows[TOMBSTONE].combine_chunks().take(pa.array(kept)))]
        rows = rows.take(pa.array(kept))
        if self._filter is not None:
            masks = [self._filter.mask(batch) for batch in rows.combine_chunks().to_batches()]
            chosen = np.flatnonzero(np.concatenate([np.empty(0, np.bool_), *masks]))
            rows = rows.take(pa.array(chosen))
        count, offset = self._limit
        rows = rows.slice(offset, count)
        schema = self.projected_schema
        return rows.select(schema.names).cast(schema)

    @property
    def projected_schema(self) -> pa.Schema:
        """Schema of the result: what is chosen, then what is missing of the key."""
        chosen = projected(self._dataset.schema, self._columns, self._keys)
        added = [one for one in (ADDRESS, GENERATION) if one.name in self._added]
        return pa.schema([*chosen, *(one for one in added if one.name not in chosen.names)])

    def to_batches(self) -> list[pa.RecordBatch]:
        """Return the rows as batches."""
        return self.to_table().combine_chunks().to_batches()  # type: ignore[no-any-return]

    def to_batch(self) -> pa.RecordBatch:
        """Return the rows as one batch."""
        table = self.to_table().combine_chunks()
        columns = [column.combine_chunks() for column in table.columns]
        return pa.record_batch(columns, schema=table.schema)

    def count_rows(self) -> int:
        """Return the number of rows."""
        return int(self.to_table().num_rows)

    @property
    def num_generations(self) -> int:
        """How many parts are read: the table, and each generation of the log."""
        flushed = sum(snapshot.num_sstables for snapshot in self._snapshots)
        return 1 + flushed + len(self._unflushed)

    def _parts(self) -> Iterator[pa.Table]:
        """Yield what is newer before what is older."""
        for generation, rows in self._unflushed:
            yield self._part(rows, generation)
        for snapshot in reversed(self._snapshots):
            tables = snapshot.opened(self._dataset)
            for generation, table in sorted(tables, key=itemgetter(0), reverse=True):
                yield self._part(table.to_table(), generation)
        base = self._dataset.to_table(with_row_address=True, with_row_id=True)
        yield self._part(base, BASE_GENERATION)

    def _part(self, rows: pa.Table, generation: int) -> pa.Table:
        """Return rows with the columns that every part has."""
        schema = self._dataset.schema
        nulls = pa.nulls(rows.num_rows, pa.uint64())
        names = rows.schema.names
        system = [rows[name] if name in names else nulls for name in SYSTEM_COLUMNS]
        generations = pa.array(np.full(rows.num_rows, generation, np.uint64))
        own = [rows[name].cast(schema.field(name).type) for name in schema.names]
        nullable = [one.with_nullable(True) for one in schema]
        fields = [*nullable, *SYSTEM_FIELDS, pa.field(TOMBSTONE, pa.bool_()), GENERATION]
        gone = pa.array(np.zeros(rows.num_rows, np.bool_))  # who deletes nothing says nothing
        marks = rows[TOMBSTONE] if TOMBSTONE in names else gone
        return pa.table([*own, *system, marks, generations], schema=pa.schema(fields))


def newest_last(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return of rows in the order they were written the last of each key, in their order."""
    last = rows.num_rows - 1 - _first_of_each(rows.select(keys).take(_backwards(rows.num_rows)))
    return whole_rows(rows).take(pa.array(np.sort(last)))


def _backwards(count: int) -> pa.Array:
    return pa.array(np.arange(count, dtype=np.int64)[::-1])


def _first_of_each(keys: pa.Table) -> NDArray[np.int64]:
    """Return the first row of each key, ascending."""
    seen: dict[tuple[object, ...], int] = {}
    for number, key in enumerate(row_keys(keys)):
        seen.setdefault(key, number)
    return np.array(list(seen.values()), np.int64)
