"""Progress: hooks that are called as fragments are written (face).

Has the names of pylance's `lance.progress`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod

from pyarrow.fs import FileSystem

from lanceref.metadata import FragmentMetadata
from lanceref.proto import table_pb2


class FragmentWriteProgress(ABC):
    """What is called for each fragment of a write; fragments have no ids yet, all are 0."""

    @abstractmethod
    def begin(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """A fragment is about to be written: it has no files yet."""

    @abstractmethod
    def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """A fragment is written."""


class NoopFragmentWriteProgress(FragmentWriteProgress):
    """Does nothing."""

    def begin(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """Do nothing."""

    def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """Do nothing."""


class FileSystemFragmentWriteProgress(FragmentWriteProgress):
    """Keeps a file while a fragment is written, and one that describes the fragment."""

    PROGRESS_EXT: str = ".in_progress"

    def __init__(self, base_uri: str, metadata: dict[str, str] | None = None) -> None:
        self._fs, self._base_path = FileSystem.from_uri(base_uri)
        self._metadata = metadata or {}

    def begin(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """Write both files below the base."""
        self._fs.create_dir(self._base_path, recursive=True)
        going_on = {"fragment_id": fragment.id, "metadata": self._metadata}
        self._write(self._in_progress(fragment), going_on)
        self._write(f"{self._base_path}/fragment_{fragment.id}.json", fragment.to_json())

    def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """Remove the file that said that it goes on."""
        self._fs.delete_file(self._in_progress(fragment))

    def _in_progress(self, fragment: FragmentMetadata) -> str:
        return f"{self._base_path}/fragment_{fragment.id}{self.PROGRESS_EXT}"

    def _write(self, path: str, content: object) -> None:
        with self._fs.open_output_stream(path) as out:
            out.write(json.dumps(content).encode())


class Reporter:
    """Passes on to the hooks of a caller what happens to fragments."""

    def __init__(self, hooks: FragmentWriteProgress) -> None:
        self._hooks = hooks

    def begin(self, fragment: table_pb2.DataFragment) -> None:
        """Call the hook."""
        self._hooks.begin(FragmentMetadata.from_message(fragment))

    def complete(self, fragment: table_pb2.DataFragment) -> None:
        """Call the hook."""
        self._hooks.complete(FragmentMetadata.from_message(fragment))
