"""Scans over a table and the log before it: of each primary key the newest row (face).

What is newer stands before what is older: rows of the log that are not flushed yet, the tables of a
shard by falling generation, the table itself. A deleted key hides the older rows.

Clauses: L.index.mem-wal.newest
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.errors import EditFailed, OperationRefused
from lanceref.file.schema_write import PRIMARY_KEY
from lanceref.index.memwal.log_entry import TOMBSTONE
from lanceref.index.memwal.shard_manifest import shard_folder
from lanceref.key_values import key_values
from lanceref.query.filter import bind_filter
from lanceref.table.rows import ROW_ADDRESS

if TYPE_CHECKING:
    from lanceref.dataset import LanceDataset

ADDRESS = pa.field(ROW_ADDRESS, pa.uint64())
GENERATION = pa.field("_memtable_gen", pa.uint64(), nullable=False)
BASE_GENERATION = 0


@dataclass
class ShardSnapshot:
    """What of a shard is to be scanned."""

    shard_id: str
    spec_id: int = 0
    current_generation: int = 0
    sstables: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        UUID(self.shard_id)

    def with_spec_id(self, spec_id: int) -> ShardSnapshot:
        """Say by which spec the table is sharded."""
        self.spec_id = spec_id
        return self

    def with_current_generation(self, generation: int) -> ShardSnapshot:
        """Say which generation is being written."""
        self.current_generation = generation
        return self

    def with_sstable(self, generation: int, path: str) -> ShardSnapshot:
        """Add a flushed generation, a folder of the shard."""
        self.sstables.append((generation, path))
        return self


def primary_key(schema: pa.Schema) -> list[str]:
    """Return the columns of the primary key, none when there is none."""
    return [one.name for one in schema if PRIMARY_KEY.encode() in (one.metadata or {})]


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
        self._columns: list[str] | None = None
        self._filter: str | None = None
        self._limit: tuple[int | None, int] = None, 0
        self._added: tuple[str, ...] = ()
        self._keys = primary_key(dataset.schema) if keys is None else list(keys)
        if not self._keys:
            raise OperationRefused(
                f"Dataset has no primary key. Set '{PRIMARY_KEY}' metadata on the primary key "
                "field(s)."
            )

    @staticmethod
    def from_snapshots(
        dataset: LanceDataset, shard_snapshots: Sequence[ShardSnapshot]
    ) -> LsmScanner:
        """Describe a scan of a table and of flushed generations. Raises OperationRefused."""
        return LsmScanner(dataset, list(shard_snapshots))

    def project(self, columns: Sequence[str]) -> LsmScanner:
        """Choose columns; the primary key is returned in any case. Raises EditFailed."""
        for name in columns:
            if name not in self._dataset.schema.names:
                raise EditFailed(f"Column '{name}' not found in schema")
        self._columns = list(columns)
        return self

    def filter(self, expr: str) -> LsmScanner:
        """Choose rows among the newest."""
        self._filter = expr
        return self

    def limit(self, n: int | None = None, offset: int | None = None) -> LsmScanner:
        """Choose so many rows behind an offset."""
        self._limit = n, offset or 0
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
        rows = pa.concat_tables([_newest_last(one, self._keys) for one in parts])
        kept = _first_of_each(rows.select(self._keys))  # L.index.mem-wal.newest
        kept = kept[~np.asarray(rows[TOMBSTONE].combine_chunks().take(pa.array(kept)))]
        rows = rows.take(pa.array(kept))
        if self._filter is not None:
            bound = bind_filter(self._filter, rows.schema)
            masks = [bound.mask(batch) for batch in rows.combine_chunks().to_batches()]
            chosen = np.flatnonzero(np.concatenate([np.empty(0, np.bool_), *masks]))
            rows = rows.take(pa.array(chosen))
        count, offset = self._limit
        rows = rows.slice(offset, count)
        schema = self.projected_schema
        return rows.select(schema.names).cast(schema)

    @property
    def projected_schema(self) -> pa.Schema:
        """Schema of the result: what is chosen, then what is missing of the key."""
        wanted = self._dataset.schema.names if self._columns is None else self._columns
        missing = [name for name in self._keys if name not in wanted]
        own = [self._dataset.schema.field(name) for name in [*wanted, *missing]]
        added = [one for one in (ADDRESS, GENERATION) if one.name in self._added]
        return pa.schema([*own, *added])

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
        flushed = sum(len(snapshot.sstables) for snapshot in self._snapshots)
        return 1 + flushed + len(self._unflushed)

    def _parts(self) -> Iterator[pa.Table]:
        """Yield what is newer before what is older."""
        from lanceref.dataset import dataset as opened

        for generation, rows in self._unflushed:
            yield self._part(rows, generation)
        for snapshot in self._snapshots:
            folder = f"{self._dataset.uri}/{shard_folder(UUID(snapshot.shard_id))}"
            for generation, path in sorted(snapshot.sstables, reverse=True):
                yield self._part(opened(f"{folder}/{path}").to_table(), generation)
        base = self._dataset.to_table(with_row_address=True)
        yield self._part(base, BASE_GENERATION)

    def _part(self, rows: pa.Table, generation: int) -> pa.Table:
        """Return rows with the columns that every part has."""
        schema = self._dataset.schema
        nulls = pa.nulls(rows.num_rows, pa.uint64())
        addresses = rows[ROW_ADDRESS] if ROW_ADDRESS in rows.schema.names else nulls
        generations = pa.array(np.full(rows.num_rows, generation, np.uint64))
        own = [rows[name].cast(schema.field(name).type) for name in schema.names]
        nullable = [one.with_nullable(True) for one in schema]
        fields = [
            *nullable,
            pa.field(TOMBSTONE, pa.bool_()),
            ADDRESS,
            GENERATION,
        ]
        gone = pa.array(np.zeros(rows.num_rows, np.bool_))  # who deletes nothing says nothing
        marks = rows[TOMBSTONE] if TOMBSTONE in rows.schema.names else gone
        return pa.table([*own, marks, addresses, generations], schema=pa.schema(fields))


def _newest_last(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    """Return of rows in the order they were written the last of each key, in their order."""
    last = rows.num_rows - 1 - _first_of_each(rows.select(keys).take(_backwards(rows.num_rows)))
    return rows.take(pa.array(np.sort(last)))


def _backwards(count: int) -> pa.Array:
    return pa.array(np.arange(count, dtype=np.int64)[::-1])


def _first_of_each(keys: pa.Table) -> NDArray[np.int64]:
    """Return the first row of each key, ascending."""
    seen: dict[tuple[object, ...], int] = {}
    columns = [key_values(column) for column in keys.columns]
    for number, key in enumerate(zip(*columns, strict=True)):
        seen.setdefault(key, number)
    return np.array(list(seen.values()), np.int64)
