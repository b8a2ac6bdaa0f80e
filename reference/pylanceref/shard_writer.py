"""Shard writer: rows put into a shard of the log (face).

Who opens a shard takes it over: a writer of an earlier epoch can write no more. What is put is
durable when the call returns: it is in the log, where the next writer finds it, and is flushed into
a table of its own when the writer is closed.

Clauses: L.index.mem-wal.epoch, L.index.mem-wal.fence
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import numpy as np
import pyarrow as pa
from lanceref.core.errors import CommitConflict, EditFailed
from lanceref.index.mem_wal.log_entry import (
    TOMBSTONE,
    LogEntry,
    positions,
    read_entries,
    write_entry,
)
from lanceref.index.mem_wal.shard_manifest import latest_manifest, write_manifest
from lanceref.proto.mem_wal_pb2 import ShardManifest

from pylanceref.input_rows import reader_of
from pylanceref.lsm_scanner import LsmScanner, primary_key
from pylanceref.shard_snapshot import ShardSnapshot
from pylanceref.sstable import write_sstable

if TYPE_CHECKING:
    from pylanceref.dataset import LanceDataset

FIELD_ID = "lance:field_id"


class ShardWriter:
    """The writer of a shard. Raises ValueError for an id that is none, EditFailed, FormatError."""

    def __init__(self, dataset: LanceDataset, shard_id: str) -> None:
        try:
            self._shard = UUID(shard_id)
        except ValueError as error:
            raise ValueError(f"Invalid shard_id UUID: {error}") from error
        self._dataset, self._closed = dataset, False
        self._puts, self._written = 0, 0
        self._unflushed: list[pa.Table] = []
        self._manifest, self._next = self._taken_over()

    def _taken_over(self) -> tuple[ShardManifest, int]:
        """Write the manifest of a new epoch, and a fence behind an earlier one."""
        store, ctx = self._dataset._snapshot.store, self._dataset._ctx
        before = latest_manifest(store, self._shard, ctx)
        if before is None:
            first = ShardManifest(version=1, writer_epoch=1, current_generation=1)
            first.shard_id.uuid = self._shard.bytes
            write_manifest(store, self._shard, first)
            return first, 1
        own = ShardManifest()
        own.CopyFrom(before)
        # L.index.mem-wal.epoch
        own.version, own.writer_epoch = before.version + 1, before.writer_epoch + 1
        write_manifest(store, self._shard, own)
        flushed = own.replay_after_wal_entry_position
        last = max([flushed, *positions(store, self._shard)])
        fence = LogEntry(own.writer_epoch, None, None)
        write_entry(store, self._shard, last + 1, fence)  # L.index.mem-wal.fence
        for _, entry in read_entries(store, self._shard, flushed, ctx):
            if entry.rows is not None and entry.rows.num_rows:
                self._unflushed.append(entry.rows)
        own.version, own.wal_entry_position_last_seen = own.version + 1, last + 1
        write_manifest(store, self._shard, own)
        return own, last + 2

    @property
    def shard_id(self) -> str:
        """The shard."""
        return str(self._shard)

    def put(self, data: object, *, schema: pa.Schema | None = None) -> None:
        """Write rows of the table's columns. Raises EditFailed, CommitConflict."""
        rows = reader_of(data, schema).read_all()
        for number, (own, given) in enumerate(
            zip(self._dataset.schema.names, rows.schema.names, strict=False)
        ):
            if own != given:
                raise EditFailed(
                    f"batch 0 column {number} is named '{given}', but the base table schema "
                    f"declares '{own}' at that position"
                )
        if rows.num_columns != len(self._dataset.schema.names):
            raise EditFailed(
                f"batch 0 has {rows.num_columns} columns, but the base table schema declares "
                f"{len(self._dataset.schema.names)}"
            )
        self._append(rows, deleted=False)

    def delete(self, keys: object, *, schema: pa.Schema | None = None) -> None:
        """Write that the rows of some primary keys are deleted. Raises EditFailed."""
        rows = reader_of(keys, schema).read_all()
        names = primary_key(self._dataset.schema)
        if not names:
            raise EditFailed("delete requires a primary key, but this shard has no primary key")
        columns = {}
        for field in self._dataset.schema:
            if field.name in names and field.name not in rows.schema.names:
                raise EditFailed(f"delete requires the primary key column '{field.name}'")
            if field.name not in names and not field.nullable:
                raise EditFailed(f"delete requires column '{field.name}' to be nullable")
            given = field.name in names
            columns[field.name] = rows[field.name] if given else pa.nulls(rows.num_rows, field.type)
        self._append(pa.table(columns), deleted=True)

    def _append(self, rows: pa.Table, *, deleted: bool) -> None:
        """Write an entry. Raises EditFailed, CommitConflict when another writer took over."""
        self._check_open()
        marks = pa.array(np.full(rows.num_rows, deleted))
        fields = [*_numbered(self._dataset), pa.field(TOMBSTONE, pa.bool_(), nullable=False)]
        schema = pa.schema(fields)
        for number, one in enumerate(fields[:-1]):
            found, refused = rows[one.name], "batch 0 does not match the base table schema"
            if found.type != one.type:
                raise EditFailed(
                    f"{refused}: expected {one.type} but found {found.type} at column index "
                    f"{number}"
                )
            if found.null_count and not one.nullable:
                raise EditFailed(
                    f"{refused}: Column '{one.name}' is declared as non-nullable but contains "
                    "null values"
                )
        if not rows.num_rows:
            return
        entry = pa.table([*(rows[one.name] for one in fields[:-1]), marks], schema=schema)
        manifest = self._manifest
        written = LogEntry(manifest.writer_epoch, manifest.current_generation, entry)
        write_entry(self._dataset._snapshot.store, self._shard, self._next, written)
        self._next += 1
        self._puts += 1
        self._written += entry.nbytes
        self._unflushed.append(entry)

    def stats(self) -> dict[str, int]:
        """Return how often and how many bytes were written; times are not measured."""
        return {
            "put_count": self._puts,
            "put_time_ms": 0,
            "wal_flush_count": self._puts,
            "wal_flush_bytes": self._written,
            "wal_flush_time_ms": 0,
            "memtable_flush_count": 0,
            "memtable_flush_rows": 0,
            "memtable_flush_failures": 0,
            "memtable_flush_time_ms": 0,
        }

    def memtable_stats(self) -> dict[str, int | None]:
        """Return what is held in memory; all of it is in the log too, none waits to be flushed."""
        held = self._unflushed
        size_bytes = sum(rows.nbytes for rows in held)
        return {
            "row_count": sum(rows.num_rows for rows in held),
            "batch_count": len(held),
            "estimated_size_bytes": size_bytes,
            "index_bytes": 0,
            "generation": self._manifest.current_generation,
            "max_buffered_batch_position": len(held) - 1 if held else None,
            "durable_batch_count": self._puts,
            "global_offset": self._puts if self._closed else 0,
            "pending_wal_start_batch_position": None,
            "pending_wal_end_batch_position": None,
            "pending_wal_batch_count": 0,
            "pending_wal_row_count": 0,
            "pending_wal_estimated_bytes": 0,
            "frozen_count": 0,
            "frozen_bytes": 0,
            "grace_bytes": 0,
            "retained_bytes": size_bytes,
        }

    def lsm_scanner(self, shard_snapshots: Sequence[ShardSnapshot] | None = None) -> LsmScanner:
        """Describe a scan that has everything written here. Raises EditFailed, OperationRefused."""
        self._check_open()
        own = ShardSnapshot(self.shard_id)
        for one in self._manifest.sstables:
            own.with_sstable(one.generation, one.path)
        generation = self._manifest.current_generation
        plain = [rows.replace_schema_metadata(None) for rows in reversed(self._unflushed)]
        unflushed = [(generation, rows) for rows in plain]
        return LsmScanner(self._dataset, [own, *(shard_snapshots or ())], unflushed)

    def _check_open(self) -> None:
        if self._closed:
            raise EditFailed("ShardWriter is already closed")

    def close(self) -> None:
        """Flush what the log holds into a table of its own and end writing.

        Raises CommitConflict when another writer took over.
        """
        if not self._closed and self._unflushed:
            self._flush()
        self._closed = True

    def _flush(self) -> None:
        """Write a generation, and the manifest that names it."""
        store, own = self._dataset._snapshot.store, self._manifest
        latest = latest_manifest(store, self._shard, self._dataset._ctx)
        if latest is None or latest.writer_epoch != own.writer_epoch:
            raise CommitConflict("MemWal", "MemWal", own.version, retryable=False)
        rows = pa.concat_tables([one.replace_schema_metadata(None) for one in self._unflushed])
        made = write_sstable(self._dataset, self._shard, own.current_generation, rows)
        own.version, own.current_generation = own.version + 1, own.current_generation + 1
        own.replay_after_wal_entry_position = self._next - 1
        own.wal_entry_position_last_seen = self._next - 1
        own.sstables.append(made)
        write_manifest(store, self._shard, own)
        self._unflushed = []

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Literal[False]:
        self.close()
        return False


def _numbered(dataset: LanceDataset) -> list[pa.Field]:
    """Return the fields of a table, each with its id."""
    ids = {one.name: one.id for one in dataset._snapshot.manifest.schema.fields}
    return [
        one.with_metadata({**(one.metadata or {}), FIELD_ID: f"{ids[one.name]}"})
        for one in dataset.schema
    ]
