"""Blobs: what blob columns are written from, and blobs as files (face of `lance.blob`)."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

import pyarrow as pa
from lanceref.blobs.descriptors import BlobRange
from lanceref.core.integers import unsigned
from lanceref.file.schema import BLOB_EXTENSION

BUFFER_BYTES = 512 * 1024
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
        """Return a blob whose bytes are given here."""
        return Blob(data=bytes(data))

    @staticmethod
    def from_uri(uri: str, position: int | None = None, size: int | None = None) -> Blob:
        """Return a blob that lies elsewhere, or a range of it. Raises ValueError."""
        return Blob(uri=uri, position=position, size=size)

    @staticmethod
    def empty() -> Blob:
        """Return a blob that is not null and has no bytes."""
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
        rows: list[dict[str, object] | None] = []
        for value in values:
            one = Blob(uri=value) if isinstance(value, str) else value
            if isinstance(value, bytes | bytearray | memoryview):
                one = Blob(data=bytes(value))
            if not isinstance(one, Blob | None):
                told = "BlobArray values must be bytes, str, Blob or None"
                raise TypeError(f"{told}; got {type(value)}")
            rows.append(None if one is None else vars(one))
        array: BlobArray = pa.ExtensionArray.from_storage(BlobType(), pa.array(rows, STORAGE))
        return array


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
        if value >= 1 << 64:
            raise OverflowError(f"{shown} must fit in a Rust usize: an unsigned 64-bit integer")
        metadata[f"lance-encoding:blob-{what}"] = str(value)
    return pa.field(name, BlobType(), nullable, metadata or None)


class _Range(io.RawIOBase):
    """The bytes of one blob as a file without a buffer."""

    def __init__(self, inner: BlobRange) -> None:
        self.inner, self._at = inner, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.inner.size}[whence]
        if start + offset < 0:
            raise ValueError(f"negative seek value {start + offset}")
        self._at = start + offset
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._next(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self._next(self.inner.size)

    def _next(self, size: int) -> bytes:
        """Return up to `size` bytes from the position on, which moves to their end."""
        data = self.inner.read(self._at, max(self._at, min(self._at + size, self.inner.size)))
        self._at += len(data)
        return data


class BlobFile(io.BufferedReader):
    """One blob as a file that is read; BUFFER_BYTES are fetched ahead."""

    def __init__(self, inner: BlobRange) -> None:
        super().__init__(_Range(inner), BUFFER_BYTES)
        self._inner = inner

    def size(self) -> int:
        """Return the size of the blob in bytes."""
        return self._inner.size

    def read_range(self, offset: int, length: int) -> bytes:
        """Read a range of the blob; the position stays. Raises ValueError outside of it."""
        if self.closed:
            raise ValueError("read of closed file")
        if (end := unsigned(offset) + unsigned(length)) > self.size():
            found = f"Blob range end {end} exceeds blob size {self.size()}"
            raise ValueError(found if end < 1 << 64 else "offset + length overflowed")
        return self._inner.read(offset, offset + length)

    def readall(self) -> bytes:
        """Read from the position to the end. Raises ValueError for a closed file."""
        return self.read()

    def __repr__(self) -> str:
        return f"<BlobFile size={self.size()}>"


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


with suppress(pa.ArrowKeyError):  # another module of this process may have the name already
    pa.register_extension_type(BlobType())
