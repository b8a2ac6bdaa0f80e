"""Compaction: which fragments are rewritten, and the fragments in their place.

Fragments that are too small are joined with small neighbours; one with many deleted rows is written
without them. The rows, their order, ids and versions stay.

Clauses: L.txn.op.rewrite, L.table.row-ids.length, L.table.row-versions.moved
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import OperationRefused
from lanceref.core.file_versions import FileVersion
from lanceref.operations.new_rows import MAX_BYTES_PER_FILE, write_new_rows
from lanceref.proto import table_pb2
from lanceref.search.projection import scan_projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.file_entries import FIELD_TWICE, data_files_of, fields_held_twice, is_before
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT
from lanceref.table.logical import BlobHandling
from lanceref.table.row_ids import Run, encode_id_parts, encode_spans
from lanceref.table.rows import FragmentRows
from lanceref.table.uncommitted_files import Draft
from lanceref.transactions.index_entries import SYSTEM_INDICES

TARGET_ROWS = 1 << 20
BATCH_ROWS = 8192

MAX_OVERLAYS = 10
"""Overlays that a fragment may have before it is rewritten."""

Numbers = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CompactionRules:
    """When a fragment is rewritten, and how long the new ones are.

    `max_bytes` are those of a new file; sources are counted until the next group would exceed one
    of the most there may be: fragments, live rows, bytes of data files.
    """

    target_rows: int = TARGET_ROWS
    materialize_deletions: bool = True
    deletions_threshold: float = 0.1
    batch_rows: int = BATCH_ROWS
    version: FileVersion | None = None
    excluded: frozenset[int] = frozenset()
    max_source_fragments: int | None = None
    max_source_rows: int | None = None
    max_source_bytes: int | None = None
    max_bytes: int = MAX_BYTES_PER_FILE
    max_overlays: int = MAX_OVERLAYS

    def rewrites(self, rows: FragmentRows) -> bool:
        """Whether a fragment is to be rewritten even alone: many deleted rows or overlays."""
        physical = rows.columns.stated_rows
        share = rows.num_deleted / physical if physical and self.materialize_deletions else 0.0
        return share > self.deletions_threshold or len(rows.fragment.overlays) > self.max_overlays

    def joins(self, rows: FragmentRows) -> bool:
        """Whether a fragment is small enough to be joined with a neighbour."""
        return rows.columns.stated_rows < self.target_rows


Group = list[FragmentRows]


def plan_compaction(snapshot: Snapshot, options: CompactionRules) -> list[Group]:
    """Return the groups of neighbours that are rewritten, each of them together.

    Fragments that indices cover differently are not joined. Raises OperationRefused for a table
    whose fields get other ids by the first of the commits of a compaction.
    """
    message = snapshot.manifest.message
    if is_before(message, FIELD_TWICE) and fields_held_twice(message.fragments):
        raise OperationRefused(
            "two files of a fragment hold a field: any other commit corrects its id, which a "
            "compaction then finds"
        )
    segments = [
        one.holds for one in snapshot.indices.segments if one.entry.name not in SYSTEM_INDICES
    ]
    groups: list[Group] = []
    run: Group = []
    for rows in snapshot.fragments:
        chosen = options.joins(rows) or options.rewrites(rows)
        chosen = chosen and rows.fragment.id not in options.excluded
        last, this = run[-1].fragment.id if run else -1, rows.fragment.id
        if run and not (chosen and all((last in held) == (this in held) for held in segments)):
            groups += _cut(run, options)
            run = []
        if chosen:
            run.append(rows)
    return _limited([*groups, *_cut(run, options)], options)


def _cut(run: Group, options: CompactionRules) -> list[Group]:
    """Cut neighbours into groups of at least the target's rows; drop single ones without need.

    What is left at the end and too small for a group of its own belongs to the last one.
    """
    groups: list[Group] = []
    live = options.target_rows
    for rows in run:
        if live >= options.target_rows:
            groups.append([])
            live = 0
        groups[-1].append(rows)
        live += rows.num_rows
    if len(groups) > 1 and live < options.target_rows:
        last = groups.pop()
        groups[-1] += last
    return [one for one in groups if len(one) > 1 or options.rewrites(one[0])]


def _live_rows(group: Group) -> int:
    return sum(rows.num_rows for rows in group)


def _limited(groups: list[Group], options: CompactionRules) -> list[Group]:
    """Return the first groups, as long as none of the most there may be is exceeded."""
    most = (options.max_source_fragments, options.max_source_rows, options.max_source_bytes)
    counts = [0, 0, 0]
    for number, group in enumerate(groups):
        files = [file for rows in group for file in data_files_of(rows.fragment.message)]
        own = (len(group), _live_rows(group), sum(file.file_size_bytes for file in files))
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
    projection = scan_projection(snapshot.schema(BlobHandling.BYTES), None)
    total = _live_rows(group)
    count = max(total // options.target_rows, 1)
    fragments: list[table_pb2.DataFragment] = []
    start = 0
    for number in range(count if total else 0):
        size = total // count + (number < total % count)
        batches = snapshot.scan(group, projection, options.batch_rows, start, start + size)
        start += size
        new = write_new_rows(snapshot, batches, draft, options.version, size, options.max_bytes)
        fragments += new.fragments
    if snapshot.stable_row_ids:
        _set_lineage(fragments, group)
    return fragments


def _set_lineage(fragments: list[table_pb2.DataFragment], group: Group) -> None:
    """Give new fragments what is left of the sequences of the old ones."""
    ids = [part for rows in group for part in rows.ids_by_segment()]
    created = [run for rows in group for run in rows.versions_by_run(CREATED_AT)]
    updated = [run for rows in group for run in rows.versions_by_run(LAST_UPDATED_AT)]
    start = 0
    for fragment in fragments:
        end = start + int(fragment.physical_rows)
        parts = [part for _, part in _between(ids, start, end)]
        fragment.inline_row_ids = encode_id_parts(parts)
        fragment.inline_created_at_versions = encode_spans(_runs_between(created, start, end))
        fragment.inline_last_updated_at_versions = encode_spans(_runs_between(updated, start, end))
        start = end


def _runs_between(runs: list[Run], start: int, end: int) -> list[Run]:
    parts = _between([run.span for run in runs], start, end)
    return [Run(span, runs[number].version) for number, span in parts]


def _between(parts: list[Numbers], start: int, end: int) -> Iterator[tuple[int, Numbers]]:
    """Yield the number of each part that has rows from `start` to `end`, and its values there."""
    before = 0
    for number, part in enumerate(parts):
        first, last = max(start - before, 0), min(end - before, len(part))
        if first < last:
            yield number, part[first:last]
        before += len(part)
