"""UpdateConfig, UpdateBases and UpdateMemWalState: a version with the same rows and columns.

Four maps hold settings: config, table metadata, schema metadata and the metadata of each field. An
update of a map lists keys: with a value it is set, without one it goes; `replace` empties the map
first.

Clauses: L.txn.op.update-config, L.txn.op.update-bases, L.txn.op.update-mem-wal, L.table.base.unique
"""

from __future__ import annotations

from collections.abc import MutableMapping

from lanceref.errors import OperationRefused
from lanceref.proto import mem_wal_pb2, table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.txn.index_entries import MEM_WAL_INDEX
from lanceref.txn.making import Making


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
    index = next((one for one in making.indices if one.name == MEM_WAL_INDEX), None)
    if index is None:
        raise OperationRefused("the table has no memory WAL index")
    details = mem_wal_pb2.MemWalIndexDetails()
    index.index_details.Unpack(details)
    newest = {one.shard_id.uuid: one.generation for one in details.compacted_sstables}
    for one in making.transaction.update_mem_wal_state.compacted_sstables:
        newest[one.shard_id.uuid] = max(one.generation, newest.get(one.shard_id.uuid, 0))
    del details.compacted_sstables[:]
    for shard, generation in newest.items():
        details.compacted_sstables.add(generation=generation).shard_id.uuid = shard
    index.index_details.Pack(details)
