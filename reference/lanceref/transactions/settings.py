"""UpdateConfig, UpdateBases and UpdateMemWalState: a version with the same rows and columns.

Four maps hold settings: config, table metadata, schema metadata and the metadata of each field. An
update of a map lists keys: with a value it is set, without one it goes; `replace` empties the map
first.

Clauses: L.txn.op.update-config, L.txn.op.update-bases, L.txn.op.update-mem-wal, L.table.base.unique
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from uuid import UUID

from lanceref.core.errors import OperationRefused
from lanceref.proto import mem_wal_pb2, table_pb2
from lanceref.proto.mem_wal_pb2 import CompactedSsTable
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.transactions.index_entries import MEM_WAL_INDEX
from lanceref.transactions.manifest_builder import Making


def update_config(making: Making) -> None:
    """Edit the maps of an UpdateConfig. Raises OperationRefused for a field that does not exist."""
    given, message = making.transaction.update_config, making.message
    if given.HasField("config_updates"):
        _edit(message.config, given.config_updates)
    if given.HasField("table_metadata_updates"):
        _edit(message.table_metadata, given.table_metadata_updates)
    if given.HasField("schema_metadata_updates"):
        _edit_bytes(message.schema_metadata, given.schema_metadata_updates)
    by_id = {one.id: one for one in message.fields}
    for number, update in given.field_metadata_updates.items():
        if number not in by_id:
            raise OperationRefused(f"Field with id {number} does not exist")
        _edit_bytes(by_id[number].metadata, update)


def _edit(held: MutableMapping[str, str], update: Transaction.UpdateMap) -> None:
    if update.replace:
        held.clear()
    for entry in update.update_entries:
        if entry.HasField("value"):
            held[entry.key] = entry.value
        else:
            held.pop(entry.key, None)


def _edit_bytes(held: MutableMapping[str, bytes], update: Transaction.UpdateMap) -> None:
    texts = {key: value.decode() for key, value in held.items()}
    _edit(texts, update)
    held.clear()
    for key, text in texts.items():
        held[key] = text.encode()


def update_bases(making: Making) -> None:
    """Add base paths under ids of their own. Raises OperationRefused for one there is."""
    held = making.message.base_paths
    next_id = max((one.id for one in held), default=0) + 1
    for base in making.transaction.update_bases.new_bases:
        for other in held:
            named = base.HasField("name") and other.HasField("name") and base.name == other.name
            if named or base.path == other.path or (base.id and base.id == other.id):
                raise OperationRefused(f"base path {base.name or base.path!r} exists already")
        added = table_pb2.BasePath()
        added.CopyFrom(base)
        if not added.id:
            added.id, next_id = next_id, next_id + 1
        held.append(added)


def update_mem_wal(making: Making) -> None:
    """Note the tables of the write-ahead log whose rows are in the table now.

    Raises OperationRefused without an index of the log.
    """
    index = _log(making)
    if index is None:
        raise OperationRefused("the table has no memory WAL index")
    note_compacted(index, making.transaction.update_mem_wal_state.compacted_sstables)


def add_compacted(making: Making, tables: Sequence[CompactedSsTable]) -> None:
    """Note tables of the log whose rows this version takes in. Raises OperationRefused.

    Each generation comes after the one that its shard has noted: rows are not taken in twice.
    """
    index = _log(making)
    if index is None:
        raise OperationRefused(
            "Invalid user input: Cannot record SSTable compaction progress: the __lance_mem_wal "
            "system index does not exist on this table"
        )
    note_compacted(index, tables, later=True)
    index.dataset_version = making.message.version


def note_compacted(
    index: table_pb2.IndexMetadata, tables: Iterable[CompactedSsTable], *, later: bool = False
) -> None:
    """Keep the newest generation of each shard. Raises OperationRefused for one not `later`."""
    details = mem_wal_pb2.MemWalIndexDetails()
    index.index_details.Unpack(details)
    newest = {one.shard_id.uuid: one.generation for one in details.compacted_sstables}
    for one in tables:
        noted = newest.get(one.shard_id.uuid, 0)
        if later and one.generation <= noted:
            raise OperationRefused(
                "Invalid user input: Stale SSTable compaction for shard "
                f"{UUID(bytes=one.shard_id.uuid)}: proposed generation {one.generation} is not "
                f"greater than the recorded generation {noted}"
            )
        newest[one.shard_id.uuid] = max(one.generation, noted)
    del details.compacted_sstables[:]
    for shard, generation in newest.items():
        details.compacted_sstables.add(generation=generation).shard_id.uuid = shard
    index.index_details.Pack(details)


def _log(making: Making) -> table_pb2.IndexMetadata | None:
    """Return the index of the log, None without one."""
    return next((one for one in making.indices if one.name == MEM_WAL_INDEX), None)
