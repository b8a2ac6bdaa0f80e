"""Indices of a version: the segments of each, opened when they are first asked.

An entry of a type that is not known, or too new, is passed over: its rows are scanned. The files of
one without details, which old writers left out, tell its type.

Clauses: L.index.details.url, L.index.details.unknown, L.index.details.version,
L.index.details.missing, L.index.segment.coverage
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import NotFound, UnknownVersion
from lanceref.core.wire import parse_message
from lanceref.file.schema import LanceSchema
from lanceref.index.fragment_reuse import Reuse, read_reuse
from lanceref.index.index_type import Found, Kind, ScalarIndex, Zoned
from lanceref.index.predicate import IsNull, Predicate
from lanceref.index.row_set import RowSet, row_set
from lanceref.index.segment import Segment, Uses
from lanceref.json.json_path import member_path, members_of
from lanceref.proto import table_pb2
from lanceref.proto.mem_wal_pb2 import MemWalIndexDetails
from lanceref.table.bases import Bases
from lanceref.table.file_entries import overlaid_since
from lanceref.table.flags import STABLE_ROW_IDS
from lanceref.table.lineage import ROW_ID
from lanceref.table.manifest import Manifest
from lanceref.table.rows import FragmentRows
from lanceref.transactions.index_entries import MEM_WAL_INDEX

Positions = NDArray[np.int64]
Entries = Sequence[table_pb2.IndexMetadata]


@dataclass
class Answer:
    """What a predicate found, what it took, and the fragments it was asked for since.

    Who asks for a fragment again asks anew, and all the parts are there.
    """

    found: Found | None
    parts: int
    comparisons: int
    fragments: set[int] = field(default_factory=set)

    def of(self, fragment_id: int, uses: Uses) -> Found | None:
        """Return what was found, for one fragment."""
        if fragment_id in self.fragments:
            self.fragments.clear()
            uses.hit(self.parts)
            uses.compare(self.comparisons)
        self.fragments.add(fragment_id)
        return self.found


@dataclass(frozen=True, slots=True)
class Opened:
    """A segment with its files open, and what it has found so far."""

    segment: Segment
    index: ScalarIndex
    by_address: bool
    _found: dict[Predicate, Answer] = field(default_factory=dict)

    def positions(self, predicate: Predicate, rows: FragmentRows) -> Positions | None:
        """Return the live rows of a fragment, ascending, for which the predicate may be true.

        None when nothing is known of them.
        """
        if isinstance(self.index, Zoned) and not self._tells_of(self.index, rows.fragment.id):
            return None
        uses = self.segment.uses
        if predicate not in self._found:
            parts, comparisons = uses.asked, uses.comparisons
            answer = self._search(predicate)
            took = uses.asked - parts, uses.comparisons - comparisons
            self._found[predicate] = Answer(answer, *took)
        found = self._found[predicate].of(rows.fragment.id, uses)
        if found is None:
            return None
        if isinstance(found, RowSet) and not self.by_address:
            (ids,) = rows.take(np.arange(rows.num_rows), (), (ROW_ID,))
            return found.among(ids.to_numpy())
        return rows.positions(found.offsets(rows.fragment.id, rows.columns.stated_rows))

    def _tells_of(self, zoned: Zoned, fragment_id: int) -> bool:
        """Return whether there are zones of a fragment, or of where its rows have been."""
        return self.segment.moves is not None or zoned.tells_of(fragment_id)

    def _search(self, predicate: Predicate) -> Found | None:
        """Return the rows where they are now."""
        found = self.index.search(predicate)
        if found is None or not self.by_address:
            return found
        if isinstance(found, RowSet):
            self.segment.check_fragments(found.keys)
        if self.segment.moves is None:
            return found
        rows = found if isinstance(found, RowSet) else found.rows
        return row_set(self.segment.moves(rows.keys)[1])


@dataclass
class Index:
    """A logical index over one field: all segments of a name."""

    name: str
    kind: Kind
    field_id: int
    segments: tuple[Segment, ...]

    @cached_property
    def _opened(self) -> dict[str, Opened]:
        return {}

    def open(self, segment: Segment) -> Opened:
        """Return a segment with its files open."""
        uuid = segment.uuid
        if uuid not in self._opened:
            version = segment.entry.index_version
            by_address = self.kind.by_address(version, segment.stable_row_ids)
            segment.uses.indices_loaded += 1
            self._opened[uuid] = Opened(segment, self.kind.open(segment), by_address)
        return self._opened[uuid]

    def answers(self, predicate: Predicate) -> bool | None:
        """Return as `Kind.answers`; None too of nulls that a segment does not know."""
        if isinstance(predicate, IsNull):
            versions = (one.entry.index_version for one in self.segments)
            if any(version < self.kind.nulls_since for version in versions):
                return None
        return self.kind.answers(predicate)

    def is_early(self, segment: Segment) -> bool:
        """Whether the files of a segment are of 0.1, as first releases wrote them: nobody asks.

        Raises FormatError, and UnknownVersion of a segment that is of a later layout.
        """
        try:
            self.open(segment)
        except UnknownVersion as error:
            if error.clause.startswith("L.index."):
                raise
            return True
        return False

    def positions(self, predicate: Predicate, rows: FragmentRows) -> Positions | None:
        """Return the live rows of a fragment for which the predicate may be true, ascending.

        None when no segment covers the fragment, or one whose version nobody here knows.
        """
        for segment in self.segments:  # L.index.segment.coverage
            if rows.fragment.id in segment.covers:
                try:
                    opened = self.open(segment)
                except UnknownVersion:  # early or later than we know: the rows are scanned
                    return None
                return opened.positions(predicate, rows)
        return None


def type_name(entry: table_pb2.IndexMetadata) -> str:
    """Return the name of the details message of an entry, empty without details."""
    return entry.index_details.type_url.rpartition("/")[2]


def declared_kind(entry: table_pb2.IndexMetadata) -> Kind | None:
    """Return the type that an entry names, None for one that nobody knows."""
    from lanceref.index.registry import BY_DETAILS  # who has no index needs no type

    name = type_name(entry).rpartition(".")[2]  # messages have been in several packages
    return BY_DETAILS.get(name.lower())  # L.index.details.url


def kind_of(entry: table_pb2.IndexMetadata) -> Kind | None:
    """Return the type of an entry, None for one that is to be passed over."""
    kind = declared_kind(entry)
    if kind is not None and kind.of_details is not None:
        kind = kind.of_details(entry.index_details.value)
    if kind is None or entry.index_version > kind.version:  # L.index.details.unknown, -version
        return None
    return kind


class Indices:
    """The indices of a version."""

    def __init__(
        self, manifest: Manifest, bases: Bases, ctx: Context, entries: Entries | None = None
    ) -> None:
        self._manifest, self._bases, self._ctx = manifest, bases, ctx
        self._entries = manifest.indices if entries is None else entries
        self.uses = Uses()

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """Every segment, those that cannot be asked too. Raises FormatError."""
        manifest, stable = self._manifest, self._stable_row_ids
        message = manifest.message
        highest = message.max_fragment_id if message.HasField("max_fragment_id") else None
        found = [
            Segment(
                entry,
                self._bases,
                self._ctx,
                manifest.place,
                stable,
                highest,
                overlaid=overlaid_since(message.fragments, entry),
                uses=self.uses,
            )
            for entry in self._entries
        ]
        moves = read_reuse(found, self._ctx)
        return tuple(replace(one, moves=moves) for one in found) if moves.steps else tuple(found)

    @cached_property
    def reuse(self) -> Reuse:
        """Where compactions moved rows that indices do not know of yet. Raises FormatError."""
        return read_reuse(self.segments, self._ctx)

    @property
    def _stable_row_ids(self) -> bool:
        return bool(self._manifest.message.reader_feature_flags & STABLE_ROW_IDS)

    def of(self, entries: Entries) -> Indices:
        """Return segments that no version names yet as if this one did."""
        return Indices(self._manifest, self._bases, self._ctx, entries)

    @cached_property
    def known(self) -> tuple[Index, ...]:
        """Every logical index that can be asked."""
        return tuple(self._known())

    def _known(self) -> Iterator[Index]:
        by_name: dict[str, list[Segment]] = {}
        once = {one.entry.SerializeToString(deterministic=True): one for one in self.segments}
        for segment in once.values():  # an entry that is listed again has the same files
            by_name.setdefault(segment.entry.name, []).append(segment)
        for name, segments in by_name.items():
            found = [self._kind(one) for one in segments]
            kinds = {id(kind): kind for kind in found}
            fields = {tuple(one.entry.fields) for one in segments}
            (kind, *others) = kinds.values()
            if kind is not None and not others and len(fields) == 1 and len(min(fields)) == 1:
                yield Index(name, kind, min(fields)[0], tuple(segments))

    def _kind(self, segment: Segment) -> Kind | None:
        """Return the type of a segment, None for one that is to be passed over."""
        entry = segment.entry
        if type_name(entry) or len(entry.fields) != 1:
            return kind_of(entry)
        from lanceref.index.registry import kind_by_files  # who has no index needs no type

        every = {one.id: one for one in self._manifest.schema.flat()}
        field = every.get(entry.fields[0])
        return None if field is None else kind_by_files(segment, field)

    @cached_property
    def mem_wal(self) -> MemWalIndexDetails | None:
        """What is said of the log before the table, None without one. Raises BadProto."""
        for entry in self._entries:
            if entry.name == MEM_WAL_INDEX:
                cursor = Cursor(memoryview(entry.index_details.value), 0, self._ctx)
                name, clause = "details of the log", "L.index.mem-wal.details"
                return parse_message(cursor, MemWalIndexDetails, name, clause, self._manifest.place)
        return None

    @cached_property
    def by_path(self) -> dict[str, list[Index]]:
        """The indices of each column, by its name, `a.b` for a part of one.

        Those over members of documents are apart, by `member_path`.
        """
        paths = paths_of(self._manifest.schema)
        found: dict[str, list[Index]] = {}
        for index in self.known:
            path, json_path = paths.get(index.field_id), index.kind.json_path
            if path is not None and json_path is not None:
                names = members_of(json_path)
                path = None if names is None else member_path(path, names)
            if path is not None:
                found.setdefault(path, []).append(index)
        return found


def paths_of(schema: LanceSchema) -> dict[int, str]:
    """Return the name of each field below structs only, `a.b`, by its id."""
    found: dict[int, str] = {}
    level = [("", one) for one in schema.fields]
    while level:
        found |= {one.id: f"{above}{one.name}" for above, one in level}
        level = [
            (f"{above}{one.name}.", child)
            for above, one in level
            if one.logical_type == "struct"
            for child in one.children
        ]
    return found


def indexed_path(schema: LanceSchema, column: str) -> tuple[str, int]:
    """Return the path of a field below structs only, as the schema spells it, and its id.

    Parts that are no plain words may stand in backticks; where no field has the very name, its
    letters may be of the other case. Raises NotFound.
    """
    paths = paths_of(schema)
    plain = re.sub(r"`([^`]*)`", r"\1", column)
    for wanted, spelled in ((column, str), (plain, str), (plain.lower(), str.lower)):
        for field_id, path in paths.items():
            if spelled(path) == wanted:
                return path, field_id
    raise NotFound(f"{column} not found in schema")
