"""Segments, written: the files of a new segment, below the table's root.

A segment is no part of the table before a commit names it. What was written of one that failed is
removed.

Clauses: L.index.segment.folder, L.index.segment.files
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType

import pyarrow as pa

from lanceref.core.file_versions import FileVersion
from lanceref.index.build_progress import Stages
from lanceref.index.index_file_writer import write_index_file
from lanceref.index.segment import FOLDER
from lanceref.proto import table_pb2
from lanceref.storage import Store


class SegmentWriter:
    """Writes the files of a segment; leaving its block by an error removes them.

    `stages` is told how far the build is.
    """

    def __init__(
        self,
        store: Store,
        version: FileVersion,
        name: uuid.UUID | None = None,
        stages: Stages | None = None,
    ) -> None:
        self.stages = Stages() if stages is None else stages
        self.store = store
        self.version = version
        self.uuid = uuid.uuid4() if name is None else name
        self.files: list[table_pb2.IndexFile] = []
        self._paths: list[str] = []

    @property
    def folder(self) -> str:
        """Path of the folder below the table's root."""
        return f"{FOLDER}/{self.uuid}"

    def write_file(
        self,
        path: str,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        metadata: Mapping[str, str] | None = None,
        buffers: Sequence[bytes] = (),
    ) -> None:
        """Write a file; `buffers` are its global ones from 1 on."""
        place = self._begin(path)
        size = write_index_file(
            self.store, place, schema, self.version, batches, metadata or {}, buffers
        )
        self.files.append(table_pb2.IndexFile(path=path, size_bytes=size))

    def write_bytes(self, path: str, data: bytes) -> None:
        """Write a file that is no index file."""
        self.store.put(self._begin(path), data)
        self.files.append(table_pb2.IndexFile(path=path, size_bytes=len(data)))

    def _begin(self, path: str) -> str:
        """Take note of a file that is about to be written; return its path below the root."""
        self._paths.append(f"{self.folder}/{path}")
        return self._paths[-1]

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            return
        for path in self._paths:
            self.store.delete(path)
        self.store.prune(self.folder)
