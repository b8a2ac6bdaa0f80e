"""Writing a shard of the memory write-ahead log, and the rows that a scan over it returns.

A writer takes a shard over before it writes: a manifest of a higher epoch tells others that they
have lost it, and a fence after the last entry lies where a writer of an earlier epoch would write
next, so that its write fails. No entry is ever replaced.

Clauses: L.index.mem-wal.epoch, L.index.mem-wal.fence, L.index.mem-wal.newest
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.errors import CommitConflict
from lanceref.index.mem_wal.shard_log import (
    EPOCH,
    FENCE,
    GENERATION,
    HINT,
    TOMBSTONE,
    LogEntry,
    entry_path,
    manifest_path,
    positions,
    read_manifest,
    shard_folder,
    versions,
)
from lanceref.proto.mem_wal_pb2 import ShardManifest
from lanceref.storage import Store


def take_over(store: Store, shard: uuid.UUID, ctx: Context) -> tuple[ShardManifest, int]:
    """Become the writer of a shard; return its manifest, and the position of the next entry.

    Raises CommitConflict when another writer takes it over at the same time, FormatError.
    """
    known = versions(store, shard)
    own = ShardManifest(current_generation=1)
    own.shard_id.uuid = shard.bytes
    if known:
        own.CopyFrom(read_manifest(store, shard, known[-1], ctx))
    own.version, own.writer_epoch = own.version + 1, own.writer_epoch + 1
    write_manifest(store, shard, own)  # L.index.mem-wal.epoch: before anything else is written
    if not known:
        return own, 1
    fence = max([own.replay_after_wal_entry_position, *positions(store, shard)]) + 1
    write_entry(
        store, shard, fence, LogEntry(own.writer_epoch, None, None)
    )  # L.index.mem-wal.fence
    return own, fence + 1


def write_manifest(store: Store, shard: uuid.UUID, manifest: ShardManifest) -> None:
    """Write a version of a shard, and the hint that names it. Raises CommitConflict."""
    data = manifest.SerializeToString(deterministic=True)
    _put(store, manifest_path(shard, manifest.version), data, manifest.version)
    hint = b'{"version":%d}' % manifest.version
    store.put(f"{shard_folder(shard)}/manifest/{HINT}", hint)


def write_entry(store: Store, shard: uuid.UUID, position: int, entry: LogEntry) -> None:
    """Write an entry or a fence. Raises CommitConflict when the position is taken."""
    metadata = {EPOCH: b"%d" % entry.writer_epoch}
    if entry.rows is None:
        metadata[FENCE] = b"true"
        rows = pa.table({})
    else:
        metadata[GENERATION] = b"%d" % (entry.generation or 0)
        rows = entry.rows
    rows = rows.replace_schema_metadata(metadata)
    out = io.BytesIO()
    with pa.ipc.new_stream(out, rows.schema) as stream:
        stream.write_table(rows.combine_chunks())
    _put(store, entry_path(shard, position), out.getvalue(), position)


def _put(store: Store, path: str, data: bytes, number: int) -> None:
    if not store.put_if_absent(path, data):
        raise CommitConflict("MemWal", "MemWal", number, retryable=False)


def newest_rows(rows: Iterable[pa.Table], key: Sequence[str]) -> pa.Table:
    """Return the rows of a scan over tables with `_tombstone`, the oldest table first.

    Of each primary key the last row counts, and no row where that is a tombstone: the key was
    deleted. Rows keep their order; `_tombstone` is left out.
    """
    joined = pa.concat_tables(rows)
    last = dict[tuple[object, ...], int]()
    for row, values in enumerate(zip(*(joined[name].to_pylist() for name in key), strict=True)):
        last[values] = row  # L.index.mem-wal.newest
    kept = np.sort(np.fromiter(last.values(), np.int64, len(last)))
    newest = joined.take(pa.array(kept))
    return newest.filter(pa.compute.invert(newest[TOMBSTONE])).drop_columns([TOMBSTONE])
