"""Blob descriptors: what a data file holds in place of blobs, and where the bytes lie.

Blobs of the second kind (extension `lance.blob.v2`, from 2.2 on) have a descriptor that can point
out of the data file: into a file that several blobs share, to a file of their own, or to an object
that is not part of the table. Those of the first kind lie in the data file. Rows that are prepared
hold their own description, and only their inline bytes are still to be stored.

Layout of a descriptor, one packed column under the id of the field: u8 kind, u64 position,
u64 size, u32 blob id, utf8 blob uri::

    0 inline      position and size in the data file
    1 packed      position and size in the file of the blob id
    2 dedicated   size from the start of the file of the blob id
    3 external    position and size in the object at the uri, the whole object when both are 0;
                  with a blob id the uri is relative to the base of that id
    4 managed     position and size in the object at the uri, relative to the base of the data file
    5 of a base   the same, relative to the base of the blob id; both nothing when the size is 0

A blob id's file is `data/{name of the data file}/{id}.blob`, the id in 32 binary digits, lowest
first. Layout of a prepared row: u8 kind, large_binary data (inline), utf8 uri, u32 blob_id,
u64 blob_size, u64 position.

Clauses: L.blob.kind, L.blob.range, L.blob.sidecar, L.blob.external, L.blob.managed

Divergences: D.file.blob-v2-descriptor-ids
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from lanceref.core.arrow_buffers import children_of
from lanceref.core.compute import pc
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import DataRefused, FormatError, LimitExceeded, NotFound, UnknownEncoding
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import DESCRIPTOR, DataArea
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_view import from_start, mapped, type_over
from lanceref.storage import Source, Store

_PARTS = {"kind": pa.uint8(), "position": pa.uint64(), "size": pa.uint64()}
_PARTS |= {"blob_id": pa.uint32(), "blob_uri": pa.utf8()}

BLOB_DESCRIPTOR = pa.struct([pa.field(name, type_, False) for name, type_ in _PARTS.items()])
"""What the data file holds, and what a table shows."""

INLINE, PACKED, DEDICATED, EXTERNAL, MANAGED, OF_BASE = range(6)
"""Where a blob lies."""

PREPARED = pa.struct(
    {"kind": pa.uint8(), "data": pa.large_binary(), "uri": pa.utf8(), "blob_id": pa.uint32()}
    | {"blob_size": pa.uint64(), "position": pa.uint64()}
)
"""Rows whose blobs are stored already, all but the inline ones."""

KEPT = pa.struct(
    {"data": pa.large_binary(), "uri": pa.utf8(), "position": pa.uint64(), "size": pa.uint64()}
    | {"kind": pa.uint8(), "blob_id": pa.uint32()}
)
"""Rows of a table to be written again: bytes, or with a kind the descriptor of what stays."""

_FIELDS = tuple(
    replace(part, id=-1, parent_id=-1) for part in schema_of(pa.schema(BLOB_DESCRIPTOR)).fields
)
"""The fields of a descriptor, which have no ids."""


class Descriptor(NamedTuple):
    """The place of one blob: its file, its position and its size."""

    kind: int
    position: int
    size: int
    blob_id: int = 0
    uri: str = ""


Describe = Callable[[pa.Array, Field], Iterable[Descriptor | None]]
"""Stores the rows of a blob field and yields where they lie, None for a null."""


def sidecar_path(data_file: str, number: int) -> str:
    """Return the path of the file of a blob id, beside the data file it belongs to."""
    digits = f"{number:032b}"[::-1]
    return f"{data_file.removesuffix('.lance')}/{digits}.blob"


def is_object_path(uri: str) -> bool:
    """Whether a path below a base consists of names, none of which is empty, `.` or `..`."""
    return {"", ".", ".."}.isdisjoint(uri.split("/"))


def holds_blobs(field: Field) -> bool:
    """Whether a field of the second kind is at or below this one."""
    return any(below.is_blob_v2 for below in field.flat())


def descriptor_field(field: Field) -> Field:
    """Return a blob field as a data file has it."""
    arrow = pa.field(field.name, BLOB_DESCRIPTOR, field.nullable, DESCRIPTOR_METADATA)
    return replace(field, children=_FIELDS, arrow=arrow, metadata=DESCRIPTOR_METADATA)


def described_schema(schema: LanceSchema) -> LanceSchema:
    """Return the schema of a data file: descriptors in place of blobs."""
    return replace(schema, fields=tuple(map(_described_field, schema.fields)))


def _described_field(field: Field) -> Field:
    if field.is_blob_v2:
        return descriptor_field(field)
    if not holds_blobs(field):
        return field
    children = tuple(map(_described_field, field.children))
    type_ = type_over(field.arrow.type, [child.arrow for child in children])
    return replace(field, children=children, arrow=field.arrow.with_type(type_))


def described(batch: pa.RecordBatch, schema: LanceSchema, describe: Describe) -> pa.RecordBatch:
    """Return a batch with descriptors in place of blobs. Raises DataRefused for what is none."""
    arrays, fields = [], []
    for field in schema.fields:
        index = batch.schema.get_field_index(field.name)
        if index >= 0:  # a missing one is found by the file writer
            arrays.append(_described(batch.column(index), field, describe))
            fields.append(_over(batch.schema.field(index), field, arrays[-1]))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _described(array: pa.Array, field: Field, describe: Describe) -> pa.Array:
    if not holds_blobs(field):
        return array
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if field.is_blob_v2:
        return _array(list(describe(from_start(array), field)))
    if pa.types.is_struct(array.type):  # below null structs null, so that nothing is stored
        parts, fields = array.flatten(), list(array.type)
        array = pa.StructArray.from_arrays(parts, fields=fields, mask=array.is_null())
    else:
        array = from_start(array)
    pairs = zip(children_of(array), field.children, strict=True)
    below = [_described(child, own, describe) for child, own in pairs]
    given = [array.type.field(number) for number in range(len(below))]
    fields = list(map(_over, given, field.children, below))
    return mapped(array, type_over(array.type, fields), lambda number, _: below[number])


def _over(given: pa.Field, field: Field, array: pa.Array) -> pa.Field:
    return descriptor_field(field).arrow if field.is_blob_v2 else given.with_type(array.type)


def _array(rows: list[Descriptor | None]) -> pa.Array:
    nothing, fields = Descriptor(INLINE, 0, 0), list(BLOB_DESCRIPTOR)
    columns = zip(*[row or nothing for row in rows], strict=True) if rows else [()] * len(fields)
    children = [pa.array(list(one), field.type) for one, field in zip(columns, fields, strict=True)]
    missing = pa.array(np.array([row is None for row in rows], bool))
    return pa.StructArray.from_arrays(children, fields=fields, mask=missing)


def prepared(array: pa.Array, field: Field, data: DataArea) -> Iterator[Descriptor | None]:
    """Store the inline bytes of prepared rows; yield where each blob lies.

    Raises DataRefused for rows that are not prepared, and for kinds a file cannot hold.
    """
    if array.type != PREPARED:
        raise DataRefused("Blob v2 encoder expected prepared array layout, got logical layout")
    names = ("kind", "blob_size", "position", "blob_id", "uri")
    for number, row in enumerate(array):
        if not row.is_valid:
            yield None
            continue
        kind, size, position, blob_id, uri = (row[name].as_py() for name in names)
        if kind == INLINE:
            bytes_ = row["data"].as_buffer() or b""
            yield Descriptor(INLINE, data.write(bytes_).offset, len(bytes_))
        elif kind in (PACKED, DEDICATED, EXTERNAL, MANAGED, OF_BASE):
            yield Descriptor(kind, position or 0, size or 0, blob_id or 0, uri or "")
        else:
            raise DataRefused(f"blob field '{field.name}' row {number}: kind {kind}")


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

    def store_of(self, base_id: int | None) -> Store:
        """Return the store of a base, or of the table. Raises FormatError for an unknown one."""

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

    def kept(self, descriptors: pa.Array) -> pa.Array:
        """Return the blobs as `KEPT`: objects outside of the data files stay where they are.

        Those below the base of the data file are then of that base. Raises FormatError.
        """
        kind, base = descriptors.field("kind"), self._base_id
        stays = pc.is_in(kind, pa.array([EXTERNAL, MANAGED, OF_BASE], kind.type))
        stays = pc.and_(stays, descriptors.is_valid())
        moves = pc.and_(pc.equal(kind, MANAGED), base is not None)
        parts = {name: descriptors.field(name) for name in ("blob_uri", "position", "size")}
        parts["kind"] = pc.if_else(moves, pa.scalar(OF_BASE, pa.uint8()), kind)
        number = pa.scalar(base, pa.uint32())
        parts["blob_id"] = pc.if_else(moves, number, descriptors.field("blob_id"))
        data = self.fetch(pc.if_else(stays, pa.scalar(None, descriptors.type), descriptors))
        columns = [data, *(pc.if_else(stays, part, None) for part in parts.values())]
        return pa.StructArray.from_arrays(columns, fields=list(KEPT), mask=descriptors.is_null())

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
                return places.store_of(number).open(uri) if number else places.open_uri(uri)
            if not is_object_path(uri):
                raise NotFound("no relative path below the table")
            return places.store_of(base if kind == MANAGED else number).open(uri)
        except (NotFound, ValueError, OSError) as error:
            if kind != EXTERNAL and isinstance(error, FormatError):
                raise  # the base is unknown
            found = f"{error}" if kind == EXTERNAL else "no such object below the base"
            raise FormatError(clause, place, found, f"the object {uri!r:.200}") from error


DESCRIPTOR_METADATA = {"lance-encoding:blob": "true", "lance-encoding:packed": "true"}
"""Metadata of the descriptors of such blobs in a data file, and of the column a table shows."""
