"""Prepared blobs: blobs that are stored before the rows that hold them.

A writer that makes data files by hand puts the bytes of blobs into files beside them first, and
then writes rows that say where the bytes lie.

Layout of a file beside a data file: the bytes of the blobs, one behind the other. Layout of a
prepared row: see `descriptors`.

Clauses: L.blob.kind, L.blob.sidecar
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from lanceref.core.errors import DataRefused
from lanceref.data_file.descriptors import (
    DEDICATED,
    INLINE,
    MANAGED,
    OF_BASE,
    PACKED,
    PREPARED,
    sidecar_path,
)
from lanceref.storage import Sink, Store, whole

EXTENSION = {"ARROW:extension:name": "lance.blob.v2"}
"""Metadata of a field of blobs."""

Payload = bytes | bytearray | memoryview | Sequence[int]
"""The bytes of one blob."""


@dataclass(frozen=True, slots=True, repr=False)
class BlobDescriptor:
    """Where one blob lies; without a kind it is null."""

    kind: int | None
    blob_id: int | None = None
    position: int | None = None
    size: int | None = None
    data: bytes | None = None
    uri: str | None = None

    def row(self) -> dict[str, object] | None:
        """Return the prepared row."""
        if self.kind is None:
            return None
        return {
            "kind": self.kind,
            "data": self.data,
            "uri": self.uri,
            "blob_id": self.blob_id,
            "blob_size": self.size,
            "position": self.position,
        }

    def __repr__(self) -> str:
        if self.kind == PACKED:
            return (
                f"Packed {{ blob_id: {self.blob_id}, offset: {self.position}, size: {self.size} }}"
            )
        if self.kind == DEDICATED:
            return f"Dedicated {{ blob_id: {self.blob_id}, size: {self.size} }}"
        if self.kind in (MANAGED, OF_BASE):
            return f"Managed {{ uri: {self.uri!r}, size: {self.size} }}"
        return "Null" if self.kind is None else f"Inline {{ size: {len(self.data or b'')} }}"


class BlobDescriptorArrayBuilder:
    """Collects the rows of one field of blobs. Raises ValueError once it is finished."""

    def __init__(self, column: str) -> None:
        self.field = blob_field_of(column)
        self._rows: list[BlobDescriptor] | None = []

    def append(self, value: BlobDescriptor) -> None:
        """Add a row. Raises TypeError."""
        if not isinstance(value, BlobDescriptor):
            kind = type(value).__name__
            raise TypeError(f"{kind!r} object is not an instance of 'BlobDescriptor'")
        self._held().append(value)

    def extend(self, values: Iterable[BlobDescriptor]) -> None:
        """Add rows. Raises TypeError."""
        for value in values:
            self.append(value)

    def append_null(self) -> None:
        """Add a null."""
        self._held().append(BlobDescriptor(None))

    def append_inline(self, data: Payload) -> None:
        """Add a blob whose bytes go into the data file. Raises TypeError, OverflowError."""
        self._held().append(BlobDescriptor(INLINE, data=_bytes(data)))

    def append_dedicated(self, blob_id: int, size: int) -> None:
        """Add a blob that is a whole file. Raises DataRefused."""
        self._held().append(BlobDescriptor(DEDICATED, _number(blob_id), None, size))

    def append_managed(
        self, uri: str, offset: int, size: int, *, base_id: int | None = None
    ) -> None:
        """Add a blob that lies in an object of the table. Raises DataRefused, OverflowError."""
        if not {"", ".", ".."}.isdisjoint(uri.split("/")):
            raise DataRefused(
                f"Managed blob_uri must be a non-empty canonical relative object path, got {uri!r}"
            )
        start, length = operator.index(offset), operator.index(size)
        if start < 0 or length < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if start + length >= 1 << 64:
            raise DataRefused(f"Managed blob range overflows u64: position={start}, size={length}")
        kind = MANAGED if base_id is None else OF_BASE
        self._held().append(BlobDescriptor(kind, base_id, start, length, uri=uri))

    def extend_packed(self, blob_id: int, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Add blobs that share a file. Raises DataRefused."""
        number = _number(blob_id)
        if len(offsets) != len(sizes):
            raise DataRefused(
                f"offsets and sizes must have the same length, got {len(offsets)} and {len(sizes)}"
            )
        for position, size in zip(offsets, sizes, strict=True):
            self._held().append(BlobDescriptor(PACKED, number, position, size))

    def finish(self) -> pa.StructArray:
        """Return the rows."""
        rows, self._rows = self._held(), None
        return pa.array([one.row() for one in rows], PREPARED)

    def _held(self) -> list[BlobDescriptor]:
        if self._rows is None:
            raise DataRefused("BlobDescriptorArrayBuilder is already finished")
        return self._rows


class _BlobFileWriter:
    """Writes one file of blobs beside a data file. Raises ValueError once it is finished."""

    def __init__(self, store: Store, data_file: str, blob_id: int) -> None:
        self.blob_id = _number(blob_id)
        if not data_file.endswith(".lance"):
            raise DataRefused(f"Data file path '{data_file}' must end with '.lance'")
        path = sidecar_path(data_file, self.blob_id)
        self.path = f"{store.root.strip('/')}/{path}"
        self._sink: Sink | None = store.create(path)

    def _open(self) -> Sink:
        if self._sink is None:
            raise DataRefused(f"{type(self).__name__} is already finished")
        return self._sink

    def _close(self) -> int:
        """Make the file visible and return its size."""
        sink = self._open()
        self._sink = None
        with whole(sink):
            return sink.position


class DedicatedBlobWriter(_BlobFileWriter):
    """Writes a file of one blob."""

    def write(self, data: Payload) -> None:
        """Write the next bytes of the blob. Raises TypeError, OverflowError."""
        self._open().write(_bytes(data))

    def finish(self) -> BlobDescriptor:
        """Make the file visible and return where the blob lies."""
        return BlobDescriptor(DEDICATED, self.blob_id, None, self._close())


class PackedBlobWriter(_BlobFileWriter):
    """Writes a file of many blobs."""

    def __init__(self, store: Store, data_file: str, blob_id: int) -> None:
        super().__init__(store, data_file, blob_id)
        self._rows: list[BlobDescriptor] = []
        self._field: pa.Field | None = None

    @property
    def field(self) -> pa.Field:
        """The field of the rows. Raises DataRefused before `finish_array`."""
        if self._field is None:
            raise DataRefused("PackedBlobWriter field is available after finish_array")
        return self._field

    def write_blob(self, data: Payload) -> None:
        """Write a blob. Raises TypeError, OverflowError."""
        self._put(self._open(), _bytes(data))

    def write_blobs(self, payloads: pa.Array | pa.ChunkedArray) -> None:
        """Write the values of a binary array; a null is no blob. Raises DataRefused."""
        sink = self._open()
        if not isinstance(payloads, pa.Array | pa.ChunkedArray):
            raise DataRefused(
                "payloads must be a pyarrow BinaryArray, LargeBinaryArray, or ChunkedArray, got "
                f"{type(payloads).__name__}"
            )
        is_whole = isinstance(payloads, pa.Array)
        chunks = [payloads] if is_whole else payloads.chunks
        for number, chunk in enumerate(chunks):
            _check("array" if is_whole else f"chunk {number}", chunk)
        for chunk in chunks:
            for value in chunk:
                if value.is_valid:
                    self._put(sink, bytes(value.as_buffer()))
                else:
                    self._rows.append(BlobDescriptor(None))

    def finish(self) -> list[BlobDescriptor]:
        """Make the file visible and return where the blobs lie."""
        self._close()
        return self._rows

    def finish_array(self, field_name: str) -> pa.StructArray:
        """Make the file visible and return the rows of a field."""
        builder = BlobDescriptorArrayBuilder(field_name)
        builder.extend(self.finish())
        self._field = builder.field
        return builder.finish()

    def _put(self, sink: Sink, data: bytes) -> None:
        self._rows.append(BlobDescriptor(PACKED, self.blob_id, sink.position, len(data)))
        sink.write(data)


def blob_field_of(name: str) -> pa.Field:
    """Return a field of prepared rows."""
    return pa.field(name, PREPARED, metadata=EXTENSION)


def _check(what: str, payloads: pa.Array) -> None:
    """Raise DataRefused for an array that is not of bytes or is broken."""
    type_, types = payloads.type, pa.types
    is_bytes = types.is_binary(type_) or types.is_large_binary(type_) or types.is_binary_view(type_)
    if not is_bytes and not types.is_fixed_size_binary(type_):
        raise DataRefused(f"Packed blob payload {what} must have a Binary Arrow type, got {type_}")
    try:
        payloads.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataRefused(f"Packed blob payload {what} has invalid Arrow data: {error}") from error


def _bytes(data: Payload) -> bytes:
    """Return the bytes of a blob. Raises TypeError, OverflowError."""
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if isinstance(data, str) or not isinstance(data, Sequence):
        raise TypeError(f"{type(data).__name__!r} object is not an instance of 'Sequence'")
    if any(not 0 <= operator.index(one) < 256 for one in data):
        raise OverflowError("out of range integral type conversion attempted")
    return bytes(data)


def _number(blob_id: int) -> int:
    """Return a blob id. Raises DataRefused, OverflowError."""
    if not 0 <= operator.index(blob_id) < 1 << 32:
        raise OverflowError("out of range integral type conversion attempted")
    if blob_id == 0:
        raise DataRefused("Blob id 0 is reserved")
    return blob_id
