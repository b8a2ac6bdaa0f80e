"""Indices brought up to date: rows that no segment covers are taken in, segments become one.

The last segments of an index are written anew together with those rows; how many of them is the
caller's choice, and none means a segment of its own for the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyroaring import BitMap

from lanceref.edit.index_build import build_segment, rewrite_segments
from lanceref.index.indices import Index, paths_of
from lanceref.proto import table_pb2
from lanceref.snapshot import Snapshot

Entry = table_pb2.IndexMetadata


@dataclass(frozen=True, slots=True)
class UpdateRules:
    """Which indices are brought up to date, and how many of their segments are written anew.

    `retrain` builds them from the rows of the table.
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
    covered = BitMap().union(*(segment.covers for segment in index.segments))
    added = [rows for rows in snapshot.fragments if rows.fragment.id not in covered]
    if rules.retrain and index.kind.parameters is not None:
        given = index.kind.parameters(index.segments[0])
        path = paths_of(snapshot.manifest.schema)[index.field_id]
        entry = build_segment(snapshot, index.kind, path, given, snapshot.fragments, index.name)
        return entry, [segment.entry for segment in index.segments]
    if rules.retrain:
        entry = rewrite_segments(snapshot, index, index.segments, snapshot.fragments, anew=True)
        return entry, [segment.entry for segment in index.segments]
    count = 1 if rules.segments is None else rules.segments
    last = index.segments[len(index.segments) - min(count, len(index.segments)) :]
    if not added and (rules.segments is None or len(last) < 2):
        return None
    if last:
        return rewrite_segments(snapshot, index, last, added), [one.entry for one in last]
    entry = rewrite_segments(snapshot, index, index.segments[-1:], added, anew=True)
    entry.dataset_version = snapshot.manifest.version
    return entry, []
