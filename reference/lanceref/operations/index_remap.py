"""Indices of moved rows: what a compaction makes of the segments over its fragments.

Rows keep their order: the live rows of the old fragments of a group, one after the other, are the
rows of its new ones. A segment by row address that can be written anew is; others, early ones and
those of no field are left as they are and cover nothing any more.

Clauses: L.txn.op.rewrite-index

Divergences: D.txn.index-of-no-field
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from pyroaring import BitMap

from lanceref.file.schema import project
from lanceref.index.fragment_reuse import MovedRows
from lanceref.index.indices import Index, paths_of
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment
from lanceref.operations.index_build import segment_writer, training_of
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import Snapshot
from lanceref.table.fragments import ADDRESS_LIMIT
from lanceref.table.rows import FragmentRows
from lanceref.table.uncommitted_files import Draft

Group = tuple[Sequence[FragmentRows], Sequence[table_pb2.DataFragment]]
"""Old fragments, and the new ones that hold their rows, ids included."""


def moved_rows(groups: Sequence[Group]) -> MovedRows:
    """Return where the live rows of rewritten fragments are now."""
    pairs = [(live_addresses(old), _new(new)) for old, new in groups]
    before = np.concatenate([np.empty(0, np.uint64), *(one for one, _ in pairs)])
    after = np.concatenate([np.empty(0, np.uint64), *(other for _, other in pairs)])
    return MovedRows(before, after, [rows.fragment.id for old, _ in groups for rows in old])


def live_addresses(fragments: Sequence[FragmentRows]) -> Keys:
    """Return the addresses of the live rows of fragments, in their order."""
    parts = [
        rows.offsets(np.arange(rows.num_rows)).astype(np.uint64)
        + np.uint64(rows.fragment.id * ADDRESS_LIMIT)
        for rows in fragments
    ]
    return np.concatenate(parts)


def _new(fragments: Sequence[table_pb2.DataFragment]) -> Keys:
    """Return the addresses of all rows of fragments, in their order."""
    parts = [
        np.arange(one.physical_rows, dtype=np.uint64) + np.uint64(one.id * ADDRESS_LIMIT)
        for one in fragments
    ]
    return np.concatenate([np.empty(0, np.uint64), *parts])


def rewrite_moved(
    snapshot: Snapshot, groups: Sequence[Group], draft: Draft
) -> Iterator[Transaction.Rewrite.RewrittenIndex]:
    """Write the segments over rewritten fragments anew, one by one. Raises FormatError."""
    gone = BitMap([rows.fragment.id for old, _ in groups for rows in old])
    moved, fields = moved_rows(groups), paths_of(snapshot.manifest.schema)
    for index in snapshot.indices.known:
        for segment in index.segments if index.field_id in fields else ():
            if not segment.covers & gone or index.is_early(segment):
                continue
            if index.open(segment).by_address and index.kind.rewrite_on_move:
                yield _rewritten(snapshot, index, segment, moved, draft)


def _rewritten(
    snapshot: Snapshot, index: Index, segment: Segment, moved: MovedRows, draft: Draft
) -> Transaction.Rewrite.RewrittenIndex:
    assert index.kind.rewrite is not None
    schema = snapshot.manifest.schema
    (field,) = project(schema, [paths_of(schema)[index.field_id]])
    with segment_writer(snapshot) as writer:
        nothing = training_of(snapshot, index.kind, field, ())
        built = index.kind.rewrite([(segment, segment.then(moved))], nothing, writer)
    draft.add(*((snapshot.store, f"{writer.folder}/{file.path}") for file in writer.files))
    found = Transaction.Rewrite.RewrittenIndex(
        new_index_version=built.version, new_index_files=writer.files
    )
    found.old_id.uuid, found.new_id.uuid = segment.entry.uuid.uuid, writer.uuid.bytes
    found.new_index_details.type_url = f"/{built.details.DESCRIPTOR.full_name}"
    found.new_index_details.value = built.details.SerializeToString(deterministic=True)
    return found
