"""Merged columns: matched rows get values of the source without being moved.

Each fragment with a matched row gets a file of the columns that the source has, for all its rows.
Only an update of matched rows can be written so, from a source that leaves columns out.

Clauses: L.txn.op.update, L.table.datafile.tombstone
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.core.errors import EditFailed
from lanceref.operations.column_update import put_in, write_values
from lanceref.operations.columns import all_rows
from lanceref.operations.merge import Actions, MergePlan, by_fragment
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.projection import scan_projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.uncommitted_files import Draft

KEY_INDICES = ("BTreeIndexDetails", "BitmapIndexDetails")
"""Indices that find the rows of a key."""


def obstacle(snapshot: Snapshot, source: pa.Schema, keys: list[str], actions: Actions) -> str:
    """Return why a merge cannot be written as columns, empty where it can."""
    fields = {field.name: field for field in snapshot.manifest.schema.fields}
    if actions.insert:
        return "inserting unmatched source rows adds rows, which patching cannot do"
    if actions.delete_unmatched:
        return "deleting target rows unmatched by the source removes rows"
    if not actions.update:
        return "when_matched must update rather than delete or do nothing"
    if set(source.names) <= set(keys):
        return "the source carries no column besides the join key"
    if set(source.names) >= set(fields):
        return "the source covers every dataset column, so there is nothing to skip"
    held = [fields[name] for name in source.names]
    if any(one.is_blob or one.is_blob_v2 for field in held for one in field.flat()):
        return "the source carries a blob column"
    return ""


def check_columns(snapshot: Snapshot, source: pa.Schema, keys: list[str], actions: Actions) -> None:
    """Raise EditFailed for a merge that cannot be written as columns."""
    found = obstacle(snapshot, source, keys, actions)
    if found:
        raise EditFailed(
            f"MergeInsertWriteMode::RewriteColumns cannot express this merge insert: {found}. Use "
            "MergeInsertWriteMode::Auto or RewriteRows instead."
        )


def is_patched(snapshot: Snapshot, source: pa.Schema, keys: list[str], actions: Actions) -> bool:
    """Whether a merge is written as columns when nobody says how: its key has an index."""
    if len(keys) != 1 or actions.fail or actions.delete:
        return False
    if obstacle(snapshot, source, keys, replace(actions, insert=False)):
        return False
    return has_key_index(snapshot, keys)


def has_key_index(snapshot: Snapshot, keys: list[str]) -> bool:
    """Whether an index finds the rows of a key of one column."""
    if len(keys) != 1:
        return False
    (key,) = (field.id for field in snapshot.manifest.schema.fields if field.name == keys[0])
    return any(
        list(index.fields) == [key]
        and index.index_details.type_url.rpartition(".")[2] in KEY_INDICES
        for index in snapshot.manifest.indices
    )


def write_merged_columns(
    snapshot: Snapshot,
    source: pa.Table,
    keys: list[str],
    plan: MergePlan,
    update: Transaction.Update,
    draft: Draft,
) -> None:
    """Write the columns of matched rows, and list what became of the fragments."""
    update.update_mode = Transaction.Update.REWRITE_COLUMNS
    order = np.argsort(plan.updated)
    fields = [
        field
        for field in snapshot.manifest.schema.fields
        if field.name in source.schema.names and field.name not in keys
    ]
    names = [field.name for field in fields]
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), names)
    done = 0
    for rows, positions in by_fragment(snapshot, plan.updated[order]):
        sources = plan.update_sources[order][done : done + len(positions)]
        done += len(positions)
        batches = list(all_rows(snapshot, rows, projection))
        held = pa.Table.from_batches(batches, schema=projection.schema)
        chosen = np.full(len(held), -1, np.int64)
        chosen[rows.offsets(positions)] = sources
        new = pa.array(chosen, mask=chosen < 0)
        values = put_in(held, source.select(names), new)
        made = write_values(snapshot, rows, values, new, draft)
        update.updated_fragments.append(made.fragment)
        if snapshot.stable_row_ids:
            update.updated_fragment_offset_bitmaps[rows.fragment.id] = made.offsets
    if done:
        update.fields_modified.extend(one.id for field in fields for one in field.flat())
