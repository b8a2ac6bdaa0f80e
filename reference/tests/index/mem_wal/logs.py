"""Shards as a writer leaves them."""

from __future__ import annotations

import io
import uuid

import pyarrow as pa
from lanceref.index.mem_wal.shard_log import (
    EPOCH,
    FENCE,
    GENERATION,
    HINT,
    LogEntry,
    entry_path,
    manifest_path,
    shard_folder,
)
from lanceref.proto.mem_wal_pb2 import ShardManifest
from lanceref.storage import Store


def write_manifest(store: Store, shard: uuid.UUID, manifest: ShardManifest) -> None:
    """Write a version of a shard, which there is not yet, and the hint of it."""
    data = manifest.SerializeToString(deterministic=True)
    assert store.put_if_absent(manifest_path(shard, manifest.version), data)
    hint = b'{"version":%d}' % manifest.version
    store.put(f"{shard_folder(shard)}/manifest/{HINT}", hint)


def write_entry(store: Store, shard: uuid.UUID, position: int, entry: LogEntry) -> None:
    """Write an entry, or a fence, at a position that has none."""
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
        for batch in rows.combine_chunks().to_batches():
            stream.write_batch(batch)
    assert store.put_if_absent(entry_path(shard, position), out.getvalue())
