"""Remap of indices: what a compaction makes of the segments over its fragments.

Rows keep their order: the live rows of the old fragments of a group, one after the other, are the
rows of its new ones. A segment by row address that can be rewritten is; others, early ones and
those of no field are left as they are and cover nothing any more. A deferred remap leaves all
indices as they are and records where rows went.

Clauses: L.txn.op.rewrite-index, L.index.reuse.rows, L.index.reuse.fragments,
L.index.reuse.external, L.index.reuse.order
Divergences: D.txn.index-of-no-field
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence

import numpy as np

from lanceref.core import bitmaps
from lanceref.file.schema import project
from lanceref.index.fragment_reuse import NAME, MovedRows, content_of
from lanceref.index.indices import Index, paths_of
from lanceref.index.row_set import Keys, encode_treemap
from lanceref.index.segment import FOLDER, Segment
from lanceref.operations.index_build import segment_writer, training_of
from lanceref.proto import table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails as Details
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import Snapshot
from lanceref.table.fragments import ADDRESS_LIMIT
from lanceref.table.rows import FragmentRows
from lanceref.table.uncommitted_files import Draft
from lanceref.transactions.index_entries import covered, set_covered

Group = tuple[Sequence[FragmentRows], Sequence[table_pb2.DataFragment]]
"""Old fragments, and the new ones that hold their rows, ids included."""


def moved_rows(groups: Sequence[Group]) -> MovedRows:
    """Return where the live rows of rewritten fragments are now."""
    none = np.empty(0, np.uint64)
    before = np.concatenate([none, *(live_addresses(old) for old, _ in groups)])
    new = [
        np.arange(one.physical_rows, dtype=np.uint64) + np.uint64(one.id * ADDRESS_LIMIT)
        for _, fragments in groups
        for one in fragments
    ]
    old_ids = [rows.fragment.id for old, _ in groups for rows in old]
    return MovedRows(before, np.concatenate([none, *new]), old_ids)


def live_addresses(fragments: Sequence[FragmentRows]) -> Keys:
    """Return the addresses of the live rows of fragments, in their order: (live rows,)."""
    parts = [
        rows.offsets(np.arange(rows.num_rows)).astype(np.uint64)
        + np.uint64(rows.fragment.id * ADDRESS_LIMIT)
        for rows in fragments
    ]
    return np.concatenate(parts)


def rewrite_moved(
    snapshot: Snapshot, groups: Sequence[Group], draft: Draft
) -> Iterator[Transaction.Rewrite.RewrittenIndex]:
    """Write the segments over rewritten fragments anew, one by one. Raises FormatError."""
    old = bitmaps.BitMap([rows.fragment.id for before, _ in groups for rows in before])
    moved, fields = moved_rows(groups), paths_of(snapshot.manifest.schema)
    for index in snapshot.indices.known:
        for segment in index.segments if index.field_id in fields else ():
            if not segment.covers & old or index.is_early(segment):
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
    made = Transaction.Rewrite.RewrittenIndex(
        new_index_version=built.version, new_index_files=writer.files
    )
    made.old_id.uuid, made.new_id.uuid = segment.entry.uuid.uuid, writer.uuid.bytes
    made.new_index_details.type_url = f"/{built.details.DESCRIPTOR.full_name}"
    made.new_index_details.value = built.details.SerializeToString(deterministic=True)
    return made


INLINE_BYTES = 204_800
"""Longest message in the entry itself."""

EXTERNAL = "details.binpb"


def reuse_entry(
    snapshot: Snapshot, groups: Sequence[Group], version: int, draft: Draft
) -> table_pb2.IndexMetadata | None:
    """Return the entry that says where the rows of groups went; None when no index covers them."""
    old = bitmaps.BitMap([rows.fragment.id for before, _ in groups for rows in before])
    known = snapshot.indices.segments
    if not any(segment.covers & old for segment in known if segment.entry.name != NAME):
        return None
    content, fragments = Details.InlineContent(), bitmaps.BitMap()
    for segment in known:
        if segment.entry.name == NAME:
            content.CopyFrom(content_of(segment, snapshot.ctx))
            fragments = covered(segment.entry) or bitmaps.BitMap()
    content.versions.append(_version(groups, version))
    entry = table_pb2.IndexMetadata(
        name=NAME, dataset_version=version, index_version=0, created_at=time.time_ns() // 1_000_000
    )
    name = uuid.uuid4()
    entry.uuid.uuid = name.bytes
    set_covered(entry, fragments | bitmaps.BitMap([one.id for _, after in groups for one in after]))
    entry.index_details.type_url = f"/{Details.DESCRIPTOR.full_name}"
    details, data = Details(), content.SerializeToString()
    if len(data) <= INLINE_BYTES:
        details.inline.CopyFrom(content)
    else:
        path = f"{FOLDER}/{name}/{EXTERNAL}"
        snapshot.store.put(path, data)
        draft.add((snapshot.store, path))
        details.external.path, details.external.size = EXTERNAL, len(data)
    entry.index_details.value = details.SerializeToString()
    return entry


def _version(groups: Sequence[Group], number: int) -> Details.Version:
    version = Details.Version(dataset_version=number)
    for old, new in groups:
        group = version.groups.add()
        group.changed_row_addrs = encode_treemap(np.sort(live_addresses(old)), runs=True)
        for rows in old:
            group.old_fragments.add(
                id=rows.fragment.id,
                physical_rows=rows.columns.stated_rows,
                num_deleted_rows=rows.fragment.num_deleted,
            )
        for one in new:
            group.new_fragments.add(id=one.id, physical_rows=one.physical_rows)
    return version
