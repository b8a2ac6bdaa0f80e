"""Stored files: those of any kind below the folder of a session (face)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanceref.blobs.sidecars import DedicatedBlobWriter, PackedBlobWriter
from lanceref.core.errors import NotFound, StoreFailed
from lanceref.core.integers import unsigned
from lanceref.storage import LocalStore, Source, Store, open_store, store_options
from lanceref.storage.protocol import COPY_BYTES, copy_object

from pylanceref.errors import PathMissing

AnyPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class ListResult:
    """The folders and the files directly below a folder."""

    common_prefixes: Sequence[str]
    objects: Sequence[str]


class StoredFiles:
    """The files below a folder, which no path leaves: that raises OSError."""

    def __init__(self, base_path: AnyPath, storage_options: dict[str, str] | None = None) -> None:
        self._base, self._options = os.fspath(base_path), storage_options
        self._store = open_store(self._base, store_options(storage_options))

    def _below(self, path: str) -> str:
        """Return the path of a file below the folder. Raises OSError for one outside."""
        parts = [part for part in os.fspath(path).split("/") if part not in ("", ".")]
        if ".." in parts:
            raise OSError(f"{path!r} is outside of the session")
        return "/".join(parts)

    def open_packed_blob_writer(self, path: str, blob_id: int) -> PackedBlobWriter:
        """Begin a sidecar of a data file for several blobs. Raises OverflowError, ValueError."""
        return PackedBlobWriter(self._store, self._below(path), blob_id)

    def open_dedicated_blob_writer(self, path: str, blob_id: int) -> DedicatedBlobWriter:
        """Begin a sidecar of a data file for one blob. Raises OverflowError, ValueError."""
        return DedicatedBlobWriter(self._store, self._below(path), blob_id)

    def contains(self, path: str) -> bool:
        """Whether there is a file at a path."""
        return self._store.exists(self._below(path))

    def list(self, path: str | None = None) -> Sequence[str]:
        """Return the paths of the files below a folder at any depth."""
        return [entry.path for entry in self._store.walk(self._below(path or ""))]

    def list_with_delimiter(self, path: str | None = None) -> ListResult:
        """Return the folders that hold files, and the files, directly below a folder."""
        start = f"{self._below(path or '')}/".removeprefix("/")
        below = [one.removeprefix(start).partition("/") for one in self.list(path)]
        folders = sorted({start + name for name, mark, _ in below if mark})
        return ListResult(folders, [start + name for name, mark, _ in below if not mark])

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return bytes of a file. Raises OSError where it does not have them all."""
        end, source = unsigned(offset) + unsigned(length), _existing(self._store, self._below(path))
        if length and end > source.size:
            raise StoreFailed(f"{path} has {source.size} bytes, but {end} are asked for")
        return bytes(source.read(offset, length)) if length else b""

    def delete_file(self, path: str) -> None:
        """Delete a file. Raises OSError where there is none."""
        _existing(self._store, self._below(path))
        self._store.delete(self._below(path))

    def upload_file(self, local_path: AnyPath, remote_path: str) -> None:
        """Copy a local file to a path below the folder. Raises OSError."""
        copy_object(_existing(LocalStore(local_path), ""), self._store, self._below(remote_path))

    def download_file(self, remote_path: str, local_path: AnyPath) -> None:
        """Copy a file below the folder to a local path. Raises OSError."""
        source = _existing(self._store, self._below(remote_path))
        with Path(local_path).open("wb") as file:
            for start in range(0, source.size, COPY_BYTES):
                file.write(source.read(start, COPY_BYTES))


def _existing(store: Store, path: str) -> Source:
    """Open a file. Raises PathMissing."""
    try:
        return store.open(path)
    except NotFound as error:
        raise PathMissing(f"{error}") from error
