"""Blob descriptors of tables: where the bytes of a blob column lie.

Blobs of the second kind (extension `lance.blob.v2`, from 2.2 on) have a descriptor that can point
out of the data file: into a file that several blobs share, to a file of their own, or to an object
that is not part of the table. Those of the first kind lie in the data file.

Layout of a descriptor: u8 kind, u64 position, u64 size, u32 blob id, utf8 blob uri::

    0 inline      position and size in the data file
    1 packed      position and size in the file of the blob id
    2 dedicated   size from the start of the file of the blob id
    3 external    position and size in the object at the uri, the whole object when both are 0;
                  with a blob id the uri is relative to the base of that id
    4 managed     position and size in the object at the uri, relative to the base of the data file
    5 of a base   the same, relative to the base of the blob id; both nothing when the size is 0

A blob id's file is `data/{name of the data file}/{id}.blob`, the id in 32 binary digits, lowest
first.

Clauses: L.blob.kind, L.blob.range, L.blob.sidecar, L.blob.external,
L.blob.managed
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import FormatError, LimitExceeded, NotFound, UnknownEncoding
from lanceref.data_file.descriptors import (
    DEDICATED,
    EXTERNAL,
    INLINE,
    MANAGED,
    OF_BASE,
    PACKED,
    sidecar_path,
)
from lanceref.file.column_io import DESCRIPTOR
from lanceref.storage import Source

NULL_POSITION = 1
"""Position of a null in a 2.0 file, whose descriptors cannot be null."""


@dataclass(frozen=True, slots=True)
class BlobRange:
    """The byte range of one blob in an opened object."""

    source: Source
    offset: int
    size: int

    def read(self, start: int, end: int) -> bytes:
        """Return bytes `start` to `end`, counted from the start of the blob."""
        return bytes(self.source.read(self.offset + start, end - start)) if end > start else b""


class Places(Protocol):
    """Where the objects of a table lie: its own folder, its bases, and any other URI."""

    def open_data_file(self, path: str, base_id: int | None) -> Source:
        """Open a file of the data folder. Raises FormatError where there is none."""

    def open_relative(self, path: str, base_id: int | None) -> Source:
        """Open an object by its path below a base. Raises NotFound."""

    def open_uri(self, uri: str) -> Source:
        """Open the object at a URI of any store. Raises NotFound."""


class BlobFiles:
    """The files that the descriptors of one data file point into, each opened once.

    `sizes` takes the bytes of each, by its path.
    """

    def __init__(
        self, places: Places, path: str, base_id: int | None, ctx: Context, sizes: dict[str, int]
    ) -> None:
        """Take the path of the data file, and the base it lies in (None: the table)."""
        self._places, self._path, self._base_id = places, path, base_id
        self._ctx, self._sizes = ctx, sizes
        self._place = ctx.at(0)
        self._opened: dict[tuple[int, int, str], Source] = {}

    def locate(self, descriptors: pa.Array) -> Iterator[BlobRange | None]:
        """Yield where each blob lies, None for a null. Raises FormatError."""
        for row in descriptors.to_pylist():
            if row is None or (
                descriptors.type == DESCRIPTOR
                and (row["position"], row["size"]) == (NULL_POSITION, 0)
            ):
                yield None
            elif row.get("kind") in (MANAGED, OF_BASE) and not row["size"]:
                yield self._range(self._source(INLINE, 0, ""), INLINE, 0, 0)
            else:
                kind, number = row.get("kind", INLINE), row.get("blob_id", 0)
                source = self._source(kind, number, row.get("blob_uri", ""))
                yield self._range(source, kind, row["position"], row["size"])

    def fetch(self, descriptors: pa.Array) -> pa.Array:
        """Return the blobs as large_binary. Raises LimitExceeded."""
        ranges = list(self.locate(descriptors))
        size = sum(one.size for one in ranges if one is not None)
        held = {id(one.source): one.source.size for one in ranges if one is not None}
        allowed = self._ctx.limits.expanded(sum(held.values()))
        if size > allowed:
            raise LimitExceeded("L.blob.range", self._place, f"{size} bytes of blobs", allowed)
        blobs = [None if one is None else one.read(0, one.size) for one in ranges]
        return pa.array(blobs, pa.large_binary())

    def _range(self, source: Source, kind: int, position: int, size: int) -> BlobRange:
        if kind == DEDICATED:
            position = 0
        elif kind == EXTERNAL and position == size == 0:
            size = source.size
        if size:
            FileBytes(source, self._ctx).bound(Extent(position, size), "blob", "L.blob.range")
        return BlobRange(source, position, size)

    def _source(self, kind: int, number: int, uri: str) -> Source:
        key = (kind, number, uri)
        if key not in self._opened:
            source = self._opened[key] = self._open(kind, number, uri)
            self._sizes[source.path] = source.size
        return self._opened[key]

    def _open(self, kind: int, number: int, uri: str) -> Source:
        """Open what descriptors of a kind point into. Raises FormatError, UnknownEncoding."""
        places, base, place = self._places, self._base_id, self._place
        if kind == INLINE:
            return places.open_data_file(self._path, base)
        if kind in (PACKED, DEDICATED):
            path = sidecar_path(self._path, number)
            try:
                return places.open_data_file(path, base)
            except FormatError as error:
                raise FormatError("L.blob.sidecar", place, "no such file", path) from error
        if kind not in (EXTERNAL, MANAGED, OF_BASE):
            raise UnknownEncoding("L.blob.kind", place, f"blob kind {kind}", "0 to 5")
        clause = "L.blob.external" if kind == EXTERNAL else "L.blob.managed"
        try:
            if kind == EXTERNAL:
                return places.open_relative(uri, number) if number else places.open_uri(uri)
            if not {"", ".", ".."}.isdisjoint(uri.split("/")):
                raise NotFound("no relative path below the table")
            return places.open_relative(uri, base if kind == MANAGED else number)
        except (NotFound, ValueError, OSError) as error:
            if kind != EXTERNAL and isinstance(error, FormatError):
                raise  # the base is unknown
            raise FormatError(clause, place, f"{error}", f"the object {uri!r:.200}") from error
