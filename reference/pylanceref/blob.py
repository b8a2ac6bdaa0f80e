"""Blobs: what blob columns are written from, and blobs as files (face of `lance.blob`)."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TypeAlias

import numpy as np
import pyarrow as pa
from lanceref.blobs.descriptors import BlobRange
from lanceref.core.errors import ColumnNotFound, NotFound, RowDeleted
from lanceref.core.integers import unique_inverse, unsigned
from lanceref.file.schema import BLOB_EXTENSION, Field
from lanceref.file.schema_view import from_start, project
from lanceref.index.row_set import Keys
from lanceref.search.row_locator import DELETED, Places, RowLocator
from lanceref.search.snapshot import Snapshot, positions_of
from lanceref.table.fragments import addresses
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows

Rows: TypeAlias = Sequence[int] | pa.Array | None
"""Row ids, row addresses or positions."""

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
        metadata[f"lance-encoding:blob-{what}"] = str(unsigned(value))
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
        if unsigned(offset) + unsigned(length) > self.size():
            raise ValueError(f"Blob range end {offset + length} exceeds blob size {self.size()}")
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


def locate_blobs(
    snapshot: Snapshot, column: str, ids: Rows, addresses: Rows, indices: Rows
) -> list[tuple[int, BlobRange | None]]:
    """Return the address of each chosen row and its blob, None for a null.

    Raises ValueError unless exactly one way of choosing is given and for a column that holds no
    blobs, NotFound for an unknown row or column, RowDeleted where all unknown rows are deleted.
    """
    given = [rows for rows in (ids, addresses, indices) if rows is not None]
    if len(given) != 1:
        raise ValueError("Exactly one of ids, indices, or addresses must be specified")
    try:
        (field,) = project(snapshot.schema(BlobHandling.DESCRIPTIONS), [column])
    except NotFound as error:
        raise ColumnNotFound(f"{error}") from error
    leaf = field
    while len(leaf.children) == 1:
        (leaf,) = leaf.children
    if not (leaf.is_blob or leaf.is_blob_v2) or not pa.types.is_struct(leaf.arrow.type):
        raise ValueError(f"the column {column!r} is not a blob column")
    rows = given[0] if isinstance(given[0], pa.Array) else [unsigned(row) for row in given[0]]
    keys = np.asarray(rows, np.uint64)
    if indices is not None:
        positions = positions_of(keys, snapshot.fragments.num_rows)
    else:
        by_address = ids is None or not snapshot.stable_row_ids
        positions = RowLocator(snapshot.fragments, by_address=by_address)(keys)
        _check_known(positions, keys, by_address=by_address)
    unique, back = unique_inverse(positions)
    parts = snapshot.fragments.split(unique)
    blobs = [blob for rows, chosen in parts for blob in _read(rows, field, chosen).items()]
    return [blobs[at] for at in back.tolist()]


def _check_known(positions: Places, keys: Keys, *, by_address: bool) -> None:
    """Raise NotFound, or RowDeleted where all missing rows are known to be deleted."""
    missing = positions < 0
    if not missing.any():
        return
    if by_address and (positions[missing] == DELETED).all():
        raise RowDeleted(
            "A take operation that includes row addresses must not target deleted rows: "
            f"{missing.sum()} of {len(keys)} are"
        )
    raise NotFound(f"no row {int(keys[missing].min())}")


def _read(fragment: FragmentRows, field: Field, positions: Places) -> dict[int, BlobRange | None]:
    """Return the blobs of ascending rows of one fragment, by the addresses of these."""
    (array,) = fragment.take(positions, (field,), ())
    below = field
    while below.children:
        (below,), array = below.children, from_start(array).flatten()[0]
    offsets = fragment.offsets(positions)
    files = fragment.columns.blob_files(field, offsets)
    keys = addresses(fragment.fragment.id, offsets).tolist()
    located: dict[int, BlobRange | None] = dict.fromkeys(keys)
    for own in dict.fromkeys(files):
        rows = [row for row, file in enumerate(files) if file is own]
        for row, blob in zip(rows, own.locate(array.take(pa.array(rows))), strict=True):
            located[keys[row]] = blob
    return located
