"""Index listing: what a dataset has of indices, and what of them is in memory (face)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from lanceref.core.errors import QueryRefused
from lanceref.file.schema_view import joined_path
from lanceref.index.indices import Index, kind_of, type_name, ways_of
from lanceref.index.segment import Segment
from lanceref.proto import table_pb2
from lanceref.transactions.index_entries import MEM_WAL_INDEX, SYSTEM_INDICES, covered
from lanceref.transactions.manifest_builder import REUSE_INDEX
from pyroaring import BitMap

from pylanceref.errors import IndexNotFound, KeyMissing
from pylanceref.table_handle import OpenTable
from pylanceref.transactions import index_of


@dataclass(frozen=True)
class IndexConfig:
    """A type of index by name, and its parameters."""

    index_type: str
    parameters: dict[str, object] = field(default_factory=dict)


class IndexFileVersion(StrEnum):
    """The versions of files of vector indices that can be written."""

    LEGACY = "Legacy"
    V3 = "V3"


class SupportedDistributedIndices(StrEnum):
    """Types whose metadata may be asked to be merged; only a full-text index has any."""

    BTREE = "BTREE"
    INVERTED = "INVERTED"
    IVF_FLAT = "IVF_FLAT"
    IVF_PQ = "IVF_PQ"
    IVF_SQ = "IVF_SQ"
    VECTOR = "VECTOR"


@dataclass(frozen=True)
class IndexSegmentDescription:
    """What the manifest says of one segment of an index."""

    uuid: str
    dataset_version_at_last_update: int
    fragment_ids: set[int]
    index_version: int
    created_at: datetime | None
    size_bytes: int | None
    base_id: int | None
    covering_fields: list[int]


@dataclass(frozen=True)
class IndexDescription:
    """What the manifest says of an index and all its segments."""

    name: str
    type_url: str
    index_type: str
    num_rows_indexed: int
    fields: list[int]
    field_names: list[str]
    segments: list[IndexSegmentDescription]
    details: dict[str, object]
    total_size_bytes: int | None


INVERTED_DETAILS = "lance.table.InvertedIndexDetails"

SHOWN = {REUSE_INDEX: "FragmentReuse", MEM_WAL_INDEX: "MemWal"}
"""Types of the indices of the system."""


def list_indices(table: OpenTable) -> list[dict[str, object]]:
    """Return every segment: name, type, uuid, fields, version of the table, fragments, base."""
    told = "list_indices is deprecated. Use describe_indices instead."
    warnings.warn(told, DeprecationWarning, stacklevel=2)
    segments = {UUID(one.uuid).bytes: one for one in table._snapshot.indices.segments}
    entries = sorted(_listed(table), key=lambda one: one.name)
    return [
        {
            "name": entry.name,
            "type": _described(table, own)[0],
            "uuid": own.uuid,
            "fields": _paths(table, entry),
            "version": entry.dataset_version,
            "fragment_ids": set(own.holds),
            "base_id": entry.base_id if entry.HasField("base_id") else None,
        }
        for entry, own in ((one, segments[one.uuid.uuid]) for one in entries)
    ]


def describe_indices(table: OpenTable) -> list[IndexDescription]:
    """Return every index with its segments, by name."""
    return [describe_index(table, name, entries) for name, entries in _by_name(table)]


def index_statistics(table: OpenTable, index_name: str) -> dict[str, object]:
    """Return what an index covers, and numbers of each segment. Raises KeyMissing."""
    from pylanceref.index_statistics import describe, statistics_of  # imports every type of index

    found, index = dict(_by_name(table)).get(index_name), _known(table, index_name)
    if found is None or index is None:
        raise KeyMissing(f'Index "{index_name}" not found')
    fragments = {rows.fragment.id: rows.num_rows for rows in table._snapshot.fragments}
    bitmaps = [(covered(entry) or BitMap()) & BitMap(fragments) for entry in found]
    rows = [sum(fragments[number] for number in bitmap) for bitmap in bitmaps]
    covered_fragments = BitMap().union(*bitmaps)
    built = [one.built and covered(one.entry) != BitMap() for one in index.segments]
    shown, _ = describe(index.kind, index.segments[0])
    segments = [
        statistics_of(index.open(one)) if has_rows and not index.is_early(one) else {}
        for one, has_rows in zip(index.segments, built)
    ]
    return {
        "index_type": shown if any(built) else "N/A",
        "name": index_name,
        "num_indices": len(found),
        "num_segments": len(found),
        "indices": segments,
        "segments": segments,
        "num_indexed_fragments": len(covered_fragments),
        "num_indexed_rows": sum(rows),
        "num_unindexed_fragments": len(fragments) - len(covered_fragments),
        "num_unindexed_rows": sum(fragments.values()) - sum(rows),
        "num_indexed_rows_per_delta": rows,
        "updated_at_timestamp_ms": max(entry.created_at for entry in found),
    }


def prewarm_index(table: OpenTable, name: str, *, with_position: bool = False) -> None:
    """Read an index into memory. Raises IndexNotFound, QueryRefused."""
    if (index := _known(table, name)) is None:
        raise IndexNotFound(f"Lance index not found: name={name}")
    if with_position and index.kind.details != INVERTED_DETAILS:
        raise QueryRefused(f"positions are those of inverted indices, got {index.kind.shown}")
    for segment in index.segments:
        if segment.built and not index.is_early(segment):
            index.open(segment).warm(positions=with_position)


def index_cache_hit_rate(table: OpenTable) -> float:
    """Return the share of parts that questions found in memory."""
    return table._snapshot.indices.uses.hit_rate


def _known(table: OpenTable, name: str) -> Index | None:
    return next((one for one in table._snapshot.indices.known if one.name == name), None)


def _listed(table: OpenTable) -> list[table_pb2.IndexMetadata]:
    """Return the entries that are shown, as they are now: not of types or versions not known."""
    return [
        entry
        for entry in (one.current for one in table._snapshot.indices.segments)
        if entry.name in SYSTEM_INDICES or not type_name(entry) or kind_of(entry) is not None
    ]


def _by_name(table: OpenTable) -> Iterator[tuple[str, Sequence[table_pb2.IndexMetadata]]]:
    entries = _listed(table)
    for name in sorted({entry.name for entry in entries}):
        yield name, [entry for entry in entries if entry.name == name]


def _paths(table: OpenTable, entry: table_pb2.IndexMetadata) -> list[str]:
    ways = ways_of(table._snapshot.manifest.schema, lists=True)
    return [joined_path(one.name for one in ways[id_]) for id_ in entry.fields if id_ in ways]


def describe_index(
    table: OpenTable, name: str, entries: Sequence[table_pb2.IndexMetadata]
) -> IndexDescription:
    live = {rows.fragment.id: rows.num_rows for rows in table._snapshot.fragments}
    held = [number for entry in entries for number in covered(entry) or ()]
    segments = [_segment(entry) for entry in entries]
    sizes = [one.size_bytes for one in segments if one.size_bytes is not None]
    shown, details = _described(table, table._snapshot.indices.of(entries[:1]).segments[0])
    return IndexDescription(
        name=name,
        type_url=entries[0].index_details.type_url,
        index_type=shown,
        num_rows_indexed=sum(live.get(number, 0) for number in held),
        fields=list(entries[0].fields),
        field_names=_paths(table, entries[0]),
        segments=segments,
        details=details,
        total_size_bytes=sum(sizes) if len(sizes) == len(segments) else None,
    )


def _segment(entry: table_pb2.IndexMetadata) -> IndexSegmentDescription:
    """Describe a segment; what its entry does not say is None."""
    one, has_size = index_of(entry), entry.files or not covered(entry)
    return IndexSegmentDescription(
        one.uuid,
        one.dataset_version,
        set(one.fragment_ids),
        one.index_version,
        one.created_at,
        sum(file.size_bytes for file in entry.files) if has_size else None,
        one.base_id,
        one.covering_fields,
    )


def _described(table: OpenTable, segment: Segment) -> tuple[str, dict[str, object]]:
    """Return the name and the details of an index type as lists have them."""
    kind, known = kind_of(segment.entry), _known(table, segment.entry.name)
    if kind is None and known is not None and known.kind.learns:
        kind = known.kind
    if kind is None:
        # an index over vectors without details is known by the name of its file
        is_early = any(file.path == "index.idx" for file in segment.entry.files)
        shown = "Vector" if is_early and not type_name(segment.entry) else "Unknown"
        return SHOWN.get(segment.entry.name, shown), {}
    if kind.json_path is not None:
        return "Json", {"path": kind.json_path, "target_details": {}}
    from pylanceref.index_statistics import describe  # imports every type of index

    return describe(kind, segment)
