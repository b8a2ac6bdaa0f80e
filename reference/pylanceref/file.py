"""Files: readers and writers of single files of 2.0 to 2.3, and sessions over a folder (face).

Has the names of pylance's `lance.file`. Paths of a session are relative to its folder and stay
inside it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from lanceref.core.errors import NotFound
from lanceref.core.file_versions import stable_version
from lanceref.core.integers import unsigned
from lanceref.storage import LocalSource, LocalStore, Source, is_local, open_store, store_options
from lanceref.storage.protocol import copy_object
from lanceref.storage.uri import joined

from pylanceref.lance_file import (
    LanceFileMetadata,
    LanceFileReader,
    LanceFileStatistics,
    LanceFileWriter,
    ReaderResults,
    WriterOptions,
)
from pylanceref.late_names import listing
from pylanceref.signatures import parameters

__all__ = ["LanceFileMetadata", "LanceFileReader", "LanceFileSession", "LanceFileStatistics"]
__all__ += ["LanceFileWriter", "ListResult", "ReaderResults", "stable_version"]

__dir__ = listing(__all__)


@dataclass
class ListResult:
    """What lies directly below a folder: folders and files, relative to the session's folder."""

    common_prefixes: list[str]
    objects: list[str]


class LanceFileSession:
    """Opens files below a folder; a missing file is an OSError, for a reader a ValueError."""

    def __init__(
        self, base_path: str | os.PathLike[str], storage_options: dict[str, str] | None = None
    ) -> None:
        self._local = is_local(base_path)
        self._options = storage_options
        self._store = open_store(base_path, store_options(storage_options))

    def _at(self, path: str | None) -> str:
        """Return a path below the folder. Raises OSError for one that leaves it."""
        parts = [part for part in (path or "").split("/") if part]
        if ".." in parts:
            raise OSError(f"{path!r} is outside of the session")
        return "/".join(parts)

    def _uri(self, path: str) -> str:
        return joined(self._store.root, self._at(path))

    def open_reader(self, path: str, columns: Sequence[str] | None = None) -> LanceFileReader:
        """Open a file of the session's store for reading."""
        return LanceFileReader(self._uri(path), self._options, columns)

    @parameters("self path * schema data_cache_bytes version keep_original_array max_page_bytes")
    def open_writer(self, path: str, **options: Unpack[WriterOptions]) -> LanceFileWriter:
        """Begin a file; arguments as of `LanceFileWriter`."""
        return LanceFileWriter(self._uri(path), storage_options=self._options, **options)

    def contains(self, path: str) -> bool:
        """Whether a file exists at a path."""
        return self._store.exists(self._at(path))

    def list(self, path: str | None = None) -> list[str]:
        """Return all files below a path, in any order."""
        return [entry.path for entry in self._store.walk(self._at(path))]

    def list_with_delimiter(self, path: str | None = None) -> ListResult:
        """Return what lies directly below a path; nothing where there is none."""
        folder = self._at(path)
        depth = len(folder) + 1 if folder else 0
        folders, files = set(), []
        for found in self.list(folder):
            first, mark, _ = found[depth:].partition("/")
            if mark:
                folders.add(found[:depth] + first)
            else:
                files.append(found)
        return ListResult(sorted(folders), sorted(files))

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Read a range of a file. Raises OSError where a local one has less of it."""
        unsigned(offset), unsigned(length)
        data = bytes(self._open(path).read(offset, length))
        if self._local and len(data) < length:
            raise OSError(f"{path}: failed to fill whole buffer")
        return data

    def _open(self, path: str) -> Source:
        try:
            return self._store.open(self._at(path))
        except NotFound as error:
            raise FileNotFoundError(str(error)) from error

    def delete_file(self, path: str) -> None:
        """Remove a file; one that is missing is an OSError, but in an object store."""
        if self._local:
            self._open(path).close()
        self._store.delete(self._at(path))

    def upload_file(self, local_path: str | os.PathLike[str], remote_path: str) -> None:
        """Copy a file into the session's folder. Raises FileNotFoundError."""
        if not Path(local_path).is_file():
            raise FileNotFoundError(f"{local_path}: no such file")
        copy_object(LocalSource(os.fspath(local_path)), self._store, self._at(remote_path))

    def download_file(self, remote_path: str, local_path: str | os.PathLike[str]) -> None:
        """Copy a file out of the session's folder."""
        target = Path(local_path).absolute()
        copy_object(self._open(remote_path), LocalStore(target.parent), target.name)
