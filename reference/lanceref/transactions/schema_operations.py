"""Merge, Project and DataReplacement: other columns for the same rows.

A Merge lists all fragments and the whole schema anew; a Project only the schema; a DataReplacement
the files that hold some columns of some fragments.

Clauses: L.txn.op.merge, L.txn.op.project, L.txn.op.data-replacement, L.txn.op.index-fields,
L.table.row-versions.updated, L.table.datafile.tombstone
"""

from __future__ import annotations

from lanceref.core.errors import OperationRefused
from lanceref.core.file_versions import FROM_WORDS, V0_1
from lanceref.file.schema import HIDDEN_IDS
from lanceref.proto import table_pb2
from lanceref.table.file_entries import TOMBSTONE
from lanceref.transactions.index_entries import drop_dead, take_from_bitmaps
from lanceref.transactions.manifest_builder import Making
from lanceref.transactions.overlay import drop_idle_overlays, take_fields
from lanceref.transactions.row_lineage import set_updated


def merge(making: Making) -> None:
    """Put the fragments and the schema of a Merge in place of the old ones.

    Raises OperationRefused when it leaves a fragment out.
    """
    given, staged = making.transaction.merge, making.staged
    missing = making.old_fragments().keys() - {one.id for one in given.fragments}
    if missing:  # L.txn.op.merge
        raise OperationRefused(f"Merge leaves out fragments {sorted(missing)}")
    making.replace_fragments(given.fragments)
    for fragment in given.fragments:
        making.note_id(fragment.id)
    if staged.schema is not None:
        making.set_schema(staged.schema)
    else:
        del making.message.fields[:]
        making.message.fields.extend(given.schema)
    if making.stable:
        old = making.old_fragments()
        for fragment in making.message.fragments:
            before = old.get(fragment.id)
            if before is not None and list(before.message.files) != list(fragment.files):
                set_updated(making, fragment, None)
    drop_dead(making)


def project(making: Making) -> None:
    """Put the schema of a Project in place of the old one; files without a field of it go."""
    given, staged = making.transaction.project, making.staged
    if staged.schema is not None:
        making.set_schema(staged.schema)
    else:
        del making.message.fields[:]
        making.message.fields.extend(given.schema)
    live = making.field_ids
    for fragment in making.message.fragments:
        drop_idle_files(fragment, live)
    drop_dead(making)


def drop_idle_files(fragment: table_pb2.DataFragment, live: set[int]) -> None:
    """Take files and overlays out that hold no field of the schema."""
    drop_idle_overlays(fragment, live)
    wanted = live | set(HIDDEN_IDS)
    kept = [one for one in fragment.files if not wanted.isdisjoint(one.fields)]
    if len(kept) != len(fragment.files):
        del fragment.files[:]
        fragment.files.extend(kept)


def replace_data(making: Making) -> None:
    """Put new files in place of the columns they hold. Raises OperationRefused."""
    given = making.transaction.data_replacement
    if len({tuple(one.new_file.fields) for one in given.replacements}) > 1:
        raise OperationRefused("All new data files must have the same fields")
    for one in given.replacements:
        fragment = making.fragment(one.fragment_id)
        if fragment is None:
            raise OperationRefused("Fragment being replaced not found in existing fragments")
        new = table_pb2.DataFile()
        new.CopyFrom(one.new_file)
        if not new.file_size_bytes and making.before is not None:
            new.file_size_bytes = making.past.file_size(making.before, new)
        _check_place(fragment, new)
        put_file(fragment, new)
        take_fields(fragment, new.fields, making.transaction.read_version)
        drop_idle_files(fragment, making.field_ids)
        take_from_bitmaps(making, new.fields, [fragment.id])
        if making.stable:
            set_updated(making, fragment, None)


def _check_place(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Raise OperationRefused for a file of 0.1 that replaces no whole file."""
    legacy = FROM_WORDS.get((new.file_major_version, new.file_minor_version)) == V0_1
    if legacy and all(list(file.fields) != list(new.fields) for file in fragment.files):
        raise OperationRefused(
            "Expected to modify the fragment but no changes were made. This means the new data "
            "files does not align with any exiting datafiles."
        )


def put_file(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment: in place of one of the same, or beside others."""
    for file in fragment.files:
        if list(file.fields) == list(new.fields):
            file.CopyFrom(new)
            if FROM_WORDS.get((new.file_major_version, new.file_minor_version)) == V0_1:
                del file.column_indices[:]
            return
    put_beside(fragment, new)


def put_beside(fragment: table_pb2.DataFragment, new: table_pb2.DataFile) -> None:
    """Let a file hold its fields in a fragment, behind the others, which hold them no more.

    One that holds no other goes.
    """
    for file in fragment.files:
        for number, field_id in enumerate(file.fields):
            if field_id in new.fields:
                file.fields[number] = TOMBSTONE
    kept = [file for file in fragment.files if set(file.fields) != {TOMBSTONE}]
    del fragment.files[:]
    fragment.files.extend([*kept, new])
