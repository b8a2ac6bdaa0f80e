"""Compaction: which fragments are rewritten, and the fragments in their place.

Fragments that are too small are joined with small neighbours; one with many deleted rows is written
without them. The rows, their order, ids and versions stay.

The segments over its fragments are remapped. Rows keep their order: the live rows of the old
fragments of a group, one after the other, are the rows of its new ones. A segment by row address
that can be rewritten is; others, early ones and those of no field are left as they are and cover
nothing any more. A deferred remap leaves all indices as they are and records where rows went.

Clauses: L.txn.op.rewrite, L.table.row-ids.length, L.table.row-versions.moved,
L.txn.op.rewrite-index, L.index.reuse.rows, L.index.reuse.fragments, L.index.reuse.external,
L.index.reuse.order

Divergences: D.txn.index-of-no-field
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lanceref.core.compute import bitmaps
from lanceref.core.errors import OperationRefused
from lanceref.core.file_versions import FileVersion
from lanceref.index.fragment_reuse import content_of
from lanceref.index.indices import Index, indexed_field
from lanceref.index.row_set import Keys, encode_treemap
from lanceref.index.segment import MovedRows, Segment
from lanceref.operations.index_build import segment_writer, training_of
from lanceref.operations.new_data import BATCH_ROWS, write_new_rows
from lanceref.proto import table_pb2
from lanceref.proto.index_details_pb2 import FragmentReuseIndexDetails as Details
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.snapshot import Snapshot, scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table.bases import INDICES
from lanceref.table.data_files import MAX_BYTES_PER_FILE
from lanceref.table.file_entries import FIELD_TWICE, data_files_of, duplicated_fields, is_before
from lanceref.table.fragments import addresses
from lanceref.table.lineage import STORED, encode_ids, encode_runs
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows
from lanceref.transactions.index_entries import SYSTEM_INDICES, set_covered
from lanceref.transactions.manifest_builder import REUSE_INDEX

TARGET_ROWS = 1 << 20

MAX_OVERLAYS = 10
"""Overlays that a fragment may have before it is rewritten."""


@dataclass(frozen=True, slots=True)
class CompactionRules:
    """When a fragment is rewritten, and how long the new ones are.

    Sources are counted until the next group would exceed one
    of the most there may be: fragments, live rows, bytes of data files.
    """

    target_rows_per_fragment: int = TARGET_ROWS
    materialize_deletions: bool = True
    materialize_deletions_threshold: float = 0.1
    batch_size: int = BATCH_ROWS
    data_storage_version: FileVersion | None = None
    excluded_fragment_ids: Collection[int] = ()
    max_source_fragments: int | None = None
    max_source_rows: int | None = None
    max_source_bytes: int | None = None
    max_bytes_per_file: int = MAX_BYTES_PER_FILE
    max_overlays: int = MAX_OVERLAYS

    def rewrites(self, rows: FragmentRows) -> bool:
        """Whether a fragment is to be rewritten even alone: many deleted rows or overlays."""
        physical = rows.columns.stated_rows
        share = rows.num_deleted / physical if physical and self.materialize_deletions else 0.0
        overlays = len(rows.fragment.overlays)
        return share > self.materialize_deletions_threshold or overlays > self.max_overlays

    def joins(self, rows: FragmentRows) -> bool:
        """Whether a fragment is small enough to be joined with a neighbour."""
        return rows.columns.stated_rows < self.target_rows_per_fragment


Group = list[FragmentRows]


def plan_compaction(snapshot: Snapshot, options: CompactionRules) -> list[Group]:
    """Return the groups of neighbours that are rewritten, each of them together.

    Fragments that indices cover differently are not joined. Raises OperationRefused for a table
    whose fields get other ids by the first of the commits of a compaction.
    """
    message = snapshot.manifest.message
    if is_before(message, FIELD_TWICE) and duplicated_fields(message.fragments):
        raise OperationRefused(
            "two files of a fragment hold a field: any other commit corrects its id, which a "
            "compaction then finds"
        )
    indexed = (one for one in snapshot.indices.segments if one.entry.name not in SYSTEM_INDICES)
    segments = [one.holds for one in indexed]
    groups: list[Group] = []
    run: Group = []
    for rows in snapshot.fragments:
        chosen = options.joins(rows) or options.rewrites(rows)
        chosen = chosen and rows.fragment.id not in options.excluded_fragment_ids
        this = rows.fragment.id
        last = run[-1].fragment.id if run else this
        alike = all((last in covered) == (this in covered) for covered in segments)
        if not (chosen and alike):
            groups += _cut(run, options)
            run = []
        if chosen:
            run.append(rows)
    return _limited([*groups, *_cut(run, options)], options)


def _cut(run: Group, options: CompactionRules) -> list[Group]:
    """Cut neighbours into groups of the target's rows, the rest in the last; drop needless ones."""
    groups: list[Group] = []
    live = options.target_rows_per_fragment
    for rows in run:
        if live >= options.target_rows_per_fragment:
            groups.append([])
            live = 0
        groups[-1].append(rows)
        live += rows.num_rows
    if len(groups) > 1 and live < options.target_rows_per_fragment:
        last = groups.pop()
        groups[-1] += last
    return [one for one in groups if len(one) > 1 or options.rewrites(one[0])]


def _limited(groups: list[Group], options: CompactionRules) -> list[Group]:
    """Return the first groups, as long as none of the most there may be is exceeded."""
    most = (options.max_source_fragments, options.max_source_rows, options.max_source_bytes)
    counts = [0, 0, 0]
    for number, group in enumerate(groups):
        files = [file for rows in group for file in data_files_of(rows.fragment.message)]
        size_bytes = sum(file.file_size_bytes for file in files)
        own = (len(group), sum(rows.num_rows for rows in group), size_bytes)
        counts = [count + more for count, more in zip(counts, own, strict=True)]
        pairs = zip(counts, most, strict=True)
        if any(limit is not None and count > limit for count, limit in pairs):
            return groups[:number]
    return groups


def write_group(
    snapshot: Snapshot, group: Group, options: CompactionRules, draft: Draft
) -> list[table_pb2.DataFragment]:
    """Write the live rows of fragments to new ones, which have no ids yet. Raises DataRefused.

    There are as many as have the target's rows each, the rows as even as can be, longer ones first.
    """
    projection = scan_projection(snapshot.schema(BlobHandling.KEPT), None)
    total = sum(rows.num_rows for rows in group)
    count = max(total // options.target_rows_per_fragment, 1)
    fragments: list[table_pb2.DataFragment] = []
    start = 0
    for number in range(count if total else 0):
        size = total // count + (number < total % count)
        batches = snapshot.scan(group, projection, options.batch_size, start, start + size)
        start += size
        version, most = options.data_storage_version, options.max_bytes_per_file
        fragments += write_new_rows(snapshot, batches, draft, version, size, most).fragments
    if snapshot.stable_row_ids:
        _set_lineage(fragments, group)
    return fragments


def _set_lineage(fragments: list[table_pb2.DataFragment], group: Group) -> None:
    """Give the rows of new fragments the ids and versions that they had."""
    live = [rows.take(np.arange(rows.num_rows), (), tuple(STORED)) for rows in group]
    ids, created, updated = (np.concatenate(arrays) for arrays in zip(*live))
    start = 0
    for fragment in fragments:
        end = start + int(fragment.physical_rows)
        fragment.inline_row_ids = encode_ids(ids[start:end])
        fragment.inline_created_at_versions = encode_runs(created[start:end])
        fragment.inline_last_updated_at_versions = encode_runs(updated[start:end])
        start = end


MovedGroup = tuple[Sequence[FragmentRows], Sequence[table_pb2.DataFragment]]
"""Old fragments, and the new ones that hold their rows, ids included."""


def moved_rows(groups: Sequence[MovedGroup]) -> MovedRows:
    """Return where the live rows of rewritten fragments are now."""
    none = np.empty(0, np.uint64)
    before = np.concatenate([none, *(live_addresses(old) for old, _ in groups)])
    fragments = (one for _, new in groups for one in new)
    after = [addresses(one.id, np.arange(one.physical_rows)) for one in fragments]
    pairs = [([rows.fragment.id for rows in old], [one.id for one in new]) for old, new in groups]
    ids = [(bitmaps.BitMap(old), bitmaps.BitMap(new)) for old, new in pairs]
    return MovedRows(before, np.concatenate([none, *after]), ids)


def live_addresses(fragments: Sequence[FragmentRows]) -> Keys:
    """Return the addresses of the live rows of fragments, in their order: (live rows,)."""
    offsets = [one.offsets(np.arange(one.num_rows)) for one in fragments]
    return np.concatenate([addresses(one.fragment.id, own) for one, own in zip(fragments, offsets)])


def rewrite_moved(
    snapshot: Snapshot, groups: Sequence[MovedGroup], draft: Draft
) -> Iterator[Transaction.Rewrite.RewrittenIndex]:
    """Write the segments over rewritten fragments anew, one by one. Raises FormatError."""
    old = bitmaps.BitMap([rows.fragment.id for before, _ in groups for rows in before])
    moved, schema = moved_rows(groups), snapshot.manifest.schema
    for index in snapshot.indices.known:
        for segment in () if index.path(schema) is None else index.segments:
            if not segment.covers & old or index.is_early(segment):
                continue
            if index.open(segment).by_address and index.kind.rewrite_on_move:
                yield _rewritten(snapshot, index, segment, moved, draft)


def _rewritten(
    snapshot: Snapshot, index: Index, segment: Segment, moved: MovedRows, draft: Draft
) -> Transaction.Rewrite.RewrittenIndex:
    indexed = indexed_field(snapshot.manifest.schema, index.field_id)
    with segment_writer(snapshot) as writer:
        nothing = training_of(snapshot, index.kind, indexed, ())
        built = index.kind.rewrite([(segment, segment.then(moved))], nothing, writer)
    draft.add(*((snapshot.store, f"{writer.folder}/{file.path}") for file in writer.files))
    entry = Transaction.Rewrite.RewrittenIndex(new_index_version=built.version)
    entry.new_index_files.extend(writer.files)
    entry.old_id.uuid, entry.new_id.uuid = segment.entry.uuid.uuid, writer.uuid.bytes
    entry.new_index_details.Pack(built.details, "", deterministic=True)
    return entry


INLINE_BYTES = 204_800
"""Longest message in the entry itself."""

EXTERNAL = "details.binpb"


def reuse_entry(
    snapshot: Snapshot, groups: Sequence[MovedGroup], version: int, draft: Draft
) -> table_pb2.IndexMetadata | None:
    """Return the entry that says where the rows of groups went; None when no entry covers them.

    One that says so of earlier groups covers the fragments in which these were put.
    """
    old = bitmaps.BitMap([rows.fragment.id for before, _ in groups for rows in before])
    known = snapshot.indices.segments
    if not any(segment.covers & old for segment in known):
        return None
    content = Details.InlineContent()
    for segment in known:
        if segment.entry.name == REUSE_INDEX:
            content.CopyFrom(content_of(segment, snapshot.ctx))
    content.versions.append(_version(groups, version))
    every = [group for one in content.versions for group in one.groups]
    entry = table_pb2.IndexMetadata(name=REUSE_INDEX, dataset_version=version, index_version=0)
    entry.created_at, name = time.time_ns() // 1_000_000, uuid.uuid4()
    entry.uuid.uuid = name.bytes
    set_covered(entry, [one.id for group in every for one in group.new_fragments])
    details, data = Details(), content.SerializeToString()
    if len(data) <= INLINE_BYTES:
        details.inline.CopyFrom(content)
    else:
        path = f"{INDICES}/{name}/{EXTERNAL}"
        snapshot.store.put(path, data)
        draft.add((snapshot.store, path))
        details.external.path, details.external.size = EXTERNAL, len(data)
    entry.index_details.Pack(details, "")
    return entry


def _version(groups: Sequence[MovedGroup], number: int) -> Details.Version:
    version = Details.Version(dataset_version=number)
    for old, new in groups:
        group = version.groups.add()
        group.changed_row_addrs = encode_treemap(np.sort(live_addresses(old)), runs=True)
        for rows in old:
            number, stated = rows.fragment.id, rows.columns.stated_rows
            deleted = rows.fragment.num_deleted
            group.old_fragments.add(id=number, physical_rows=stated, num_deleted_rows=deleted)
        for one in new:
            group.new_fragments.add(id=one.id, physical_rows=one.physical_rows)
    return version
