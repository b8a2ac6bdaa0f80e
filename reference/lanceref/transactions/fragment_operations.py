"""Operations on fragments: Delete, Update, Merge, Project, DataReplacement, and migration.

A row is removed by its fragment's deletion file; a fragment without rows leaves the table. An
Update either writes changed rows anew (rows mode) or puts new columns beside the old ones of the
same fragments (columns mode). A Merge lists all fragments and the whole schema anew; a Project only
the schema; a DataReplacement the files that hold some columns of some fragments.

Early releases left out what later ones count on, or had it wrong: rows, deleted rows and sizes of
files, the storage format. Readers look it up in the files; every commit states it in the next
version. Where two files of a fragment hold a field, it gets another id.

Clauses: L.txn.op.merge, L.txn.op.project, L.txn.op.data-replacement, L.txn.op.index-fields,
L.table.row-versions.updated, L.table.datafile.tombstone, L.txn.op.migration,
L.table.datafile.once-early, L.txn.op.delete, L.txn.op.update, L.txn.op.update-index,
L.table.row-versions.moved
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import OperationRefused
from lanceref.core.file_versions import V0_1
from lanceref.file.schema import HIDDEN_IDS
from lanceref.proto import mem_wal_pb2, table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table.file_entries import (
    FIELD_TWICE,
    TOMBSTONE,
    duplicated_fields,
    is_before,
    version_of,
)
from lanceref.table.fragments import Fragment, parse_fragments
from lanceref.table.manifest import Manifest
from lanceref.table.roaring import parse_bitmap
from lanceref.transactions import row_lineage
from lanceref.transactions.conflict import REPLACING, moves_fields
from lanceref.transactions.index_entries import (
    MEM_WAL_INDEX,
    drop_unused_entries,
    uncover_fragments,
    widen_bitmaps,
)
from lanceref.transactions.manifest_builder import Builder, assign, copy_of, storage_version_of


def merge(builder: Builder) -> None:
    """Put the fragments and the schema of a Merge in place of the old ones.

    Raises OperationRefused when it leaves a fragment out.
    """
    operation, old = builder.transaction.merge, builder.old_fragments()
    missing = old.keys() - {one.id for one in operation.fragments}
    if missing:  # L.txn.op.merge
        raise OperationRefused(f"Merge leaves out fragments {sorted(missing)}")
    assign(builder.message.fragments, operation.fragments)
    builder.set_schema(operation.schema)
    for fragment in builder.message.fragments:
        builder.note_id(fragment.id)
        before = old.get(fragment.id) if builder.stable else None
        if before is not None and list(before.message.files) != list(fragment.files):
            row_lineage.set_updated(builder, fragment, None)
    drop_unused_entries(builder)


def project(builder: Builder) -> None:
    """Put the schema of a Project in place of the old one; files without a field of it go."""
    builder.set_schema(builder.transaction.project.schema)
    live = builder.field_ids
    for fragment in builder.message.fragments:
        drop_unused_files(fragment, live)
    drop_unused_entries(builder)


def drop_unused_files(fragment: table_pb2.DataFragment, live: set[int]) -> None:
    """Remove files and overlays that hold no field of the schema."""
    overlays = [one for one in fragment.overlays if not live.isdisjoint(one.data_file.fields)]
    assign(fragment.overlays, overlays)
    wanted = live | set(HIDDEN_IDS)
    used = [one for one in fragment.files if not wanted.isdisjoint(one.fields)]
    if len(used) != len(fragment.files):
        assign(fragment.files, used)


def replace_data(builder: Builder) -> None:
    """Put new files in place of the columns they hold. Raises OperationRefused."""
    operation = builder.transaction.data_replacement
    fields = {one.fragment_id: tuple(one.new_file.fields) for one in operation.replacements}
    if len(set(fields.values())) > 1 or len(fields) < len(operation.replacements):
        raise OperationRefused("All new data files must have the same fields, one for a fragment")
    for one in operation.replacements:
        fragment = builder.fragment(one.fragment_id)
        if fragment is None:
            raise OperationRefused("Fragment being replaced not found in existing fragments")
        new = copy_of(one.new_file)
        if not new.file_size_bytes and builder.before is not None:
            new.file_size_bytes = builder.stored.file_size(builder.before, new)
        same = any(list(file.fields) == list(new.fields) for file in fragment.files)
        if version_of(new) == V0_1 and not same:
            raise OperationRefused(
                "Expected to modify the fragment but no changes were made. This means the new data "
                "files does not align with any exiting datafiles."
            )
        put_file(fragment, new)
        row_lineage.uncover_fields(fragment, new.fields, builder.transaction.read_version)
        drop_unused_files(fragment, builder.field_ids)
        uncover_fragments(builder, new.fields, [fragment.id])
        if builder.stable:
            row_lineage.set_updated(builder, fragment, None)


def put_file(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment: in place of one of the same, or beside others."""
    for file in fragment.files:
        if list(file.fields) == list(new.fields):
            file.CopyFrom(new)
            if version_of(new) == V0_1:
                del file.column_indices[:]
            return
    append_file(fragment, new)


def append_file(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment, after the others, which hold them no more.

    One that holds no other goes.
    """
    for file in fragment.files:
        file.fields[:] = [TOMBSTONE if one in new.fields else one for one in file.fields]
    others = [file for file in fragment.files if set(file.fields) != {TOMBSTONE}]
    assign(fragment.files, [*others, new])


def migrate(builder: Builder) -> None:
    """Complete the fragments and the storage format. Raises FormatError for a file that lacks."""
    # L.txn.op.migration
    before, message = builder.before, builder.message
    if before is None:
        return
    renews = builder.transaction.WhichOneof("operation") in REPLACING
    actual = str(storage_version_of(message if renews else before.message))
    if not message.HasField("data_format") or message.data_format.version == str(V0_1):
        message.data_format.file_format = "lance"
        message.data_format.version = actual
    if is_before(before.message, FIELD_TWICE):
        _renumber(builder, duplicated_fields(before.message.fragments))
    named = before.message.HasField("writer_version")
    for fragment in message.fragments:
        for file in fragment.files:
            if not file.file_size_bytes:
                file.file_size_bytes = builder.stored.file_size(before, file)
        deleted = fragment.HasField("deletion_file")
        if fragment.files and (not fragment.physical_rows or (deleted and not named)):
            parsed = _parsed(builder, before, fragment)
            fragment.physical_rows = builder.stored.rows(before, parsed).columns.physical_rows
        if deleted and not fragment.deletion_file.num_deleted_rows:
            offsets = builder.stored.rows(before, _parsed(builder, before, fragment)).deleted
            fragment.deletion_file.num_deleted_rows = len(offsets)


def _renumber(builder: Builder, twice: Sequence[int]) -> None:
    """Give fields that two files of a fragment hold new ids, which the last file has."""
    message, known = builder.message, builder.field_ids
    listed = {n for one in message.fragments for file in one.files for n in file.fields}
    fresh = max({0} | listed | known) + 1
    for old in twice:
        for fragment in message.fragments:
            holders = [file for file in fragment.files if old in file.fields]
            for file in holders[-1:] if old in known else holders[:-1]:
                new = fresh if old in known else TOMBSTONE
                file.fields[:] = [new if number == old else number for number in file.fields]
        if old not in known:
            continue
        for field in message.fields:
            field.id = fresh if field.id == old else field.id
            field.parent_id = fresh if field.parent_id == old else field.parent_id
        for index in builder.indices:
            index.fields[:] = [fresh if number == old else number for number in index.fields]
        fresh += 1
    for fragment in message.fragments:
        drop_unused_files(fragment, builder.field_ids)


def is_complete(fragment: table_pb2.DataFragment, *, named: bool) -> bool:
    """Whether a fragment states what later releases count on; `named`: its writer is known."""
    if not fragment.HasField("deletion_file"):
        return bool(fragment.physical_rows or not fragment.files)
    return named and bool(fragment.physical_rows and fragment.deletion_file.num_deleted_rows)


def _parsed(builder: Builder, before: Manifest, fragment: table_pb2.DataFragment) -> Fragment:
    """Return a fragment of the next version as a reader sees it."""
    alone = table_pb2.Manifest(fragments=[fragment], base_paths=builder.message.base_paths)
    (parsed,) = parse_fragments(alone, before.schema, builder.stored.ctx, before.place)
    return parsed


def delete(builder: Builder) -> None:
    """Put the fragments of a Delete in place of theirs, and remove whole ones."""
    operation = builder.transaction.delete
    changed = {one.id: one.inline_last_updated_at_versions for one in builder.message.fragments}
    updated = _replace(builder, operation.updated_fragments, operation.deleted_fragment_ids)
    listed = {one.id: len(one.overlays) for one in operation.updated_fragments}
    for fragment in updated:
        # Overlays that others put there meanwhile changed rows too.
        if changed.get(fragment.id) and len(fragment.overlays) > listed[fragment.id]:
            fragment.inline_last_updated_at_versions = changed[fragment.id]
        drop_unused_files(fragment, builder.field_ids)
    drop_unused_entries(builder)


def update(builder: Builder) -> None:
    """Apply an Update, in rows mode or in columns mode."""
    message = builder.transaction.update
    columns_mode = moves_fields(builder.transaction)
    updated = _replace(builder, message.updated_fragments, message.removed_fragment_ids)
    numbers = [one.id for one in message.updated_fragments]
    for fragment in updated if columns_mode else ():
        row_lineage.uncover_fields(fragment, set(message.fields_modified), builder.message.version)
    uncover_fragments(builder, set(message.fields_modified), numbers)
    for fragment in updated:
        drop_unused_files(fragment, builder.field_ids)
    if builder.stable and columns_mode:
        by_fragment = updated_offsets(message)
        for fragment in builder.message.fragments:
            if fragment.id in by_fragment:
                row_lineage.set_updated(builder, fragment, by_fragment[fragment.id])
    added = builder.new_ids(message.new_fragments)
    pure = [one.id for one in added if one.physical_rows == len(row_lineage.moved_ids(one))]
    if builder.stable:
        for fragment in added:
            row_lineage.set_moved(builder, fragment, row_lineage.assign_row_ids(builder, fragment))
        if not columns_mode:
            sources = [*message.removed_fragment_ids, *numbers]
            widen_bitmaps(builder, pure, sources, set(message.fields_for_preserving_frag_bitmap))
    builder.message.fragments.extend(added)
    if message.compacted_sstables:
        _note_compacted(builder, message.compacted_sstables, later=True)
    drop_unused_entries(builder)


def _replace(
    builder: Builder, updated: Iterable[table_pb2.DataFragment], removed: Iterable[int]
) -> list[table_pb2.DataFragment]:
    """Replace fragments by updated ones, which keep their present overlays, and return these."""
    by_id, removed_ids, message = {one.id: one for one in updated}, set(removed), builder.message
    old = [one for one in message.fragments if one.id not in removed_ids]
    overlays = {one.id: list(one.overlays) for one in old}
    assign(message.fragments, [by_id.get(one.id, one) for one in old])
    replaced = [one for one in message.fragments if one.id in by_id]
    for fragment in replaced:
        assign(fragment.overlays, overlays[fragment.id])
    return replaced


def updated_offsets(update: Transaction.Update) -> dict[int, NDArray[np.int64]]:
    """Return the row offsets by fragment id that an Update lists. Raises FormatError.

    Each int64 (offsets,).
    """
    listed = update.updated_fragment_offsets.items()
    by_fragment = {number: np.array(own.values, np.int64) for number, own in listed}
    for number, data in update.updated_fragment_offset_bitmaps.items():
        cursor = Cursor(memoryview(data), 0, Context("transaction"))
        by_fragment[number] = parse_bitmap(cursor).astype(np.int64)
    return by_fragment


def update_mem_wal(builder: Builder) -> None:
    """Note the tables of the write-ahead log whose rows are in the table now."""
    _note_compacted(builder, builder.transaction.update_mem_wal_state.compacted_sstables)


def _note_compacted(
    builder: Builder, tables: Iterable[mem_wal_pb2.CompactedSsTable], *, later: bool = False
) -> None:
    """Keep the newest generation of each shard in the index of the log.

    Raises OperationRefused without such an index, and for a generation that has to be `later` than
    the one that its shard has noted and is not: no rows are taken in twice.
    """
    index = next((one for one in builder.indices if one.name == MEM_WAL_INDEX), None)
    if index is None:
        raise OperationRefused(f"the system index {MEM_WAL_INDEX} does not exist on this table")
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
    if later:
        index.dataset_version = builder.message.version
