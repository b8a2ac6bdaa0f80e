"""Indices of a version: the segments of each, opened when they are first asked.

An entry of a type that is not known, or too new, is passed over: its rows are scanned. The files of
one without details, which old writers left out, show its type.

Clauses: L.index.details.url, L.index.details.unknown, L.index.details.version,
L.index.details.missing, L.index.segment.coverage
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, takewhile

import numpy as np

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, parse_message
from lanceref.core.errors import NotFound, UnknownVersion
from lanceref.core.integers import is_in
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_view import joined_path, names_in, project
from lanceref.index.fragment_reuse import read_reuse
from lanceref.index.index_type import IndexType, Kind, Positions
from lanceref.index.predicate import IsNull, Mask, Predicate
from lanceref.index.row_set import Keys
from lanceref.index.segment import Segment, Uses
from lanceref.index.training import LISTS, IndexedColumn, is_any
from lanceref.json.json_path import member_path, members_of
from lanceref.proto import table_pb2
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails
from lanceref.table.bases import Bases
from lanceref.table.file_entries import overlaid_since
from lanceref.table.flags import STABLE_ROW_IDS
from lanceref.table.manifest import Manifest
from lanceref.table.rows import FragmentRows
from lanceref.transactions.index_entries import MEM_WAL_INDEX

Entries = Sequence[table_pb2.IndexMetadata]


@dataclass
class Index:
    """A logical index over one field: all segments of a name."""

    name: str
    kind: Kind
    field_id: int
    segments: tuple[Segment, ...]

    _opened: dict[str, IndexType] = field(default_factory=dict)

    def path(self, schema: LanceSchema) -> str | None:
        """Return the path of the field, None where its type cannot be over such a one."""
        return paths_of(schema, lists=self.kind.below_lists).get(self.field_id)

    def open(self, segment: Segment) -> IndexType:
        """Return a segment with its files open. Raises FormatError, UnknownVersion."""
        if segment.uuid not in self._opened:
            segment.uses.indices_loaded += 1
            self._opened[segment.uuid] = self.kind.open(segment)
        return self._opened[segment.uuid]

    def answers(self, predicate: Predicate) -> bool | None:
        """Return as `IndexType.answers`; None where a segment does not hold which rows are null."""
        oldest = min(one.entry.index_version for one in self.segments)
        if isinstance(predicate, IsNull) and oldest < self.kind.nulls_since:
            return None
        return self.kind.answers(predicate)

    def is_early(self, segment: Segment) -> bool:
        """Whether the files of a segment are of 0.1, as first releases wrote them.

        Such a segment answers nothing. Raises FormatError, UnknownVersion for a later layout.
        """
        try:
            self.open(segment)
        except UnknownVersion as error:
            if error.clause.startswith("L.index."):
                raise
            return True
        return False

    def possible(self, predicate: Predicate, fragments: Keys) -> Mask:
        """Return for each fragment (n,), by its id, whether the predicate may be true for a row."""
        possible = np.ones(len(fragments), np.bool_)
        for segment in reversed(self.segments):  # of several that cover one the first is asked
            covered = segment.covers & bitmaps.BitMap(fragments.astype(np.uint32))
            own = is_in(fragments, np.asarray(covered.to_array(), np.uint64))
            if own.any():
                try:
                    possible[own] = self.open(segment).possible(predicate, fragments[own])
                except UnknownVersion:
                    possible[own] = True
        return possible

    def positions(self, predicate: Predicate, rows: FragmentRows) -> Positions | None:
        """Return the live rows of a fragment for which the predicate may be true, ascending.

        None when no segment covers the fragment, or one of an unknown version: (rows,).
        """
        for segment in self.segments:  # L.index.segment.coverage
            if rows.fragment.id in segment.covers:
                try:
                    opened = self.open(segment)
                except UnknownVersion:  # too early or too late: the rows are scanned
                    return None
                return opened.positions(predicate, rows)
        return None


def type_name(entry: table_pb2.IndexMetadata) -> str:
    """Return the name of the details message of an entry, empty without details."""
    return entry.index_details.type_url.rpartition("/")[2]


def declared_kind(entry: table_pb2.IndexMetadata) -> Kind | None:
    """Return the type that an entry names, None for one that nobody knows."""
    from lanceref.index.registry import BY_DETAILS  # a table without index needs no type

    name = type_name(entry).rpartition(".")[2]  # messages have been in several packages
    return BY_DETAILS.get(name.lower())  # L.index.details.url


def kind_of(entry: table_pb2.IndexMetadata) -> Kind | None:
    """Return the type of an entry, None for one that is to be passed over."""
    # L.index.details.missing
    kind = declared_kind(entry)
    if kind is not None:
        kind = kind.of_details(entry.index_details.value)
    if kind is None or entry.index_version > kind.version:  # L.index.details.unknown, -version
        return None
    return kind


class Indices:
    """All indices of one version of a table."""

    def __init__(
        self, manifest: Manifest, bases: Bases, ctx: Context, entries: Entries | None = None
    ) -> None:
        self._manifest, self._bases, self._ctx = manifest, bases, ctx
        self._entries = manifest.indices if entries is None else entries
        self.uses = Uses()

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Every segment, those that cannot be asked too. Raises FormatError."""
        message, place = self._manifest.message, self._manifest.place
        stable = bool(message.reader_feature_flags & STABLE_ROW_IDS)
        highest = message.max_fragment_id if message.HasField("max_fragment_id") else None
        segments = []
        for entry in self._entries:
            overlaid = overlaid_since(message.fragments, entry)
            own = (entry, self._bases, self._ctx, place, stable, self._manifest.fragments, highest)
            segments.append(Segment(*own, overlaid=overlaid, uses=self.uses))
        moves = read_reuse(segments, self._ctx)
        return tuple(replace(one, moves=moves) if moves.steps else one for one in segments)

    def of(self, entries: Entries) -> Indices:
        """Return segments that no version names yet as if this one did."""
        return Indices(self._manifest, self._bases, self._ctx, entries)

    @cached_property
    def known(self) -> tuple[Index, ...]:
        """Every logical index that can be asked."""
        by_name: dict[str, list[Segment]] = {}
        once = {one.entry.SerializeToString(deterministic=True): one for one in self.segments}
        for segment in once.values():  # an entry that is listed again has the same files
            by_name.setdefault(segment.entry.name, []).append(segment)
        indices = []
        for name, segments in by_name.items():
            kind, *others = {id(kind): kind for kind in map(self._kind, segments)}.values()
            fields, *different = {tuple(one.entry.fields) for one in segments}
            if kind is not None and not others and not different and len(fields) == 1:
                indices.append(Index(name, kind, fields[0], tuple(segments)))
        return tuple(indices)

    def _kind(self, segment: Segment) -> Kind | None:
        """Return the type of a segment, None for one that is to be passed over."""
        # L.index.details.version
        from lanceref.index.registry import kind_by_files  # a table without index needs no type

        entry = segment.entry
        if type_name(entry) or len(entry.fields) != 1:
            return kind_of(entry)
        fields = {one.id: one for one in self._manifest.schema.flat()}
        field = fields.get(entry.fields[0])
        return None if field is None else kind_by_files(segment, field)

    @cached_property
    def mem_wal(self) -> MemWalIndexDetails | None:
        """The details of the memory write-ahead log, None without one. Raises BadProto."""
        for entry in self._entries:
            if entry.name == MEM_WAL_INDEX:
                cursor = Cursor(memoryview(entry.index_details.value), 0, self._ctx)
                name, clause = "details of the log", "L.index.mem-wal.details"
                return parse_message(cursor, MemWalIndexDetails, name, clause, self._manifest.place)
        return None

    @cached_property
    def by_path(self) -> dict[str, list[Index]]:
        """The indices of each column, by its path, that can be over values of its type.

        Those over members of documents are listed by `member_path`.
        """
        fields = {field.id: field for field in self._manifest.schema.flat()}
        indices: dict[str, list[Index]] = {}
        for index in self.known:
            path, json_path = index.path(self._manifest.schema), index.kind.json_path
            if path is None or not index.kind.accepts(fields[index.field_id]):
                continue
            if json_path is not None:
                names = members_of(json_path)
                path = None if names is None else member_path(path, names)
            if path is not None:
                indices.setdefault(path, []).append(index)
        return indices


def ways_of(schema: LanceSchema, *, lists: bool = False) -> dict[int, tuple[Field, ...]]:
    """Return the fields on the way to each one below structs, or `lists` too, by its id."""
    ways: list[tuple[Field, ...]] = [(one,) for one in schema.fields]
    for way in ways:  # grows by the fields below each
        if way[-1].logical_type == "struct" or (lists and is_any(way[-1].arrow.type, *LISTS)):
            ways += [(*way, child) for child in way[-1].children]
    return {way[-1].id: way for way in ways}


def paths_of(schema: LanceSchema, *, lists: bool = False) -> dict[int, str]:
    """Return the path of each field below structs, `a.b`, or `lists` too, by its id.

    An item of a list has no name in it.
    """
    paths = {}
    for field_id, way in ways_of(schema, lists=lists).items():
        below = (one.name for above, one in pairwise(way) if above.logical_type == "struct")
        paths[field_id] = joined_path((way[0].name, *below))
    return paths


def indexed_path(schema: LanceSchema, column: str, *, lists: bool = False) -> tuple[str, int]:
    """Return the path of a field below structs, or `lists` too, as the schema has it, and its id.

    Names may be quoted in backticks; where no field has the exact ones, case is ignored. Raises
    NotFound.
    """
    paths, exact = paths_of(schema, lists=lists), joined_path(names_in(column))
    for wanted, spelled in ((exact, str), (exact.lower(), str.lower)):
        for field_id, path in paths.items():
            if spelled(path) == wanted:
                return path, field_id
    raise NotFound(f"{column} not found in schema")


def indexed_column(schema: LanceSchema, column: str, *, lists: bool = False) -> IndexedColumn:
    """Return a field by its path, as `indexed_path` finds it. Raises NotFound."""
    return indexed_field(schema, indexed_path(schema, column, lists=lists)[1])


def indexed_field(schema: LanceSchema, field_id: int) -> IndexedColumn:
    """Return a field that has a path by its id. Raises NotFound."""
    way = ways_of(schema, lists=True)[field_id]
    structs = list(takewhile(lambda one: one.logical_type == "struct", way))
    path = joined_path(one.name for one in way[: len(structs) + 1])
    (top,) = project(schema, [path])
    field = next((one for one in top.flat() if one.id == field_id), None)
    if field is None:
        raise NotFound(f"several fields are named {path}")
    return IndexedColumn(top, field)
