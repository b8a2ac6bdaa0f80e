"""Blobs: values that are opened like files, and rows that say where blobs lie (face).

Has the names of pylance's `lance.blob`: what blob columns are written from, the files that
`take_blobs` returns, and the builder of prepared rows, for blobs that are stored before their rows.

Layout of a prepared row: see `descriptors`.

Clauses: L.blob.kind, L.blob.sidecar
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from operator import index
from typing import IO

import pyarrow as pa
from lanceref.blobs.blob_reader import BlobRange
from lanceref.core.errors import DataRefused
from lanceref.core.integers import unsigned
from lanceref.core.logical_types import EXTENSION_KEY
from lanceref.data_file.descriptors import DEDICATED, INLINE, MANAGED, OF_BASE, PACKED, PREPARED
from lanceref.file.schema import BLOB_EXTENSION

DEFAULT_BLOB_BUFFER_SIZE = 512 * 1024
"""Bytes that sequential reading fetches ahead."""

STORAGE = pa.struct(
    {"data": pa.large_binary(), "uri": pa.utf8(), "position": pa.uint64(), "size": pa.uint64()}
)
"""What a blob is written from: bytes, or a URI with an optional range."""


@dataclass(frozen=True)
class Blob:
    """One value of a blob column: bytes, or a URI and an optional range of it."""

    data: bytes | None = None
    uri: str | None = None
    position: int | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        if (self.data is None) == (self.uri is None):
            raise ValueError("Blob must set exactly one of `data` and `uri`")
        if self.uri == "":
            raise ValueError("Blob uri cannot be empty")
        if (self.position is None) != (self.size is None):
            raise ValueError("External blob must set both position and size, or neither")
        if self.position is not None and self.uri is None:
            raise ValueError("External packed blob must have a uri")
        if self.size == 0:
            raise ValueError("External blob range size must be greater than zero")

    @staticmethod
    def from_bytes(data: bytes | bytearray | memoryview) -> Blob:
        """Return a blob whose content is these bytes."""
        return Blob(data=bytes(data))

    @staticmethod
    def from_uri(uri: str, position: int | None = None, size: int | None = None) -> Blob:
        """Return a blob that lies at a URI, whole or a range of it. Raises ValueError."""
        if (position is not None and position < 0) or (size is not None and size < 0):
            raise ValueError("External blob position and size must be non-negative")
        return Blob(uri=uri, position=position, size=size)

    @staticmethod
    def empty() -> Blob:
        """Return a blob without bytes, which is not null."""
        return Blob(data=b"")


class BlobType(pa.ExtensionType):  # type: ignore[misc]
    """The Arrow extension type of columns of blobs."""

    def __init__(self, storage: pa.DataType = STORAGE) -> None:
        super().__init__(storage, BLOB_EXTENSION)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> BlobType:
        if storage not in (STORAGE, pa.struct(list(STORAGE)[:2])):
            raise TypeError(f"a blob cannot be stored as {storage}")
        return cls(storage)

    def __arrow_ext_class__(self) -> type[BlobArray]:
        return BlobArray


class BlobArray(pa.ExtensionArray):  # type: ignore[misc]
    """The Arrow array of a column of blobs."""

    @classmethod
    def from_pylist(cls, values: Sequence[object]) -> BlobArray:
        """Build an array of bytes, URIs, `Blob`s and None. Raises TypeError for anything else."""
        rows = [None if value is None else _row(value) for value in values]
        array: BlobArray = pa.ExtensionArray.from_storage(BlobType(), pa.array(rows, STORAGE))
        return array


def _row(value: object) -> dict[str, object]:
    if isinstance(value, str):
        value = Blob(uri=value)
    elif isinstance(value, bytes | bytearray | memoryview):
        value = Blob(data=bytes(value))
    if not isinstance(value, Blob):
        raise TypeError(f"BlobArray values must be bytes, str, Blob or None; got {type(value)}")
    return vars(value)


def blob_array(values: Sequence[object]) -> BlobArray:
    """Build an array of bytes, URIs, `Blob`s and None. Raises TypeError for anything else."""
    return BlobArray.from_pylist(values)


def blob_field(
    name: str,
    *,
    nullable: bool = True,
    inline_size_threshold: int | None = None,
    dedicated_size_threshold: int | None = None,
    pack_file_size_threshold: int | None = None,
) -> pa.Field:
    """Return the field of a blob column, with thresholds in bytes. Raises TypeError, ValueError."""
    metadata = {}
    for what, value, least in (
        ("inline-size-threshold", inline_size_threshold, 0),
        ("dedicated-size-threshold", dedicated_size_threshold, 1),
        ("pack-file-size-threshold", pack_file_size_threshold, 1),
    ):
        if value is None:
            continue
        shown = what.replace("-", "_")
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{shown} must be an int, got {type(value).__name__}")
        if value < least:
            raise ValueError(f"{shown} must be {'positive' if least else 'non-negative'}")
        metadata[f"lance-encoding:blob-{what}"] = str(unsigned(value))
    return pa.field(name, BlobType(), nullable, metadata or None)


class BlobFile(io.RawIOBase):
    """One blob as a file that is read."""

    def __init__(self, inner: BlobRange, buffer_size: int = DEFAULT_BLOB_BUFFER_SIZE) -> None:
        self._inner, self._at = inner, 0
        self._ahead_from, self._ahead = 0, b""
        self._buffer_size = checked_buffer_size(buffer_size)

    def size(self) -> int:
        """Return the size of the blob in bytes."""
        return self._inner.size

    def readable(self) -> bool:
        """Whether the blob can be read, as for files: always true."""
        return True

    def seekable(self) -> bool:
        """Whether the blob can be positioned, as for files: always true."""
        return True

    def tell(self) -> int:
        """Return the position of the next byte."""
        self._check_open()
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position from the start, from here or from the end. Raises ValueError."""
        self._check_open()
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"Invalid whence: {whence}")
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size()}[whence]
        if start + offset < 0:
            raise ValueError(f"negative seek value {start + offset}")
        self._at = start + index(offset)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Read up to `size` bytes, all that are left when it is negative."""
        self._check_open()
        left = max(0, self.size() - self._at)
        wanted = left if size is None or size < 0 else min(size, left)
        data = self._fetch(wanted)
        self._at += len(data)
        return data

    def readinto(self, b: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read into a buffer and return how many bytes. Raises TypeError."""
        view = memoryview(b).cast("B")
        if view.readonly:
            raise TypeError(f"readinto() needs a read-write buffer, not {type(b).__name__}")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read_range(self, offset: int, length: int) -> bytes:
        """Read a range of the blob; the position stays. Raises ValueError outside of it."""
        self._check_open()
        if unsigned(offset) + unsigned(length) > self.size():
            raise ValueError(f"Blob range end {offset + length} exceeds blob size {self.size()}")
        return self._inner.read(offset, offset + length)

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Read several (offset, length) ranges. Raises ValueError."""
        self._check_open()
        for number, (offset, length) in enumerate(ranges):
            if unsigned(offset) + unsigned(length) >= 1 << 64:
                raise ValueError(f"Blob range request {number}: {offset} + {length} overflowed u64")
        return [self.read_range(offset, length) for offset, length in ranges]

    def __repr__(self) -> str:
        return f"<BlobFile size={self.size()}>"

    def _check_open(self) -> None:
        if self.closed:
            raise ValueError("read of closed file")

    def _fetch(self, wanted: int) -> bytes:
        """Return the next bytes, out of what was read ahead where that holds them."""
        start = self._at - self._ahead_from
        if not 0 <= start <= start + wanted <= len(self._ahead):
            end = min(self.size(), self._at + max(wanted, self._buffer_size))
            if wanted >= self._buffer_size:
                return self._inner.read(self._at, self._at + wanted)
            self._ahead_from, self._ahead = self._at, self._inner.read(self._at, end)
            start = 0
        return self._ahead[start : start + wanted]


def checked_buffer_size(buffer_size: int) -> int:
    """Return a size in bytes. Raises TypeError and ValueError."""
    if isinstance(buffer_size, bool) or not isinstance(buffer_size, int):
        raise TypeError(f"buffer_size must be an int, got {type(buffer_size).__name__}")
    if buffer_size < 0:
        raise ValueError("buffer_size must be non-negative")
    return buffer_size


class BlobColumn:
    """A binary column whose values are opened as files one after the other."""

    def __init__(self, blob_column: pa.Array | pa.ChunkedArray) -> None:
        if not isinstance(blob_column, pa.Array | pa.ChunkedArray):
            raise ValueError(f"Expected a pyarrow array, got {type(blob_column)}")
        if not (pa.types.is_large_binary(blob_column.type) or pa.types.is_binary(blob_column.type)):
            raise ValueError(f"Expected a binary array, got {blob_column.type}")
        self.blob_column = blob_column

    def __iter__(self) -> Iterator[IO[bytes] | None]:
        for value in self.blob_column:
            yield io.BytesIO(value.as_py()) if value.is_valid else None


Payload = bytes | bytearray | memoryview | Sequence[int]
"""The bytes of one blob."""


@dataclass(frozen=True, slots=True)
class BlobDescriptor:
    """The prepared row of one blob, which tells where it lies; without a kind it is null."""

    kind: int | None
    blob_id: int | None = None
    position: int | None = None
    blob_size: int | None = None
    data: bytes | None = None
    uri: str | None = None


class BlobDescriptorArrayBuilder:
    """Collects the rows of one field of blobs. Raises ValueError once it is finished."""

    def __init__(self, column: str) -> None:
        self.field = pa.field(column, PREPARED, metadata={EXTENSION_KEY: BLOB_EXTENSION})
        self._rows: list[BlobDescriptor] | None = []

    def append(self, value: BlobDescriptor) -> None:
        """Add one row by its descriptor or content. Raises TypeError."""
        if not isinstance(value, BlobDescriptor):
            raise TypeError(f"{type(value).__name__!r} is not an instance of 'BlobDescriptor'")
        self._unfinished().append(value)

    def _unfinished(self) -> list[BlobDescriptor]:
        if self._rows is None:
            raise DataRefused("BlobDescriptorArrayBuilder is already finished")
        return self._rows

    def extend(self, values: Iterable[BlobDescriptor]) -> None:
        """Add one row for each value. Raises TypeError."""
        for value in values:
            self.append(value)

    def append_null(self) -> None:
        """Add one row whose blob is null."""
        self.append(BlobDescriptor(None))

    def append_inline(self, data: Payload) -> None:
        """Add a blob whose bytes go into the data file. Raises TypeError, OverflowError."""
        self.append(BlobDescriptor(INLINE, data=_bytes(data)))

    def append_dedicated(self, blob_id: int, size: int) -> None:
        """Add a blob that is a whole file. Raises DataRefused."""
        self.append(BlobDescriptor(DEDICATED, _number(blob_id), None, size))

    def append_managed(
        self, uri: str, offset: int, size: int, *, base_id: int | None = None
    ) -> None:
        """Add a blob that lies in an object of the table. Raises DataRefused, OverflowError."""
        if not {"", ".", ".."}.isdisjoint(uri.split("/")):
            raise DataRefused(f"Managed blob_uri must be a canonical relative path, got {uri!r}")
        if unsigned(offset) + unsigned(size) >= 1 << 64:
            raise DataRefused(f"Managed blob range overflows u64: position={offset}, size={size}")
        kind = MANAGED if base_id is None else OF_BASE
        self.append(BlobDescriptor(kind, base_id, offset, size, uri=uri))

    def extend_packed(self, blob_id: int, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        """Add blobs that share a file. Raises DataRefused."""
        number = _number(blob_id)
        if len(offsets) != len(sizes):
            raise DataRefused(f"{len(offsets)} offsets and {len(sizes)} sizes: not the same length")
        for position, size in zip(offsets, sizes, strict=True):
            self.append(BlobDescriptor(PACKED, number, position, size))

    def finish(self) -> pa.StructArray:
        """Return all rows added so far as an array. Raises DataRefused."""
        rows, self._rows = self._unfinished(), None
        return pa.array([None if one.kind is None else asdict(one) for one in rows], PREPARED)


def _bytes(data: Payload) -> bytes:
    """Return the bytes of a blob. Raises TypeError, OverflowError."""
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    if isinstance(data, str) or not isinstance(data, Sequence):
        raise TypeError(f"{type(data).__name__!r} object is not an instance of 'Sequence'")
    try:
        return bytes(data)
    except ValueError as error:
        raise OverflowError(f"{error}") from error


def _number(blob_id: int) -> int:
    """Return a blob id. Raises DataRefused, OverflowError."""
    if unsigned(blob_id) >= 1 << 32:
        raise OverflowError(f"{blob_id} is no unsigned 32-bit integer")
    if blob_id == 0:
        raise DataRefused("Blob id 0 is reserved")
    return blob_id


with suppress(pa.ArrowKeyError):  # another module of this process may have the name already
    pa.register_extension_type(BlobType())
