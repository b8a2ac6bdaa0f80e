"""The write-ahead log, checked: every version of every shard, and the entries behind the latest.

Clauses: L.index.mem-wal.manifest, L.index.mem-wal.manifest-name, L.index.mem-wal.sstables,
L.index.mem-wal.entry, L.index.mem-wal.positions
"""

from __future__ import annotations

from lanceref.core.context import Context
from lanceref.index.mem_wal.log_entry import read_entries
from lanceref.index.mem_wal.shard_manifest import read_manifest, shards, versions
from lanceref.storage import Store


def check_log(store: Store, ctx: Context) -> None:
    """Read every shard; what is wrong with one file does not keep others from being read."""
    for shard in shards(store):
        flushed = 0
        for version in versions(store, shard):
            with ctx.piece():
                manifest = read_manifest(store, shard, version, ctx)
                flushed = manifest.replay_after_wal_entry_position
        with ctx.piece():
            for _ in read_entries(store, shard, flushed, ctx):
                pass
