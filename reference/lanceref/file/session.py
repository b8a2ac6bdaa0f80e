"""File session: the data files below one folder, under the name pylance has for it.

A thin face over local files: paths are relative to the folder of the session and stay inside it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lanceref.arguments import unsigned
from lanceref.file.reader import LanceFileReader
from lanceref.file.writer import LanceFileWriter
from lanceref.storage import local_path


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
        self._base = Path(local_path(base_path))

    def _at(self, path: str | None) -> Path:
        """Return the place of a path. Raises OSError for one that leaves the folder."""
        parts = [part for part in (path or "").split("/") if part]
        if ".." in parts:
            raise OSError(f"{path!r} is outside of the session")
        return self._base.joinpath(*parts)

    def _relative(self, found: Path) -> str:
        return found.relative_to(self._base).as_posix()

    def open_reader(self, path: str, columns: Sequence[str] | None = None) -> LanceFileReader:
        """Open a file for reading."""
        return LanceFileReader(self._at(path), columns=columns)

    def open_writer(
        self,
        path: str,
        *,
        schema: pa.Schema | None = None,
        data_cache_bytes: int | None = None,
        version: str | None = None,
        keep_original_array: bool | None = None,
        max_page_bytes: int | None = None,
    ) -> LanceFileWriter:
        """Begin a file; arguments as of `LanceFileWriter`."""
        return LanceFileWriter(
            self._at(path),
            schema,
            data_cache_bytes=data_cache_bytes,
            version=version,
            keep_original_array=keep_original_array,
            max_page_bytes=max_page_bytes,
        )

    def contains(self, path: str) -> bool:
        """Whether a file stands at a path."""
        return self._at(path).is_file()

    def list(self, path: str | None = None) -> list[str]:
        """Return all files below a path, in any order."""
        return [self._relative(one) for one in self._at(path).rglob("*") if one.is_file()]

    def list_with_delimiter(self, path: str | None = None) -> ListResult:
        """Return what lies directly below a path; nothing where there is none."""
        folder = self._at(path)
        found = sorted(folder.iterdir()) if folder.is_dir() else []
        return ListResult(
            [self._relative(one) for one in found if one.is_dir()],
            [self._relative(one) for one in found if one.is_file()],
        )

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Read a range of a file. Raises OSError for one that is not there as a whole."""
        unsigned(offset), unsigned(length)
        with self._at(path).open("rb") as file:
            file.seek(offset)
            data = file.read(length)
        if len(data) < length:
            raise OSError(f"{path}: failed to fill whole buffer")
        return data

    def delete_file(self, path: str) -> None:
        """Remove a file."""
        self._at(path).unlink()

    def upload_file(self, local_path: str | os.PathLike[str], remote_path: str) -> None:
        """Copy a file into the session's folder."""
        target = self._at(remote_path)
        with Path(local_path).open("rb") as source:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as out:
                shutil.copyfileobj(source, out)

    def download_file(self, remote_path: str, local_path: str | os.PathLike[str]) -> None:
        """Copy a file out of the session's folder."""
        with self._at(remote_path).open("rb") as source, Path(local_path).open("wb") as out:
            shutil.copyfileobj(source, out)
