"""Index segments of a table, built and rewritten: files below `_indices`, and their entry.

Nothing is part of the table before a commit names the entry. Some types of index leave what several
processes have built over fragments of their own below `staging/`, in the folder of the segment,
until the segment is finished: then the files that are read are written.

An index is brought up to date by adding rows that no segment covers. The last segments of an index
are rewritten together with those rows; how many of them is the caller's choice, and none means a
segment of its own for the rows. Where rows have stable ids so are all that cover fragments with
deleted rows: a row that was updated has its id in new rows too.

Clauses: L.index.segment.entry, L.index.segment.dataset-version, L.index.fts.staging
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from lanceref.core.compute import bitmaps
from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.core.integers import is_in
from lanceref.index.index_type import Built, Kind, Parameters
from lanceref.index.indices import Index, indexed_field, kind_of
from lanceref.index.predicate import Mask
from lanceref.index.row_set import SHIFT, Keys
from lanceref.index.segment import Moved, Segment, SegmentWriter
from lanceref.index.training import IndexedColumn, Training
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Snapshot
from lanceref.table.bases import INDICES
from lanceref.table.rows import FragmentRows
from lanceref.transactions.index_entries import covered, set_covered
from lanceref.transactions.manifest_builder import REUSE_INDEX, assign, copy_of, storage_version_of

Entry = table_pb2.IndexMetadata


def build_segment(
    snapshot: Snapshot,
    kind: Kind,
    indexed: IndexedColumn,
    parameters: Parameters,
    fragments: Sequence[FragmentRows],
    name: str,
    segment_uuid: uuid.UUID | None = None,
    *,
    staged: bool = False,
) -> Entry:
    """Write a segment over fragments and return its entry. Raises OperationRefused.

    A `staged` one of a type that has stages is to be finished when it is committed.
    """
    build = kind.stage if staged else kind.build
    with segment_writer(snapshot, segment_uuid) as writer:
        built = build(training_of(snapshot, kind, indexed, fragments), writer, parameters)
    covered = fragments if writer.files else ()  # an index may only be defined
    return new_entry(snapshot, writer, built, name, indexed.field.id, covered)


def training_of(
    snapshot: Snapshot, kind: Kind, indexed: IndexedColumn, fragments: Sequence[FragmentRows]
) -> Training:
    """Return the rows of fragments for an index to be built over.

    Raises OperationRefused for a column of a type that the index is not made for.
    """
    if not kind.accepts(indexed.field):
        found = f"{indexed.field.name!r}, a {indexed.field.arrow.type}"
        raise OperationRefused(f"{kind.name} cannot index {found}")
    stable = snapshot.stable_row_ids
    return Training(indexed, fragments, stable, kind.has_addresses(kind.version, stable))


def segment_writer(snapshot: Snapshot, segment_uuid: uuid.UUID | None = None) -> SegmentWriter:
    """Return a writer of a new segment, in the version of the table's files."""
    version = storage_version_of(snapshot.manifest.message)
    return SegmentWriter(snapshot.store, version, segment_uuid)


def new_entry(
    snapshot: Snapshot,
    writer: SegmentWriter,
    built: Built,
    name: str,
    field_id: int,
    fragments: Sequence[FragmentRows],
) -> Entry:
    """Return the entry of a segment that has been written over fragments."""
    # L.index.segment.entry
    entry = table_pb2.IndexMetadata(
        fields=[field_id],
        name=name,
        dataset_version=snapshot.manifest.version,
        index_version=built.version,
        created_at=time.time_ns() // 1_000_000,
        files=writer.files,
    )
    entry.uuid.uuid = writer.uuid.bytes
    set_covered(entry, [rows.fragment.id for rows in fragments], runs=True)
    entry.index_details.Pack(built.details, "", deterministic=True)
    return entry


def rewrite_segments(
    snapshot: Snapshot,
    index: Index,
    segments: Sequence[Segment],
    added: Sequence[FragmentRows],
    *,
    anew: bool = False,
    inherits: bool = True,
) -> Entry:
    """Write segments of an index, with rows of fragments that none covers, as one segment.

    Entries of fragments that are gone, or no longer covered, are left out; `anew` leaves all of
    them out, and only what is added counts. Where a segment is early, all are built anew from the
    rows. Unless zones are built anew, the entry `inherits` the oldest version of the segments.
    Raises OperationRefused.
    """
    indexed = indexed_field(snapshot.manifest.schema, index.field_id)
    live = {rows.fragment.id: rows for rows in snapshot.fragments}
    alive = bitmaps.BitMap() if anew else bitmaps.BitMap(live)
    covered = [bitmaps.BitMap(one.covers) & alive for one in segments]
    union = bitmaps.BitMap().union(*covered) | bitmaps.BitMap([rows.fragment.id for rows in added])
    over = [live[number] for number in union]
    is_early = any(index.is_early(one) for one in segments)
    if is_early:
        entry = build_segment(snapshot, index.kind, indexed, {}, over, index.name)
    else:
        pairs, others = [], union
        for one, own in zip(segments, covered, strict=True):
            # Zones do not move with rows: of a rebuilt or moved segment no row is kept.
            moves = one.moves is None or index.kind.rewrite_on_move
            unmoved = own if moves and not index.kind.rebuilt else bitmaps.BitMap()
            pairs.append((one, _current(index, one, [live[number] for number in unmoved])))
            others = others - unmoved
        read = [rows for rows in snapshot.fragments if rows.fragment.id in others]
        with segment_writer(snapshot) as writer:
            training = training_of(snapshot, index.kind, indexed, read)
            built = index.kind.rewrite(pairs, training, writer)
        entry = new_entry(snapshot, writer, built, index.name, index.field_id, over)
    if inherits and not anew and (is_early or not index.kind.rebuilt):
        entry.dataset_version = min(one.entry.dataset_version for one in segments)
    return entry


def _current(index: Index, segment: Segment, fragments: Collection[FragmentRows]) -> Moved:
    """Return a function from keys of a segment to those of rows in fragments that it covers."""
    by_address = index.open(segment).by_address
    numbers = np.array([rows.fragment.id for rows in fragments], np.uint64)
    ids = [] if by_address else [rows.by_id[0] for rows in fragments]
    alive = np.concatenate([np.empty(0, np.uint64), *ids])

    def current(keys: Keys) -> tuple[Mask, Keys]:
        kept = np.isin(keys >> SHIFT, numbers) if by_address else is_in(keys, alive)
        return kept, keys[kept]

    return segment.then(current) if by_address else current


def finish_entry(snapshot: Snapshot, entry: Entry) -> Entry:
    """Return the entry of a finished segment, writing its files if it is staged."""
    kind = kind_of(entry)
    if kind is None or not kind.is_staged(entry):
        return entry
    finished = copy_of(entry)
    assign(finished.files, _finish(snapshot, kind, entry))
    return finished


def finish_folder(snapshot: Snapshot, kind: Kind, name: str) -> None:
    """Write the files of a segment that several have staged in one folder.

    Raises ValueError for what is no uuid, OperationRefused when nothing is there.
    """
    try:
        entry = table_pb2.IndexMetadata(name=name, uuid={"uuid": uuid.UUID(name).bytes})
    except ValueError as error:
        raise ValueError(f"Invalid UUID string for index_uuid: {name}") from error
    folder = f"{INDICES}/{uuid.UUID(name)}/"
    entry.files.extend(
        table_pb2.IndexFile(path=one.path.removeprefix(folder), size_bytes=one.size)
        for one in snapshot.store.walk(folder)
    )
    if not kind.is_staged(entry):
        raise OperationRefused(f"No partition metadata files found in index directory: {folder}")
    _finish(snapshot, kind, entry)
    remove_staged(snapshot, entry)


def remove_staged(snapshot: Snapshot, entry: Entry) -> None:
    """Remove the staged files of a segment that is finished; other segments have none.

    Whoever copies the folder of a segment, as a deep clone may, takes all files in it.
    """
    kind = kind_of(entry)
    if kind is not None and kind.is_staged(entry):
        folder = f"{INDICES}/{uuid.UUID(bytes=entry.uuid.uuid)}/"
        for file in entry.files:
            snapshot.store.delete(folder + file.path)
        snapshot.store.prune(folder)


def _finish(snapshot: Snapshot, kind: Kind, entry: Entry) -> list[table_pb2.IndexFile]:
    """Write the files of a staged segment and return them."""
    segments = snapshot.indices.of([entry]).segments
    if len(segments) != 1:
        raise IndexRefused("the segment cannot be finished")
    with segment_writer(snapshot, uuid.UUID(bytes=entry.uuid.uuid)) as writer:
        kind.finish(segments[0], writer)
    return writer.files


def update_indices(
    snapshot: Snapshot, names: Collection[str] | None, wanted: int | None, *, retrain: bool
) -> Iterator[tuple[table_pb2.IndexMetadata, list[table_pb2.IndexMetadata]]]:
    """Yield new entries, each with those in whose place it stands. Raises FormatError.

    `names` are those of the indices, None for all; of each `wanted` segments are rewritten.
    `retrain` builds those that were trained on rows anew.
    """
    asked = [one for one in snapshot.indices.known if names is None or one.name in names]
    found = (_updated(snapshot, one, wanted, retrain=retrain) for one in asked)
    yield from (one for one in found if one is not None) if snapshot.fragments else ()


def _updated(
    snapshot: Snapshot, index: Index, wanted: int | None, *, retrain: bool
) -> tuple[table_pb2.IndexMetadata, list[table_pb2.IndexMetadata]] | None:
    """Return the new entry of an index; None when nothing is to be done."""
    known = bitmaps.BitMap().union(*(segment.holds for segment in index.segments))
    added = [rows for rows in snapshot.fragments if rows.fragment.id not in known]
    if index.kind.learns:
        return _learnt(snapshot, index, wanted, added, retrain=retrain)
    wanted = 1 if retrain else wanted
    if not added and not wanted:
        return None
    oldest, least = (one.entry.index_version for one in index.segments), index.kind.address_version
    is_old = snapshot.stable_row_ids and least is not None and min(oldest) < least
    first = 0 if is_old else max(len(index.segments) - (1 if wanted is None else wanted), 0)
    segments = [*index.segments[first:]]
    if not segments:
        return rewrite_segments(snapshot, index, index.segments[-1:], added, anew=True), []
    if snapshot.stable_row_ids:  # rows of segments may be among the new ones: some are deleted
        lossy = bitmaps.BitMap([one.fragment.id for one in snapshot.fragments if one.num_deleted])
        segments = [one for one in index.segments[:first] if one.holds & lossy] + segments
    if not added and len(segments) < 2:
        return None
    if is_old:  # their keys are row ids
        entry = rewrite_segments(snapshot, index, segments, snapshot.fragments, anew=True)
        return entry, [segment.current for segment in segments]
    return _rewritten(snapshot, index, segments, added)


def _rewritten(
    snapshot: Snapshot, index: Index, segments: Sequence[Segment], added: Sequence[FragmentRows]
) -> tuple[table_pb2.IndexMetadata, list[table_pb2.IndexMetadata]]:
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
    has_rows = any(segment.holds & live for segment in segments)
    rule = index.kind.inherits
    if rule == "unmoved":
        moves = [one for one in snapshot.manifest.indices if one.name == REUSE_INDEX]
        newer = (s.entry.dataset_version > m.dataset_version for s in segments for m in moves)
        return has_rows and all(newer)
    return rule == "always" or (has_rows and (rule == "left" or len(segments) == 1))


def _learnt(
    snapshot: Snapshot,
    index: Index,
    wanted: int | None,
    added: Sequence[FragmentRows],
    *,
    retrain: bool,
) -> tuple[table_pb2.IndexMetadata, list[table_pb2.IndexMetadata]] | None:
    """Return the new entry of an index that was trained on rows.

    Unless a number is given, new rows become a segment of their own, or all segments are built
    anew where the table has outgrown them. They are too where none of their fragments is left.
    Entries of rewritten segments still cover their fragments that are gone.
    """
    built = [segment for segment in index.segments if segment.built]
    live = bitmaps.BitMap([rows.fragment.id for rows in snapshot.fragments])
    indexed = indexed_field(snapshot.manifest.schema, index.field_id)
    again: Parameters | None = None
    gone = bitmaps.BitMap().union(*(one.holds for one in built)) - live
    if retrain or not built or (added and not any(one.holds & live for one in built)):
        again, gone = index.kind.learnt(index.segments[0]), bitmaps.BitMap()
    elif wanted is None:
        every = snapshot.fragments
        both = (training_of(snapshot, index.kind, indexed, rows) for rows in (added, every))
        again = index.kind.resize(built, *both)
    if again is not None:
        entry = build_segment(snapshot, index.kind, indexed, again, snapshot.fragments, index.name)
        if built and not retrain and _inherits(snapshot, index, built):
            entry.dataset_version = min(one.entry.dataset_version for one in built)
        replaced = [segment.current for segment in index.segments]
    elif last := built[len(built) - min(wanted or 0, len(built)) :]:
        entry, replaced = _rewritten(snapshot, index, last, added)
        gone = bitmaps.BitMap().union(*(one.holds for one in last)) - live
    else:
        fresh = rewrite_segments(snapshot, index, built[-1:], added, anew=True) if added else None
        return None if fresh is None else (fresh, [])
    set_covered(entry, gone | (covered(entry) or bitmaps.BitMap()))
    return entry, replaced
