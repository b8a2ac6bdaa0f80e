"""The memory write-ahead log of a dataset, begun and looked at (face).

Has the names of pylance's `LanceDataset`.
"""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING

from lanceref.core.errors import EditFailed
from lanceref.index.mem_wal.details import (
    as_dict,
    check_key,
    check_maintained,
    details_of,
    spec_of,
    writer_defaults,
    writer_options,
)
from lanceref.proto import table_pb2
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails
from lanceref.transactions.index_entries import MEM_WAL_INDEX
from lanceref.transactions.manifest_builder import Staged

from pylanceref.signatures import parameters
from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    from pylanceref.shard_writer import ShardWriter


class MemWalIndexing(OpenTable):
    """The log before a table."""

    @parameters(
        "self * maintained_indexes bucket_column num_buckets identity_column unsharded "
        "durable_write max_wal_buffer_size max_wal_flush_interval_ms max_memtable_size "
        "max_memtable_rows max_memtable_batches max_unflushed_memtable_bytes "
        "manifest_scan_batch_size backpressure_log_interval_ms stats_log_interval_ms hnsw_params",
    )
    def initialize_mem_wal(
        self,
        *,
        maintained_indexes: list[str] | None = None,
        bucket_column: str | None = None,
        num_buckets: int | None = None,
        identity_column: str | None = None,
        unsharded: bool = False,
        **writer: object,
    ) -> None:
        """Begin a log; `writer` are options that its writers start from.

        Without `maintained_indexes` writers keep every index that they can.
        Raises EditFailed, OperationRefused, CommitConflict; TypeError, OverflowError, ValueError
        for a value that an option cannot have.
        """
        schema, entries = self._snapshot.manifest.schema, self._snapshot.manifest.indices
        spec = spec_of(schema, bucket_column, num_buckets, identity_column, unsharded=unsharded)
        if any(entry.name == MEM_WAL_INDEX for entry in entries):
            raise EditFailed("MemWAL is already initialized on this dataset.")
        check_key(schema)
        check_maintained(maintained_indexes or (), entries)
        details = details_of(spec, maintained_indexes, writer_defaults(writer))
        entry = table_pb2.IndexMetadata(
            name=MEM_WAL_INDEX,
            dataset_version=self.version,
            index_version=0,
            created_at=time.time_ns() // 1_000_000,
        )
        entry.uuid.uuid = uuid.uuid4().bytes
        entry.index_details.type_url = f"/{MemWalIndexDetails.DESCRIPTOR.full_name}"
        entry.index_details.value = details.SerializeToString(deterministic=True)
        transaction = self._new_transaction()
        transaction.create_index.new_indices.append(entry)
        self._commit(Staged(transaction))

    def mem_wal_index_details(self) -> dict[str, object] | None:
        """Return how the log is sharded and written, None without a log. Raises BadProto."""
        details = self._snapshot.indices.mem_wal
        return None if details is None else as_dict(details)

    @parameters(
        "self shard_id * durable_write max_wal_buffer_size max_wal_flush_interval_ms "
        "max_memtable_size max_memtable_rows max_memtable_batches max_unflushed_memtable_bytes "
        "manifest_scan_batch_size backpressure_log_interval_ms stats_log_interval_ms hnsw_params",
    )
    def mem_wal_writer(self, shard_id: str, **options: object) -> ShardWriter:
        """Take a shard over and return its writer; `options` are about buffers: it has none.

        Raises EditFailed without a log, ValueError for an id that is none, TypeError for an option
        that there is not; TypeError, OverflowError, ValueError for a value that it cannot have.
        """
        writer_options(options)
        from pylanceref.shard_writer import ShardWriter

        if self._snapshot.indices.mem_wal is None:
            raise EditFailed(
                "MemWAL is not initialized on this dataset. Call initialize_mem_wal() first."
            )
        return ShardWriter(self, shard_id)  # type: ignore[arg-type]
