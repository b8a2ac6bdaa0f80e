"""Index segments: the entries of the index section, and the files of each.

Several entries of one name are segments of one logical index; each covers fragments of its own. The
files of a segment lie in a folder named by its uuid, below the table or one of its bases. They are
opened when something is asked of them and stay open with the version.

Clauses: L.index.segment.folder, L.index.segment.files, L.index.segment.keys, L.index.rows.fragment

Layout: `_indices/{uuid}/{path}`, the uuid in lower case with hyphens.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import FormatError, NotFound, OutOfRange, Place
from lanceref.index.cache_statistics import Uses
from lanceref.index.index_file import IndexFile
from lanceref.index.row_set import Keys
from lanceref.proto import table_pb2
from lanceref.storage import Source
from lanceref.table.bases import Bases
from lanceref.transactions.index_entries import covered, set_covered

Moved: TypeAlias = Callable[[Keys], tuple[NDArray[np.bool_], Keys]]
"""Says of the keys of a segment which are left, and returns these as they are now."""


class Moves(Protocol):
    """Where rows went that have moved since a segment was written."""

    def __call__(self, keys: Keys) -> tuple[NDArray[np.bool_], Keys]:
        """Return which addresses are left, and where these are now."""

    def covered(self, bitmap: BitMap) -> BitMap:
        """Return the fragments that hold the rows of those in a bitmap now."""


FOLDER = "_indices"
"""Where indices lie below a table's root."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment: `entry` is its line in the index section, `place` that of the manifest.

    `highest_fragment` is the highest id that a fragment of the table ever had, None: nobody says.
    `moves` says where the rows went whose addresses are in its files, None: nowhere.
    """

    entry: table_pb2.IndexMetadata
    bases: Bases
    ctx: Context
    place: Place
    stable_row_ids: bool
    highest_fragment: int | None = None
    moves: Moves | None = None
    overlaid: frozenset[int] = frozenset()
    uses: Uses = field(default_factory=Uses, repr=False, compare=False)
    _opened: dict[str, IndexFile] = field(default_factory=dict)
    _held: list[BitMap] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def uuid(self) -> str:
        """The uuid as text."""
        return str(uuid.UUID(bytes=self.entry.uuid.uuid))

    @property
    def folder(self) -> str:
        """Path of the folder below the base."""
        return f"{FOLDER}/{self.uuid}"

    @property
    def root(self) -> str:
        """Path or URI of the base that the folder lies below."""
        base = self.entry.base_id if self.entry.HasField("base_id") else None
        return self.bases.store_of(base).root

    @property
    def covers(self) -> BitMap:
        """Ids of the fragments it tells of: those it holds, without newer values in overlays."""
        return self.holds - BitMap(self.overlaid)  # L.table.overlay.index

    @property
    def holds(self) -> BitMap:
        """Ids of the fragments that hold the rows it covers; none when it does not say."""
        if not self._held:
            self._held.append(self._parse_fragments())
        return self._held[0]

    def _parse_fragments(self) -> BitMap:
        bitmap = covered(self.entry)
        if bitmap is None or self.moves is None:
            return BitMap() if bitmap is None else bitmap
        return self.moves.covered(bitmap)

    @property
    def current(self) -> table_pb2.IndexMetadata:
        """The entry as a new one would be: with the fragments that hold its rows now."""
        if self.moves is None or not self.entry.fragment_bitmap:
            return self.entry
        found = table_pb2.IndexMetadata()
        found.CopyFrom(self.entry)
        set_covered(found, self.holds)
        return found

    def check_fragments(self, keys: Keys) -> None:
        """Raise OutOfRange for an ascending row address of a fragment that never was."""
        if self.highest_fragment is None or not len(keys):
            return
        last = int(keys[-1]) >> 32
        if last > self.highest_fragment:
            raise OutOfRange(
                "L.index.rows.fragment",
                self.place,
                found=f"a row of fragment {last} in {self.folder}",
                wanted=f"fragments up to {self.highest_fragment}",
            )

    @property
    def built(self) -> bool:
        """Whether there are files; an index that has only been defined has none."""
        return bool(self.entry.files) or bool(covered(self.entry))

    def then(self, moved: Moved) -> Moved:
        """Return `moved` for the keys in the files: they are first brought to where rows are."""
        if self.moves is None:
            return moved
        moves = self.moves

        def both(keys: Keys) -> tuple[NDArray[np.bool_], Keys]:
            kept, current = moves(keys)
            left, after = moved(current)
            kept[np.flatnonzero(kept)[~left]] = False
            return kept, after

        return both

    def file(self, path: str) -> IndexFile:
        """Return a file of the segment, opened once. Raises FormatError when there is none."""
        if path not in self._opened:
            sizes = {one.path: one.size_bytes for one in self.entry.files}
            source = self.source(path)
            self._opened[path] = IndexFile(source, self.within(path), sizes.get(path))
        return self._opened[path]

    def has(self, path: str) -> bool:
        """Return whether a file is in the folder of the segment."""
        base = self.entry.base_id if self.entry.HasField("base_id") else None
        return self.bases.store_of(base).exists(f"{self.folder}/{path}")

    def within(self, path: str) -> Context:
        """Return the context of a file."""
        return replace(self.ctx, file=f"{self.folder}/{path}")

    def source(self, path: str) -> Source:
        """Open a file as bytes. Raises FormatError when there is none."""
        base = self.entry.base_id if self.entry.HasField("base_id") else None
        try:
            return self.bases.store_of(base).open(f"{self.folder}/{path}")
        except NotFound as error:
            raise FormatError(
                "L.index.segment.files", self.place, found="no such file", wanted=path
            ) from error

    def bytes_of(self, path: str) -> bytes:
        """Return all bytes of a file that is no index file. Raises FormatError."""
        file = FileBytes(self.source(path), self.within(path))
        return bytes(file.whole("file of an index", "L.index.segment.files").data)
