"""Index segments: the entries of the index section, and the files of each.

Several entries of one name are segments of one logical index; each covers fragments of its own. The
files of a segment lie in a folder named by its uuid, below the table or one of its bases. They are
opened when something is asked of them and stay open with the version.

Clauses: L.index.segment.folder, L.index.segment.files, L.index.segment.keys

Layout: `_indices/{uuid}/{path}`, the uuid in lower case with hyphens.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace

from pyroaring import BitMap

from lanceref.context import Context
from lanceref.errors import FormatError, NotFound, Place
from lanceref.index.index_file import IndexFile
from lanceref.proto import table_pb2
from lanceref.table.bases import Bases
from lanceref.txn.index_entries import covered

FOLDER = "_indices"
"""Where indices lie below a table's root."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment: `entry` is its line in the index section, `place` that of the manifest."""

    entry: table_pb2.IndexMetadata
    bases: Bases
    ctx: Context
    place: Place
    stable_row_ids: bool
    _opened: dict[str, IndexFile] = field(default_factory=dict)

    @property
    def uuid(self) -> str:
        """The uuid as text."""
        return str(uuid.UUID(bytes=self.entry.uuid.uuid))

    @property
    def folder(self) -> str:
        """Path of the folder below the base."""
        return f"{FOLDER}/{self.uuid}"

    @property
    def covers(self) -> BitMap:
        """Ids of the fragments that the entry says it covers; none when it does not say."""
        bitmap = covered(self.entry)
        return BitMap() if bitmap is None else bitmap

    def file(self, path: str) -> IndexFile:
        """Return a file of the segment, opened once. Raises FormatError when there is none."""
        if path not in self._opened:
            sizes = {one.path: one.size_bytes for one in self.entry.files}
            base = self.entry.base_id if self.entry.HasField("base_id") else None
            try:
                source = self.bases.store_of(base).open(f"{self.folder}/{path}")
            except NotFound as error:
                raise FormatError(
                    "L.index.segment.files", self.place, found="no such file", wanted=path
                ) from error
            ctx = replace(self.ctx, file=f"{self.folder}/{path}")
            self._opened[path] = IndexFile(source, ctx, sizes.get(path))
        return self._opened[path]

    def bytes_of(self, path: str) -> bytes:
        """Return all bytes of a file that is no index file. Raises FormatError."""
        base = self.entry.base_id if self.entry.HasField("base_id") else None
        try:
            source = self.bases.store_of(base).open(f"{self.folder}/{path}")
        except NotFound as error:
            raise FormatError(
                "L.index.segment.files", self.place, found="no such file", wanted=path
            ) from error
        return bytes(source.read(0, source.size))
