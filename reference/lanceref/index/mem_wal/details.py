"""MemWAL details: what the index section says of the log of a table.

The entry `__lance_mem_wal` of the index section has no fields, fragments or files; everything is in
its details.

Clauses: L.index.mem-wal.details
"""

from __future__ import annotations

from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails


def statistics(details: MemWalIndexDetails) -> dict[str, object]:
    """Return numbers of the log."""
    return {
        "num_shards": details.num_shards,
        "num_compacted_sstables": len(details.compacted_sstables),
        "num_shard_specs": len(details.sharding_specs),
        "num_maintained_indexes": len(details.maintained_indexes),
        "num_index_catchup_entries": len(details.index_catchup),
    }
