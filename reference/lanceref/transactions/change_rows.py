"""Delete, Update and UpdateMemWalState: rows removed, moved to new fragments, or changed in place.

A row is removed by its fragment's deletion file; a fragment without rows leaves the table. An
Update either writes changed rows anew (rows mode) or puts new columns beside the old ones of the
same fragments (columns mode). Rows of the write-ahead log that the table takes in are noted in the
index of the log.

Clauses: L.txn.op.delete, L.txn.op.update, L.txn.op.update-index, L.table.row-versions.moved,
L.table.row-versions.updated
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import OperationRefused
from lanceref.proto import mem_wal_pb2, table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.roaring import parse_bitmap
from lanceref.transactions.index_entries import (
    MEM_WAL_INDEX,
    drop_dead,
    take_from_bitmaps,
    widen_bitmaps,
)
from lanceref.transactions.manifest_builder import Builder, assign
from lanceref.transactions.row_lineage import (
    identify,
    moved_ids,
    set_moved,
    set_updated,
    take_fields,
)
from lanceref.transactions.schema_operations import drop_idle_files

REWRITE_COLUMNS = Transaction.Update.REWRITE_COLUMNS


def delete(builder: Builder) -> None:
    """Put the fragments of a Delete in place of theirs, and remove whole ones."""
    given = builder.transaction.delete
    changed = {one.id: one.inline_last_updated_at_versions for one in builder.message.fragments}
    updated = _replace(builder, given.updated_fragments, given.deleted_fragment_ids)
    listed = {one.id: len(one.overlays) for one in given.updated_fragments}
    for fragment in updated:
        # Overlays that others put there meanwhile changed rows too.
        if changed.get(fragment.id) and len(fragment.overlays) > listed[fragment.id]:
            fragment.inline_last_updated_at_versions = changed[fragment.id]
        drop_idle_files(fragment, builder.field_ids)
    drop_dead(builder)


def update(builder: Builder) -> None:
    """Apply an Update, in rows mode or in columns mode."""
    given = builder.transaction.update
    columns_mode = given.update_mode == REWRITE_COLUMNS
    updated = _replace(builder, given.updated_fragments, given.removed_fragment_ids)
    numbers = [one.id for one in given.updated_fragments]
    for fragment in updated if columns_mode else ():
        take_fields(fragment, set(given.fields_modified), builder.message.version)
    take_from_bitmaps(builder, set(given.fields_modified), numbers)
    for fragment in updated:
        drop_idle_files(fragment, builder.field_ids)
    if builder.stable and columns_mode:
        by_fragment = updated_offsets(given)
        for fragment in builder.message.fragments:
            if fragment.id in by_fragment:
                set_updated(builder, fragment, by_fragment[fragment.id])
    added = builder.new_ids(given.new_fragments)
    pure = [one.id for one in added if one.physical_rows == len(moved_ids(one))]
    if builder.stable:
        for fragment in added:
            set_moved(builder, fragment, identify(builder, fragment))
        if not columns_mode:
            sources = [*given.removed_fragment_ids, *numbers]
            widen_bitmaps(builder, pure, sources, set(given.fields_for_preserving_frag_bitmap))
    builder.message.fragments.extend(added)
    if given.compacted_sstables:
        add_compacted(builder, given.compacted_sstables)
    drop_dead(builder)


def _replace(
    builder: Builder, updated: Iterable[table_pb2.DataFragment], removed: Iterable[int]
) -> list[table_pb2.DataFragment]:
    """Put updated fragments in place of the old ones and return them as they are now.

    Their overlays stay: others may have put some there meanwhile.
    """
    by_id, removed_ids, held = {one.id: one for one in updated}, set(removed), builder.message
    old = [one for one in held.fragments if one.id not in removed_ids]
    overlays = {one.id: list(one.overlays) for one in old}
    assign(held.fragments, [by_id.get(one.id, one) for one in old])
    replaced = [one for one in held.fragments if one.id in by_id]
    for fragment in replaced:
        assign(fragment.overlays, overlays[fragment.id])
    return replaced


def updated_offsets(given: Transaction.Update) -> dict[int, NDArray[np.int64]]:
    """Return the row offsets by fragment id that an Update lists. Raises FormatError."""
    by_fragment = {
        number: np.array(listed.values, np.int64)
        for number, listed in given.updated_fragment_offsets.items()
    }
    for number, data in given.updated_fragment_offset_bitmaps.items():
        cursor = Cursor(memoryview(data), 0, Context("transaction"))
        by_fragment[number] = parse_bitmap(cursor).astype(np.int64)
    return by_fragment


def update_mem_wal(builder: Builder) -> None:
    """Note the tables of the write-ahead log whose rows are in the table now.

    Raises OperationRefused without an index of the log.
    """
    index = _log(builder)
    if index is None:
        raise OperationRefused("the table has no memory WAL index")
    note_compacted(index, builder.transaction.update_mem_wal_state.compacted_sstables)


def add_compacted(builder: Builder, tables: Iterable[mem_wal_pb2.CompactedSsTable]) -> None:
    """Note tables of the log whose rows this version takes in. Raises OperationRefused.

    Each generation comes after the one that its shard has noted: rows are not taken in twice.
    """
    index = _log(builder)
    if index is None:
        raise OperationRefused(
            "Invalid user input: Cannot record SSTable compaction progress: the __lance_mem_wal "
            "system index does not exist on this table"
        )
    note_compacted(index, tables, later=True)
    index.dataset_version = builder.message.version


def note_compacted(
    index: table_pb2.IndexMetadata,
    tables: Iterable[mem_wal_pb2.CompactedSsTable],
    *,
    later: bool = False,
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


def _log(builder: Builder) -> table_pb2.IndexMetadata | None:
    """Return the index of the log, None without one."""
    return next((one for one in builder.indices if one.name == MEM_WAL_INDEX), None)
