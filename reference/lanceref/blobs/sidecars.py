"""Sidecars that are written before their rows, and the prepared rows that point into them.

A writer stores blobs in the sidecar of a blob id, beside a data file that is still to be written,
and returns where each lies. An array builder makes the rows of a blob column from these. The names
are those of pylance. See `descriptors` for the layouts.

Clauses: L.blob.range, L.blob.sidecar
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from lanceref.blobs import descriptors
from lanceref.blobs.descriptors import DEDICATED, INLINE, MANAGED, OF_BASE, PACKED, Descriptor
from lanceref.core.errors import DataRefused
from lanceref.core.integers import unsigned
from lanceref.file.schema import BLOB_EXTENSION, EXTENSION_KEY
from lanceref.storage import Store, is_local, whole
from lanceref.storage.uri import joined, parse_uri


def _payload(data: object) -> bytes:
    """Return bytes, given as such or by their values. Raises TypeError, OverflowError."""
    if isinstance(data, bytes | bytearray | memoryview | pa.Buffer):
        return bytes(data)
    if isinstance(data, str) or not isinstance(data, Sequence | np.ndarray):
        raise TypeError(f"a blob is bytes or a sequence of their values, got {type(data)}")
    return bytes([unsigned(value, 8) for value in data])


def _stored(kind: int, position: int, size: int, blob_id: int, uri: str = "") -> Descriptor:
    """Return where a blob lies. Raises OverflowError, DataRefused."""
    if not unsigned(blob_id, 32) and not uri:
        raise DataRefused("Blob id 0 is reserved")
    if unsigned(position) + unsigned(size) >= 1 << 64:
        raise DataRefused(f"Blob range overflows u64: offset={position}, size={size}")
    return Descriptor(kind, position, size, blob_id, uri)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlobDescriptor:
    """Where a writer has stored one blob; a null is stored nowhere."""

    _place: Descriptor | None

    def __repr__(self) -> str:
        if self._place is None:
            return "Null"
        kind, position, size, blob_id, _ = self._place
        if kind == PACKED:
            return f"Packed {{ blob_id: {blob_id}, offset: {position}, size: {size} }}"
        return f"Dedicated {{ blob_id: {blob_id}, size: {size} }}"


class _Unfinished:
    """Something that is used until it is finished."""

    _finished = False

    def _use(self, *, last: bool = False) -> None:
        """Raise DataRefused once it is finished, which the last use does."""
        if self._finished:
            raise DataRefused(f"{type(self).__name__} is already finished")
        self._finished = last


class BlobDescriptorArrayBuilder(_Unfinished):
    """Builds the prepared rows of a column whose blobs are stored already, or are inline.

    Every method raises DataRefused once the array is finished.
    """

    def __init__(self, column: str) -> None:
        metadata = {EXTENSION_KEY: BLOB_EXTENSION}
        self.field = pa.field(column, descriptors.PREPARED, metadata=metadata)
        self._rows: list[Descriptor | bytes | None] = []

    def _extend(self, rows: Iterable[Descriptor | bytes | None]) -> None:
        self._use()
        self._rows += rows

    def append(self, value: BlobDescriptor) -> None:
        """Append a blob of a writer. Raises TypeError."""
        self.extend([value])

    def extend(self, values: Iterable[BlobDescriptor]) -> None:
        """Append blobs of a writer. Raises TypeError, and then appends none."""
        given = list(values)
        if not all(isinstance(one, BlobDescriptor) for one in given):
            raise TypeError("values must be BlobDescriptor objects only")
        self._extend(one._place for one in given)

    def append_null(self) -> None:
        """Append a null, which has no bytes anywhere."""
        self._extend([None])

    def append_inline(self, data: object) -> None:
        """Append bytes that the data file is to hold. Raises TypeError, OverflowError."""
        self._extend([_payload(data)])

    def extend_packed(self, blob_id: int, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Append ranges of a shared sidecar, in bytes. Raises OverflowError, DataRefused."""
        ranges = zip(map(int, offsets), map(int, sizes), strict=True)
        self._extend([_stored(PACKED, *one, blob_id) for one in ranges])

    def append_dedicated(self, blob_id: int, size: int) -> None:
        """Append the blob of a sidecar of its own. Raises OverflowError, DataRefused."""
        self._extend([_stored(DEDICATED, 0, size, blob_id)])

    def append_managed(
        self, uri: str, offset: int, size: int, *, base_id: int | None = None
    ) -> None:
        """Append a range of an object below the base of the table, or below another base.

        Raises OverflowError, and DataRefused for what is not the path of an object.
        """
        if not descriptors.is_object_path(uri) or any(c < " " or c in "\\\x7f" for c in uri):
            raise DataRefused(f"Managed blob_uri must be the path of an object, got {uri!r}")
        kind = MANAGED if base_id is None else OF_BASE
        self._extend([_stored(kind, offset, size, base_id or 0, uri)])

    def finish(self) -> pa.StructArray:
        """Return the prepared rows as an array (n,) of structs `PREPARED`."""
        self._use(last=True)
        return pa.array(list(map(_prepared_row, self._rows)), descriptors.PREPARED)


def _prepared_row(row: Descriptor | bytes | None) -> dict[str, object] | None:
    """Return a prepared row by its members: where a blob lies, or the bytes of an inline one."""
    if row is None:
        return None
    if isinstance(row, bytes):
        return {"kind": INLINE, "data": row}
    made: dict[str, object] = {"kind": row.kind, "uri": row.uri or None, "blob_size": row.size}
    made["blob_id"] = None if row.kind == MANAGED else row.blob_id
    made["position"] = None if row.kind == DEDICATED else row.position
    return made


class _SidecarWriter(_Unfinished):
    """Writes the sidecar of a blob id, which is there once it is finished.

    Raises DataRefused for what is no data file and for blob id 0. Every method, and the members
    too, raise DataRefused once the sidecar is finished.
    """

    def __init__(self, store: Store, data_file: str, blob_id: int) -> None:
        if not data_file.endswith(".lance"):
            raise DataRefused(f"Data file path {data_file!r} must end with '.lance'")
        self._id = _stored(DEDICATED, 0, 0, blob_id).blob_id
        path = descriptors.sidecar_path(data_file, blob_id)
        uri = joined(store.root, path)
        self._path = uri.lstrip("/") if is_local(uri) else parse_uri(uri).path
        self._sink = store.create(path)
        weakref.finalize(self, self._sink.abort)  # what nobody finishes leaves nothing

    @property
    def blob_id(self) -> int:
        """The id of the sidecar."""
        self._use()
        return self._id

    @property
    def path(self) -> str:
        """The path of the sidecar from the root of its store."""
        self._use()
        return self._path

    def _close(self) -> None:
        self._use(last=True)
        with whole(self._sink):
            pass


class DedicatedBlobWriter(_SidecarWriter):
    """Writes the sidecar of a single blob."""

    def write(self, data: object) -> None:
        """Write more bytes of the blob. Raises TypeError, OverflowError."""
        self._use()
        self._sink.write(_payload(data))

    def finish(self) -> BlobDescriptor:
        """Finish the sidecar and return where the blob lies."""
        self._close()
        return BlobDescriptor(_stored(DEDICATED, 0, self._sink.position, self._id))


class PackedBlobWriter(_SidecarWriter):
    """Writes a sidecar that several blobs share."""

    def __init__(self, store: Store, data_file: str, blob_id: int) -> None:
        super().__init__(store, data_file, blob_id)
        self._rows: list[BlobDescriptor] = []
        self._field: pa.Field | None = None

    @property
    def field(self) -> pa.Field:
        """The field of the array that `finish_array` returned. Raises DataRefused before."""
        if self._field is None:
            raise DataRefused("PackedBlobWriter field is available after finish_array")
        return self._field

    def _append(self, data: bytes | pa.Buffer | None) -> None:
        self._use()
        place = None
        if data is not None:
            place = _stored(PACKED, self._sink.position, len(data), self._id)
            self._sink.write(memoryview(data))
        self._rows.append(BlobDescriptor(place))

    def write_blob(self, data: object) -> None:
        """Append the bytes of a blob. Raises TypeError, OverflowError."""
        self._append(_payload(data))

    def write_blobs(self, payloads: pa.Array | pa.ChunkedArray) -> None:
        """Append a blob for each value of a binary array (n,). Raises DataRefused, writes none."""
        if not isinstance(payloads, pa.Array | pa.ChunkedArray):
            raise DataRefused(f"payloads must be an array of a Binary type, got {type(payloads)}")
        if "binary" not in f"{payloads.type}".partition("<")[0].partition("[")[0]:
            raise DataRefused(f"Packed blob payloads must have a Binary type, got {payloads.type}")
        parts = {"array": payloads}
        if isinstance(payloads, pa.ChunkedArray):
            parts = {f"chunk {number}": one for number, one in enumerate(payloads.chunks)}
        for name, part in parts.items():
            try:
                part.validate(full=True)
            except pa.ArrowInvalid as error:
                found = f"contains invalid Arrow data: {error}"
                raise DataRefused(f"Packed blob payload {name} {found}") from error
        for value in chain.from_iterable(parts.values()):
            self._append(value.as_buffer())

    def finish(self) -> list[BlobDescriptor]:
        """Finish the sidecar and return where each blob lies."""
        self._close()
        return self._rows

    def finish_array(self, field_name: str) -> pa.StructArray:
        """Finish the sidecar and return the rows of a column, whose field is `field`."""
        self._close()
        builder = BlobDescriptorArrayBuilder(field_name)
        builder.extend(self._rows)
        self._field = builder.field
        return builder.finish()
