"""Progress: hooks that are called as fragments are written (face of `lance.progress`)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from lanceref.proto import table_pb2

from pylanceref.metadata import FragmentMetadata


class FragmentWriteProgress(ABC):
    """What is called for each fragment of a write; most have no ids yet, these are 0."""

    @abstractmethod
    def begin(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """A fragment is about to be written: only one that is written alone has a file."""

    @abstractmethod
    def complete(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """Called once a fragment was written to its end."""


class FileSystemFragmentWriteProgress(FragmentWriteProgress):
    """Keeps a file while a fragment is written, and one that describes the fragment."""

    PROGRESS_EXT: str = ".in_progress"

    def __init__(self, base_uri: str, metadata: dict[str, str] | None = None) -> None:
        from pyarrow.fs import FileSystem  # slow to import

        self._fs, self._base_path = FileSystem.from_uri(base_uri)
        self._metadata = metadata or {}

    def begin(self, fragment: FragmentMetadata, **kwargs: object) -> None:
        """Write the marker and the metadata of the fragment below the base path."""
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


@dataclass(frozen=True, slots=True)
class Reporter:
    """Passes on to the hooks of a caller what happens to fragments.

    The id of a fragment that is written alone is known before it is written, and so is its file.
    """

    hooks: FragmentWriteProgress
    fragment_id: int | None = None

    def begin(self, fragment: table_pb2.DataFragment) -> None:
        """Call the hook for a fragment that is begun."""
        is_alone = self.fragment_id is not None
        self.hooks.begin(self._described(fragment if is_alone else table_pb2.DataFragment()))

    def complete(self, fragment: table_pb2.DataFragment) -> None:
        """Call the hook for a fragment that is complete."""
        self.hooks.complete(self._described(fragment))

    def _described(self, fragment: table_pb2.DataFragment) -> FragmentMetadata:
        made = FragmentMetadata.from_message(fragment)
        return made if self.fragment_id is None else replace(made, id=self.fragment_id)
