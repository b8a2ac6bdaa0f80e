"""Hostile pages: the metadata of a data file rewritten, page after page, message by message."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from lanceref.proto import encodings_v2_0_pb2, encodings_v2_1_pb2, file2_pb2, file_pb2

from lance_conformance.campaigns.damage.whole.bombs import MOST_PAGES
from lance_conformance.campaigns.damage.whole.fields import change, edited, size_of, unknown_fields

_FOOTER = struct.Struct("<QQQIIHH4s")
_ENTRY = struct.Struct("<QQ")


@dataclass(slots=True)
class DataFile:
    """The columns of a 2.x file, and what comes before them."""

    pages: bytes
    columns: list[file2_pb2.ColumnMetadata]
    buffers: list[tuple[int, int]]
    words: tuple[int, int]
    spare: bytes = b""

    @classmethod
    def load(cls, path: Path) -> DataFile:
        """Read an undamaged file."""
        data = path.read_bytes()
        start, columns_at, buffers_at, num_buffers, num_columns, *words, _ = _FOOTER.unpack(
            data[-_FOOTER.size :]
        )
        buffers = [_ENTRY.unpack_from(data, buffers_at + 16 * n) for n in range(num_buffers)]
        places = [_ENTRY.unpack_from(data, columns_at + 16 * n) for n in range(num_columns)]
        columns = [file2_pb2.ColumnMetadata.FromString(data[at : at + size]) for at, size in places]
        return cls(data[:start], columns, buffers, (words[0], words[1]))

    def declare(self, rows: int) -> None:
        """Write a schema buffer that promises so many rows."""
        at, size = self.buffers[0]
        descriptor = file_pb2.FileDescriptor.FromString(self.pages[at : at + size])
        descriptor.length = rows
        data = descriptor.SerializeToString()
        self.pages += bytes(-len(self.pages) % 64)
        self.buffers[0] = len(self.pages), len(data)
        self.pages += data

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        out, places = bytearray(self.pages), []
        for column in self.columns:
            data = column.SerializeToString() + self.spare
            places.append((len(out), len(data)))
            out += data
        columns_at = len(out)
        out += b"".join(_ENTRY.pack(*place) for place in places)
        buffers_at = len(out)
        out += b"".join(_ENTRY.pack(*place) for place in self.buffers)
        counts = len(self.buffers), len(self.columns)
        starts = len(self.pages), columns_at, buffers_at
        return bytes(out) + _FOOTER.pack(*starts, *counts, *self.words, b"LANC")


def repeated_pages(root: Path, rng: Random) -> str:
    """Name a page of a data file again and again, in one column or in all."""
    path = _data_file(root, rng)
    file = DataFile.load(path)
    count = size_of(rng, 2, MOST_PAGES)
    chosen = file.columns if rng.random() < 0.7 else [rng.choice(file.columns)]
    rows = sum(page.length for page in file.columns[0].pages)
    for column in chosen:
        if column.pages:
            column.pages.extend([column.pages[0]] * (count - 1))
    for column in file.columns:
        rows = max(rows, sum(page.length for page in column.pages))
        priority = 0
        for page in column.pages:
            page.priority, priority = priority, priority + page.length
    file.declare(rows)
    _put(root, path, file.encode(), rows)
    return f"{count} in {len(chosen)} of {len(file.columns)} columns"


def changed_columns(root: Path, rng: Random) -> str:
    """Change up to three fields of what a file says of its columns."""
    with _edited(root, rng) as file:
        column = rng.choice(file.columns)
        return "; ".join(change(column, rng) for _ in range(rng.randint(1, 3)))


def changed_encoding(root: Path, rng: Random) -> str:
    """Change up to two fields of how a page is encoded."""
    with _edited(root, rng) as file:
        column = rng.choice([one for one in file.columns if one.pages])
        for page in column.pages:
            boxed = AnyMessage.FromString(page.encoding.direct.encoding)
            message = (
                encodings_v2_1_pb2.PageLayout()
                if boxed.type_url.endswith("PageLayout")
                else encodings_v2_0_pb2.ArrayEncoding()
            )
            message.ParseFromString(boxed.value)
            told = [change(message, rng) for _ in range(rng.randint(1, 2))]
            boxed.value = message.SerializeToString()
            page.encoding.direct.encoding = boxed.SerializeToString()
        return "; ".join(told)


def unknown_in_columns(root: Path, rng: Random) -> str:
    """Append fields that nobody knows to every column's message."""
    with _edited(root, rng) as file:
        count = size_of(rng, 10, 50_000)
        file.spare = unknown_fields(rng, count)
        return str(count)


def changed_index_file(root: Path, rng: Random) -> str:
    """Change a column, or how its pages are encoded, of a file of an index."""
    path = rng.choice(sorted(root.glob("_indices/*/*")))
    file = DataFile.load(path)
    if not file.columns:
        return "no column"
    told = change(rng.choice(file.columns), rng)
    path.write_bytes(file.encode())
    return f"{path.name} {told}"


def changed_schema(root: Path, rng: Random) -> str:
    """Change up to two fields of the schema that a data file, or a file of an index, holds."""
    path = rng.choice([_data_file(root, rng), *sorted(root.glob("_indices/*/*"))])
    file = DataFile.load(path)
    at, size = file.buffers[0]
    try:
        descriptor = file_pb2.FileDescriptor.FromString(file.pages[at : at + size])
    except DecodeError:
        return "no schema"
    told = [change(descriptor, rng) for _ in range(rng.randint(1, 2))]
    data = descriptor.SerializeToString()
    file.buffers[0] = len(file.pages), len(data)
    file.pages += data
    _put(root, path, file.encode())
    return "; ".join(told)


def _data_file(root: Path, rng: Random) -> Path:
    """Return a data file of the latest version."""
    with edited(root) as file:
        names = [one.path for fragment in file.message.fragments for one in fragment.files]
    return root / "data" / rng.choice(names)


@contextmanager
def _edited(root: Path, rng: Random) -> Iterator[DataFile]:
    """Change a data file of the latest version."""
    path = _data_file(root, rng)
    file = DataFile.load(path)
    yield file
    _put(root, path, file.encode())


def _put(root: Path, path: Path, data: bytes, rows: int | None = None) -> None:
    """Write a data file; the manifest knows its size, and `rows` where there are others."""
    path.write_bytes(data)
    with edited(root) as manifest:
        for fragment in manifest.message.fragments:
            for one in fragment.files:
                if one.path == path.name:
                    one.file_size_bytes = len(data)
                    fragment.physical_rows = rows or fragment.physical_rows
