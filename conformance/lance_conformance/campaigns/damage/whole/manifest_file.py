"""Manifest file: taken apart, changed and put together again, whatever it then says."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanceref.proto import table_pb2, transaction_pb2

_FOOTER = struct.Struct("<QHH4s")
_LENGTH = struct.Struct("<I")


@dataclass(slots=True)
class ManifestFile:
    """The messages of a manifest file; `spare` is bytes appended to the manifest's own."""

    message: table_pb2.Manifest
    transaction: transaction_pb2.Transaction
    indices: table_pb2.IndexSection
    spare: bytes = b""
    spare_of_transaction: bytes = b""
    spare_of_indices: bytes = b""

    @classmethod
    def load(cls, path: Path) -> ManifestFile:
        """Read an undamaged file."""
        data = path.read_bytes()
        position = _FOOTER.unpack_from(data, len(data) - _FOOTER.size)[0]
        message = table_pb2.Manifest.FromString(_section(data, position))
        transaction, indices = transaction_pb2.Transaction(), table_pb2.IndexSection()
        if message.HasField("transaction_section"):
            transaction.ParseFromString(_section(data, message.transaction_section))
        if message.HasField("index_section"):
            indices.ParseFromString(_section(data, message.index_section))
        return cls(message, transaction, indices)

    def encode(self) -> bytes:
        """Return the bytes of the file; sections are where the manifest says."""
        out = bytearray()
        had_indices = self.message.HasField("index_section")
        if had_indices or self.indices.indices:
            self.message.index_section = len(out)
            _append(out, self.indices.SerializeToString() + self.spare_of_indices)
        self.message.transaction_section = len(out)
        _append(out, self.transaction.SerializeToString() + self.spare_of_transaction)
        position = len(out)
        _append(out, self.message.SerializeToString() + self.spare)
        return bytes(out) + _FOOTER.pack(position, 0, 2, b"LANC")


def _section(data: bytes, position: int) -> bytes:
    size = _LENGTH.unpack_from(data, position)[0]
    return data[position + 4 : position + 4 + size]


def _append(out: bytearray, data: bytes) -> None:
    out += _LENGTH.pack(len(data)) + data


def latest(root: Path) -> Path:
    """Return the manifest file of the latest version of a table."""
    found = [path for path in (root / "_versions").glob("*.manifest") if path.stem.isdigit()]
    newest_first = any(len(path.stem) == 20 for path in found)
    return (min if newest_first else max)(found, key=lambda path: int(path.stem))


@contextmanager
def edited(root: Path) -> Iterator[ManifestFile]:
    """Change the latest manifest of a table."""
    path = latest(root)
    file = ManifestFile.load(path)
    yield file
    path.write_bytes(file.encode())
