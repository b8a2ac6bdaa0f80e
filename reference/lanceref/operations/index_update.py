"""Indices brought up to date: rows that no segment covers are added, segments become one.

The last segments of an index are rewritten together with those rows; how many of them is the
caller's choice, and none means a segment of its own for the rows. Where rows have stable ids so are
all that cover fragments with deleted rows: a row that was updated has its id in new rows too.

Clauses: L.index.segment.dataset-version
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lanceref.core import bitmaps
from lanceref.index.index_type import Parameters
from lanceref.index.indices import Index, paths_of
from lanceref.index.segment import Segment
from lanceref.operations.index_build import (
    build_segment,
    indexed_field,
    rewrite_segments,
    training_of,
)
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Snapshot
from lanceref.table.rows import FragmentRows
from lanceref.transactions.index_entries import covered, set_covered
from lanceref.transactions.manifest_builder import REUSE_INDEX

Entry = table_pb2.IndexMetadata


@dataclass(frozen=True, slots=True)
class UpdateRules:
    """Which indices are brought up to date, and how many of their segments are rewritten.

    `retrain` builds those that were trained on rows anew.
    """

    names: frozenset[str] | None = None
    segments: int | None = None
    retrain: bool = False


def update_indices(snapshot: Snapshot, rules: UpdateRules) -> Iterator[tuple[Entry, list[Entry]]]:
    """Yield new entries, each with those in whose place it stands. Raises FormatError."""
    for index in snapshot.indices.known:
        if rules.names is None or index.name in rules.names:
            entry = _updated(snapshot, index, rules)
            if entry is not None:
                yield entry


def _updated(
    snapshot: Snapshot, index: Index, rules: UpdateRules
) -> tuple[Entry, list[Entry]] | None:
    """Return the new entry of an index; None when nothing is to be done."""
    held = bitmaps.BitMap().union(*(segment.holds for segment in index.segments))
    added = [rows for rows in snapshot.fragments if rows.fragment.id not in held]
    if index.kind.parameters is not None:
        return _learnt(snapshot, index, rules, added, index.kind.parameters)
    wanted = 1 if rules.retrain else rules.segments
    if not added and not wanted:
        return None
    first = max(len(index.segments) - (1 if wanted is None else wanted), 0)
    segments = [*index.segments[first:]]
    if not segments:
        return rewrite_segments(snapshot, index, index.segments[-1:], added, anew=True), []
    if snapshot.stable_row_ids:  # rows of segments may be among the new ones: some are deleted
        lossy = bitmaps.BitMap([one.fragment.id for one in snapshot.fragments if one.num_deleted])
        segments = [one for one in index.segments[:first] if one.holds & lossy] + segments
    if not added and len(segments) < 2:
        return None
    return _rewritten(snapshot, index, segments, added)


def _rewritten(
    snapshot: Snapshot, index: Index, segments: Sequence[Segment], added: Sequence[FragmentRows]
) -> tuple[Entry, list[Entry]]:
    """Write segments as one, with new rows and those whose values are newer than the segments."""
    again = bitmaps.BitMap().union(*(one.holds - one.covers for one in segments))
    again |= bitmaps.BitMap([rows.fragment.id for rows in added])
    rows = [rows for rows in snapshot.fragments if rows.fragment.id in again]
    inherits = _inherits(snapshot, index, segments)
    entry = rewrite_segments(snapshot, index, segments, rows, inherits=inherits)
    return entry, [one.current for one in segments]


def _inherits(snapshot: Snapshot, index: Index, segments: Sequence[Segment]) -> bool:
    """Whether a segment has the version of those that it replaces."""
    live = bitmaps.BitMap([one.fragment.id for one in snapshot.fragments])
    left = any(segment.holds & live for segment in segments)
    rule = index.kind.inherits
    if rule == "unmoved":
        moves = [one for one in snapshot.manifest.indices if one.name == REUSE_INDEX]
        latest = max((one.dataset_version for one in moves), default=0)
        return left and all(one.entry.dataset_version > latest for one in segments)
    return rule == "always" or (left and (rule == "left" or len(segments) == 1))


def _learnt(
    snapshot: Snapshot,
    index: Index,
    rules: UpdateRules,
    added: Sequence[FragmentRows],
    parameters: Callable[[Segment], Parameters],
) -> tuple[Entry, list[Entry]] | None:
    """Return the new entry of an index that was trained on rows.

    Unless a number is given, new rows become a segment of their own, or all segments are built
    anew where the table has outgrown them. They are too where none of their fragments is left.
    Entries of rewritten segments still cover their fragments that are gone.
    """
    built = [segment for segment in index.segments if segment.built]
    live = bitmaps.BitMap([rows.fragment.id for rows in snapshot.fragments])
    is_left = not added or any(segment.holds & live for segment in built)
    path = paths_of(snapshot.manifest.schema)[index.field_id]
    again: Parameters | None = None
    gone = bitmaps.BitMap().union(*(one.holds for one in built)) - live
    if rules.retrain or not built or not is_left:
        again, gone = parameters(index.segments[0]), bitmaps.BitMap()
    elif rules.segments is None and index.kind.resize is not None:
        field, _ = indexed_field(snapshot.manifest.schema, path)
        new, every = (
            training_of(snapshot, index.kind, field, rows) for rows in (added, snapshot.fragments)
        )
        again = index.kind.resize(built, new, every)
    if again is not None:
        entry = build_segment(snapshot, index.kind, path, again, snapshot.fragments, index.name)
        if built and not rules.retrain and _inherits(snapshot, index, built):
            entry.dataset_version = min(one.entry.dataset_version for one in built)
        replaced = [segment.current for segment in index.segments]
    elif last := built[len(built) - min(rules.segments or 0, len(built)) :]:
        entry, replaced = _rewritten(snapshot, index, last, added)
        gone = bitmaps.BitMap().union(*(one.holds for one in last)) - live
    else:
        fresh = rewrite_segments(snapshot, index, built[-1:], added, anew=True) if added else None
        return None if fresh is None else (fresh, [])
    set_covered(entry, gone | (covered(entry) or bitmaps.BitMap()))
    return entry, replaced
