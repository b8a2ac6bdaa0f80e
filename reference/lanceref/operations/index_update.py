"""Indices brought up to date: rows that no segment covers are taken in, segments become one.

The last segments of an index are written anew together with those rows; how many of them is the
caller's choice, and none means a segment of its own for the rows. Where rows have stable ids so are
all that cover fragments with deleted rows: a row that was updated has its id in new rows too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pyroaring import BitMap

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
    """Which indices are brought up to date, and how many of their segments are written anew.

    `retrain` builds those that have learnt from the rows of the table once more from them.
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
    held = BitMap().union(*(segment.holds for segment in index.segments))
    added = [rows for rows in snapshot.fragments if rows.fragment.id not in held]
    if index.kind.parameters is not None:
        return _learnt(snapshot, index, rules, added, index.kind.parameters)
    asked = 1 if rules.retrain else rules.segments
    if not added and not asked:
        return None
    count = 1 if asked is None else asked
    first = len(index.segments) - min(count, len(index.segments))
    if first < len(index.segments):
        return _joined(snapshot, index, first, added)
    entry = rewrite_segments(snapshot, index, index.segments[-1:], added, anew=True)
    entry.dataset_version = snapshot.manifest.version
    return entry, []


def _joined(
    snapshot: Snapshot, index: Index, first: int, added: Sequence[FragmentRows]
) -> tuple[Entry, list[Entry]] | None:
    """Write the segments from number `first` on as one, with new rows; None when it is one now."""
    earlier = index.segments[:first]
    joined = [one for one in earlier if _may_have_lost(snapshot, one)] + [*index.segments[first:]]
    if not added and len(joined) < 2:
        return None
    entry = rewrite_segments(snapshot, index, joined, _with_overlaid(snapshot, joined, added))
    if not _inherits(snapshot, index, joined):  # L.index.segment.dataset-version
        entry.dataset_version = snapshot.manifest.version
    return entry, [one.current for one in joined]


def _with_overlaid(
    snapshot: Snapshot, segments: Sequence[Segment], added: Sequence[FragmentRows]
) -> list[FragmentRows]:
    """Return the new fragments, and those whose values are newer than the segments."""
    again = BitMap().union(*(one.holds - one.covers for one in segments))
    again |= BitMap([rows.fragment.id for rows in added])
    return [rows for rows in snapshot.fragments if rows.fragment.id in again]


def _may_have_lost(snapshot: Snapshot, segment: Segment) -> bool:
    """Whether rows of a segment by id may be among the new ones: some of its rows are deleted."""
    if not snapshot.stable_row_ids:
        return False
    holds = segment.holds
    return any(one.num_deleted for one in snapshot.fragments if one.fragment.id in holds)


def _inherits(snapshot: Snapshot, index: Index, segments: Sequence[Segment]) -> bool:
    """Whether a segment says the version of those in whose place it stands."""
    live = BitMap([one.fragment.id for one in snapshot.fragments])
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
    """Return the new entry of an index that keeps rows by what it has learnt.

    Unless a number is given, new rows become a segment of their own, or all segments are built
    anew where the table has outgrown them. They are too where none of their fragments is left.
    What is written anew says of fragments that are gone that it covers them.
    """
    built = [segment for segment in index.segments if segment.built]
    live = BitMap([rows.fragment.id for rows in snapshot.fragments])
    is_left = not added or any(segment.holds & live for segment in built)
    path = paths_of(snapshot.manifest.schema)[index.field_id]
    again: Parameters | None = None
    gone = BitMap().union(*(one.holds for one in built)) - live
    if rules.retrain or not built or not is_left:
        again, gone = parameters(index.segments[0]), BitMap()
    elif rules.segments is None and index.kind.resize is not None:
        field, _ = indexed_field(snapshot.manifest.schema, path)
        rows = [
            training_of(snapshot, index.kind, field, held) for held in (added, snapshot.fragments)
        ]
        again = index.kind.resize(built, *rows)
    if again is not None:
        fragments, name = snapshot.fragments, index.name
        entry = build_segment(snapshot, index.kind, path, again, fragments, name)
        set_covered(entry, gone | (covered(entry) or BitMap()))
        if built and not rules.retrain and _inherits(snapshot, index, built):
            entry.dataset_version = min(one.entry.dataset_version for one in built)
        return entry, [segment.current for segment in index.segments]
    last = built[len(built) - min(rules.segments or 0, len(built)) :]
    if last:
        entry = rewrite_segments(snapshot, index, last, _with_overlaid(snapshot, last, added))
        gone = BitMap().union(*(one.holds for one in last)) - live
        set_covered(entry, gone | (covered(entry) or BitMap()))
        if not _inherits(snapshot, index, last):  # L.index.segment.dataset-version
            entry.dataset_version = snapshot.manifest.version
        return entry, [one.current for one in last]
    if not added:
        return None
    entry = rewrite_segments(snapshot, index, built[-1:], added, anew=True)
    entry.dataset_version = snapshot.manifest.version
    return entry, []
