"""Index segments: the entries of the index section, and the files of each.

Several entries of one name are segments of one logical index; each covers fragments of its own. The
files of a segment lie in a folder named by its uuid, below the table or one of its bases. They are
opened when they are first read and stay open with the version. Where rows have moved since, they
hold the old addresses.

A new segment is no part of the table before a commit names it; the files of a failed one are
removed.

Layout: `_indices/{uuid}/{path}`, the uuid in lower case with hyphens.

Clauses: L.index.segment.folder, L.index.segment.files, L.index.segment.keys,
L.index.files.version, L.index.rows.fragment, L.table.limits.bitmap
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import bitmaps
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import FormatError, LimitExceeded, NotFound, OutOfRange, Place
from lanceref.core.file_versions import V2_0, FileVersion
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.index.row_set import NO_KEYS, SHIFT, Keys, RowSet
from lanceref.proto import table_pb2
from lanceref.storage import Source, Store
from lanceref.table.bases import INDICES, Bases
from lanceref.table.columns import FragmentReader
from lanceref.table.fragments import Fragment, addresses
from lanceref.table.lineage import ROW_ID, open_lineage
from lanceref.transactions.index_entries import covered, set_covered


@dataclass
class Uses:
    """Counts since a version was opened: parts of indices `loaded`, and `hits` in memory.

    A part is what an index reads at once: a page, the rows of a value, a posting list, a partition.
    `comparisons` are values compared with a predicate.
    """

    indices_loaded: int = 0
    loaded: int = 0
    comparisons: int = 0
    hits: int = 0

    def count(self, is_kept: bool, parts: int = 1) -> None:
        """Count parts that are read at once, or that are kept in memory."""
        if is_kept:
            self.hits += parts
        else:
            self.loaded += parts

    @property
    def hit_rate(self) -> float:
        """The share of parts that were in memory, 0 when none was needed."""
        return self.hits / max(1, self.hits + self.loaded)


Moved: TypeAlias = Callable[[Keys], tuple[NDArray[np.bool_], Keys]]
"""Returns which keys of a segment remain, and these as they are now."""


def composed_moves(*moves: Moved) -> Moved:
    """Return the function that moves keys by each move in turn; without moves they stay."""

    def moved(keys: Keys) -> tuple[NDArray[np.bool_], Keys]:
        remaining = np.ones(len(keys), np.bool_)
        for move in moves:
            mask, keys = move(keys)
            remaining[np.flatnonzero(remaining)[~mask]] = False
        return remaining, keys

    return moved


class MovedRows:
    """Rows that were at `before` are at `after`; all others of the old fragments are gone.

    `groups` are old fragments and the new ones that have their rows.
    """

    def __init__(
        self, before: Keys, after: Keys, groups: Sequence[tuple[bitmaps.BitMap, bitmaps.BitMap]]
    ) -> None:
        order = np.argsort(before)
        self.before, self._after, self.groups = before[order], after[order], groups
        fragments = bitmaps.BitMap().union(*(old for old, _ in groups))
        self._fragments = np.asarray(fragments.to_array(), np.uint64)

    def __call__(self, keys: Keys) -> tuple[NDArray[np.bool_], Keys]:
        """Return which keys are left, and these as they are now; other fragments keep theirs."""
        moved = np.isin(keys >> SHIFT, self._fragments)
        if not len(self.before):
            return ~moved, keys[~moved]
        at = np.minimum(np.searchsorted(self.before, keys), len(self.before) - 1)
        mask = np.asarray(~moved | (self.before[at] == keys), np.bool_)
        return mask, np.where(moved, self._after[at], keys)[mask]


@dataclass(frozen=True, slots=True)
class Reuse:
    """All versions of a fragment reuse index, the oldest first."""

    steps: tuple[MovedRows, ...] = ()

    @property
    def before(self) -> Keys:
        """The addresses that moved rows had before each version: (rows,)."""
        return np.concatenate([NO_KEYS, *(step.before for step in self.steps)])

    def __call__(self, keys: Keys) -> tuple[NDArray[np.bool_], Keys]:
        """Return which addresses are left, and where these are now."""
        return composed_moves(*self.steps)(keys)

    def covered(self, bitmap: bitmaps.BitMap) -> bitmaps.BitMap:
        """Return the fragments that now hold the rows of those in a bitmap."""
        current = bitmaps.BitMap(bitmap)
        for step in self.steps:
            for old, new in step.groups:
                if old and old <= current:
                    current = (current - old) | new
        return current


@dataclass(frozen=True)
class Segment:
    """One segment: `entry` is its line in the index section, `place` that of the manifest.

    `fragments` are those of the version.
    `highest_fragment` is the highest id that a fragment of the table ever had, None: unknown.
    `moves` maps the addresses in its files to where the rows are now, None: they did not move.
    """

    entry: table_pb2.IndexMetadata
    bases: Bases
    ctx: Context
    place: Place
    stable_row_ids: bool
    fragments: Sequence[Fragment] = ()
    highest_fragment: int | None = None
    moves: Reuse | None = None
    overlaid: frozenset[int] = frozenset()
    uses: Uses = field(default_factory=Uses, repr=False, compare=False)
    _opened: dict[str, IndexFile] = field(default_factory=dict)

    @cached_property
    def uuid(self) -> str:
        """The uuid of the segment in its text form."""
        return str(uuid.UUID(bytes=self.entry.uuid.uuid))

    @property
    def folder(self) -> str:
        """Path of the folder below the base."""
        # L.index.segment.folder
        return f"{INDICES}/{self.uuid}"

    @property
    def store(self) -> Store:
        """The base that the folder lies below."""
        return self.bases.store_of(self.entry.base_id if self.entry.HasField("base_id") else None)

    @cached_property
    def covers(self) -> bitmaps.BitMap:
        """Ids of the fragments it can answer for: those it holds, without newer overlaid values."""
        return self.holds - bitmaps.BitMap(self.overlaid)  # L.table.overlay.index

    @cached_property
    def holds(self) -> bitmaps.BitMap:
        """Ids of the fragments that hold the rows it covers; none when the entry names none."""
        bitmap = covered(self.entry)
        if bitmap is None or self.moves is None:
            return bitmaps.BitMap() if bitmap is None else bitmap
        return self.moves.covered(bitmap)

    @property
    def current(self) -> table_pb2.IndexMetadata:
        """The entry as a new one would be: with the fragments that hold its rows now."""
        if self.moves is None or not self.entry.fragment_bitmap:
            return self.entry
        entry = table_pb2.IndexMetadata()
        entry.CopyFrom(self.entry)
        set_covered(entry, self.holds)
        return entry

    def check_fragments(self, keys: Keys) -> None:
        """Raise OutOfRange for ascending row addresses (n,), one of a fragment that never was."""
        # L.index.segment.keys
        last = int(keys[-1]) >> 32 if len(keys) else 0
        if self.highest_fragment is not None and last > self.highest_fragment:
            found = f"a row of fragment {last} in {self.folder}"
            wanted = f"fragments up to {self.highest_fragment}"
            raise OutOfRange("L.index.rows.fragment", self.place, found, wanted)

    def keys_of(self, sets: Sequence[RowSet]) -> list[Keys]:
        """Return the keys of each set one by one, those of its whole fragments too: (rows,).

        Raises LimitExceeded where few bytes name too many rows.
        """
        named = frozenset[int]().union(*(one.whole for one in sets))
        if not named:
            return [one.keys for one in sets]
        every, keys, total = self._keys_in(named), [], 0
        for one in sets:
            whole = every[np.isin(every >> SHIFT, [*one.whole])]
            keys.append(np.concatenate([one.keys, whole]))
            total += len(whole)
            self._bound(total)
        return keys

    def _keys_in(self, named: Collection[int]) -> Keys:
        """Return the keys of the rows of fragments, where they are now and were before: (rows,)."""
        keys, total = [NO_KEYS if self.moves is None else self.moves.before], 0
        for fragment in self.fragments:
            if fragment.id in named or self.stable_row_ids:
                columns = FragmentReader(fragment, self.bases, self.ctx)
                total += columns.bounded_rows
                self._bound(total)
                offsets = np.arange(columns.bounded_rows)
                if self.stable_row_ids:
                    keys.append(open_lineage(ROW_ID, columns, self.ctx).at(offsets))
                else:
                    keys.append(addresses(fragment.id, offsets))
        return np.concatenate(keys)

    def _bound(self, num_rows: int) -> None:
        """Raise LimitExceeded for more rows of whole fragments than may be listed."""
        limit = self.ctx.limits.expanded(0) // NO_KEYS.itemsize
        if num_rows > limit:
            found = f"{num_rows} rows of whole fragments"
            raise LimitExceeded("L.table.limits.bitmap", self.place, found, f"at most {limit}")

    @property
    def built(self) -> bool:
        """Whether there are files; an index that has only been defined has none."""
        return bool(self.entry.files) or bool(covered(self.entry))

    def then(self, moved: Moved) -> Moved:
        """Return `moved` for the keys in the files: they are first brought to where rows are."""
        return moved if self.moves is None else composed_moves(self.moves, moved)

    def file(self, path: str) -> IndexFile:
        """Return a file of the segment, opened once. Raises FormatError when there is none."""
        if path not in self._opened:
            sizes = {one.path: one.size_bytes for one in self.entry.files}
            source = self.source(path)
            self._opened[path] = IndexFile(source, self.within(path), sizes.get(path))
        return self._opened[path]

    def has(self, path: str) -> bool:
        """Return whether a file is in the folder of the segment."""
        return self.store.exists(f"{self.folder}/{path}")

    def within(self, path: str) -> Context:
        """Return the context for reading one file of the segment."""
        return replace(self.ctx, file=f"{self.folder}/{path}")

    def source(self, path: str) -> Source:
        """Open a file as bytes. Raises FormatError when there is none."""
        try:
            return self.store.open(f"{self.folder}/{path}")
        except NotFound as error:
            raise FormatError("L.index.segment.files", self.place, "no such file", path) from error

    def bytes_of(self, path: str) -> bytes:
        """Return all bytes of a file that is no index file. Raises FormatError."""
        file = FileBytes(self.source(path), self.within(path))
        return bytes(file.whole("file of an index", "L.index.segment.files").data)


class SegmentWriter:
    """Writes the files of a segment; leaving its block by an error removes them.

    `version` is that of the table's data files: index files have the same, but never 0.1. They lie
    in a `folder` below the table's root.
    """

    def __init__(self, store: Store, version: FileVersion, name: uuid.UUID | None = None) -> None:
        self.store, self.version = store, max(version, V2_0)  # L.index.files.version
        self.uuid = name or uuid.uuid4()
        self.folder = f"{INDICES}/{self.uuid}"
        self.files: list[table_pb2.IndexFile] = []

    def write_file(
        self,
        path: str,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        metadata: Mapping[str, str] | None = None,
        buffers: Sequence[bytes] = (),
    ) -> None:
        """Write a file; `buffers` are its global ones from 1 on."""
        file, path = self._begin(path), f"{self.folder}/{path}"
        arguments = (path, schema, self.version, batches, metadata or {}, buffers)
        file.size_bytes = write_index_file(self.store, *arguments)

    def write_columns(
        self,
        path: str,
        columns: Mapping[str, pa.Array],
        metadata: Mapping[str, str] | None = None,
        nullable: Sequence[str] = (),
    ) -> None:
        """Write a file of columns, of which none but the `nullable` ones is ever null."""
        fields = [pa.field(key, one.type, key in nullable) for key, one in columns.items()]
        batch = pa.record_batch(list(columns.values()), schema=pa.schema(fields))
        self.write_file(path, batch.schema, [batch], metadata)

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write a file that is not an index file."""
        self._begin(path).size_bytes = len(data)
        self.store.put(f"{self.folder}/{path}", data)

    def _begin(self, path: str) -> table_pb2.IndexFile:
        self.files.append(table_pb2.IndexFile(path=path))
        return self.files[-1]

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            return
        for file in self.files:
            self.store.delete(f"{self.folder}/{file.path}")
        self.store.prune(self.folder)
