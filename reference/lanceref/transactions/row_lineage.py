"""Row lineage and overlays of a commit: ids for rows that have none, versions of rows, new values.

Rows of a new fragment that were moved from another one keep their ids: they come first, and the
transaction lists them. All others get the next ids of the table, when the commit is made. Files of
a DataOverlay follow the overlays of a fragment, with the version that the commit makes; whoever
later replaces the files of a column removes its overlays.

Clauses: L.table.row-ids.next, L.table.row-ids.length, L.table.row-versions.new,
L.table.row-versions.moved, L.txn.op.data-overlay, L.table.row-versions.updated
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.errors import OperationRefused
from lanceref.core.integers import unique
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.table import lineage
from lanceref.table.file_entries import TOMBSTONE, offsets_below, parse_coverage
from lanceref.transactions.manifest_builder import Builder, assign

Numbers = NDArray[np.uint64]

_CTX = Context("transaction")


def assign_row_ids(builder: Builder, fragment: table_pb2.DataFragment) -> Numbers:
    """Give ids to the rows of a new fragment that have none; return those that were moved.

    Raises OperationRefused for more ids than rows: (moved rows,).
    """
    moved = moved_ids(fragment)
    missing = int(fragment.physical_rows) - len(moved)
    start = builder.message.next_row_id
    builder.message.next_row_id = end = start + missing
    if not len(moved):
        fragment.inline_row_ids = lineage.encode_row_ids(start, end)
    elif missing:
        fresh = np.arange(start, end, dtype=np.uint64)
        fragment.inline_row_ids = lineage.encode_ids(np.concatenate((moved, fresh)))
    return moved


def moved_ids(fragment: table_pb2.DataFragment) -> Numbers:
    """Return the row ids, uint64, that a fragment of a transaction lists: (ids,).

    Raises FormatError, OperationRefused for more ids than rows.
    """
    data, place = fragment.inline_row_ids, _CTX.at(0)
    if not data:
        return np.empty(0, np.uint64)
    ids, rows = lineage.decode_row_ids(data, None, _CTX, place), fragment.physical_rows
    if ids.count > rows:
        found = f"more row IDs ({ids.count}) than physical rows ({rows})"
        raise OperationRefused(f"Fragment has {found}")
    return ids.at(np.arange(ids.count))


def set_created(builder: Builder, fragment: table_pb2.DataFragment) -> None:
    """Note that all rows of a fragment were made by this version."""
    versions = lineage.encode_versions(fragment.physical_rows, builder.message.version)
    fragment.inline_created_at_versions = versions
    fragment.inline_last_updated_at_versions = versions


def set_moved(builder: Builder, fragment: table_pb2.DataFragment, moved: Numbers) -> None:
    """Note that this version changed the `moved` rows, the first ones, and made the others.

    `moved` (rows,).
    """
    rows, version = fragment.physical_rows, builder.message.version
    created = np.full(rows, version, np.uint64)
    created[: len(moved)] = _created(builder, moved)
    fragment.inline_created_at_versions = lineage.encode_runs(created)
    fragment.inline_last_updated_at_versions = lineage.encode_versions(rows, version)


def set_updated(
    builder: Builder, fragment: table_pb2.DataFragment, offsets: NDArray[np.int64] | None
) -> None:
    """Note that this version changed the rows at `offsets` of a fragment, None for all rows.

    `offsets` (n,).
    """
    version, old = builder.message.version, builder.old_fragments().get(fragment.id)
    data = lineage.encode_versions(fragment.physical_rows, version)
    if offsets is not None and old is not None and builder.before is not None:
        updated = builder.stored.lineage(builder.before, old, lineage.LAST_UPDATED_AT).copy()
        updated[offsets] = version
        data = lineage.encode_runs(updated)
    fragment.inline_last_updated_at_versions = data


def _created(builder: Builder, ids: Numbers) -> Numbers:
    """Return the versions that made the rows `ids` of the version before; 1 for an unknown one."""
    created, before = np.ones(len(ids), np.uint64), builder.before
    if before is None or not len(ids):
        return created
    order = np.argsort(ids)
    for fragment in before.fragments:
        if not fragment.message.WhichOneof("row_id_sequence"):
            continue
        row_ids = builder.stored.lineage(before, fragment, lineage.ROW_ID)
        at = np.searchsorted(ids, row_ids, sorter=order)
        at = order[np.minimum(at, len(ids) - 1)]
        hits = ids[at] == row_ids
        hits[builder.stored.rows(before, fragment).deleted] = False
        if hits.any():
            created[at[hits]] = builder.stored.lineage(before, fragment, lineage.CREATED_AT)[hits]
    return created


def overlay(builder: Builder) -> None:
    """Put overlays after those that fragments have. Raises OperationRefused, FormatError."""
    changed = {}
    for group in builder.transaction.data_overlay.groups:
        fragment = builder.fragment(group.fragment_id)
        if fragment is None:  # L.txn.op.data-overlay
            name = f"fragment {group.fragment_id}"
            raise OperationRefused(f"DataOverlay targets {name}, which does not exist")
        for one in group.overlays:
            fragment.overlays.add().CopyFrom(one)
            fragment.overlays[-1].committed_version = builder.message.version
        changed[fragment.id] = fragment
    for fragment in changed.values() if builder.stable else ():
        covered = [np.empty(0, np.int64)]
        for one in fragment.overlays:
            if one.committed_version == builder.message.version:
                sets = parse_coverage(one, builder.stored.ctx, builder.stored.ctx.at(0)).values()
                covered += (offsets_below(fragment.physical_rows, offsets) for offsets in sets)
        set_updated(builder, fragment, unique(np.concatenate(covered)))


def covers_any(operation: Transaction.DataOverlay, rows: Mapping[int, NDArray[np.int64]]) -> bool:
    """Whether a DataOverlay covers one of the rows by fragment. Raises FormatError.

    Each (offsets,).
    """
    return any(
        any(row in offsets for row in rows.get(group.fragment_id, ()))
        for group in operation.groups
        for one in group.overlays
        for offsets in parse_coverage(one, _CTX, _CTX.at(0)).values()
    )


def uncover_fields(
    fragment: table_pb2.DataFragment, fields: Collection[int], read_version: int
) -> None:
    """Let overlays up to a version no longer cover fields; one that covers no other goes."""
    for one in fragment.overlays:
        for number, field_id in enumerate(one.data_file.fields):
            if field_id in fields and one.committed_version <= read_version:
                one.data_file.fields[number] = TOMBSTONE
    used = [one for one in fragment.overlays if set(one.data_file.fields) != {TOMBSTONE}]
    assign(fragment.overlays, used)
