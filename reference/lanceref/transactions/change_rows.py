"""Delete, Update and UpdateMemWalState: rows removed, moved to new fragments, or changed in place.

A row is removed by its fragment's deletion file; a fragment without rows leaves the table. An
Update either writes changed rows anew (rows mode) or puts new columns beside the old ones of the
same fragments (columns mode). Rows of the write-ahead log that the table takes in are noted in the
index of the log.

Clauses: L.txn.op.delete, L.txn.op.update, L.txn.op.update-index, L.table.row-versions.moved,
L.table.row-versions.updated
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import OperationRefused
from lanceref.proto import mem_wal_pb2, table_pb2
from lanceref.proto.mem_wal_pb2 import CompactedSsTable
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.roaring import parse_bitmap
from lanceref.transactions.index_entries import (
    MEM_WAL_INDEX,
    drop_dead,
    take_from_bitmaps,
    widen_bitmaps,
)
from lanceref.transactions.manifest_builder import Making
from lanceref.transactions.row_lineage import (
    identify,
    moved_ids,
    replace_overlays,
    set_moved,
    set_updated,
    take_fields,
)
from lanceref.transactions.schema_operations import drop_idle_files

REWRITE_COLUMNS = Transaction.Update.REWRITE_COLUMNS


def delete(making: Making) -> None:
    """Put the fragments of a Delete in place of theirs, and take whole ones out."""
    given = making.transaction.delete
    changed = {one.id: one.inline_last_updated_at_versions for one in making.message.fragments}
    _replace(making, given.updated_fragments, given.deleted_fragment_ids)
    for told in given.updated_fragments:
        fragment = making.fragment(told.id)
        if fragment is not None and changed.get(told.id) and _gained_overlays(fragment, told):
            fragment.inline_last_updated_at_versions = changed[told.id]
    _drop_files(making, [one.id for one in given.updated_fragments])
    drop_dead(making)


def update(making: Making) -> None:
    """Apply an Update, in rows mode or in columns mode."""
    given = making.transaction.update
    updated = [one.id for one in given.updated_fragments]
    _replace(making, given.updated_fragments, given.removed_fragment_ids)
    for number in updated if given.update_mode == REWRITE_COLUMNS else ():
        fragment = making.fragment(number)
        if fragment is not None:
            take_fields(fragment, set(given.fields_modified), making.message.version)
    take_from_bitmaps(making, set(given.fields_modified), updated)
    _drop_files(making, updated)
    if making.stable and given.update_mode == REWRITE_COLUMNS:
        _note_updated(making, given)
    added = making.new_ids(given.new_fragments)
    pure = [one.id for one in added if one.physical_rows == len(moved_ids(one))]
    if making.stable:
        for fragment in added:
            set_moved(making, fragment, identify(making, fragment))
        if given.update_mode != REWRITE_COLUMNS:
            sources = [*given.removed_fragment_ids, *updated]
            widen_bitmaps(making, pure, sources, set(given.fields_for_preserving_frag_bitmap))
    making.message.fragments.extend(added)
    if given.compacted_sstables:
        add_compacted(making, given.compacted_sstables)
    drop_dead(making)


def _replace(
    making: Making, updated: Iterable[table_pb2.DataFragment], removed: Iterable[int]
) -> None:
    by_id, gone = {one.id: one for one in updated}, set(removed)
    now = {one.id: list(one.overlays) for one in making.message.fragments}
    making.replace_fragments(
        by_id.get(one.id, one) for one in list(making.message.fragments) if one.id not in gone
    )
    for fragment in making.message.fragments:
        if fragment.id in by_id:  # others may have put overlays there meanwhile
            replace_overlays(fragment, now[fragment.id])


def _gained_overlays(fragment: table_pb2.DataFragment, told: table_pb2.DataFragment) -> bool:
    """Whether others put overlays over a fragment, and changed rows by that."""
    return len(fragment.overlays) > len(told.overlays)


def _drop_files(making: Making, numbers: Iterable[int]) -> None:
    for number in numbers:
        fragment = making.fragment(number)
        if fragment is not None:
            drop_idle_files(fragment, making.field_ids)


def _note_updated(making: Making, given: Transaction.Update) -> None:
    """Say of which rows this version changed columns, where the transaction says it."""
    for number, offsets in updated_offsets(given).items():
        fragment = making.fragment(number)
        if fragment is not None:
            set_updated(making, fragment, offsets)


def updated_offsets(given: Transaction.Update) -> dict[int, NDArray[np.int64]]:
    """Return the row offsets by fragment id that an Update lists. Raises FormatError."""
    found = {
        number: np.array(listed.values, np.int64)
        for number, listed in given.updated_fragment_offsets.items()
    }
    for number, data in given.updated_fragment_offset_bitmaps.items():
        cursor = Cursor(memoryview(data), 0, Context("transaction"))
        found[number] = parse_bitmap(cursor).astype(np.int64)
    return found


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
