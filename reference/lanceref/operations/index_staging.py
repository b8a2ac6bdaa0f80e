"""Staged segments of a table: finished when they are merged or committed.

Some types of index leave what several processes have built over fragments of their own below
`staging/`, in the folder of the segment, until somebody writes the files that are read.

Clauses: L.index.fts.staging
"""

from __future__ import annotations

import uuid

from lanceref.core.errors import IndexRefused, OperationRefused
from lanceref.index.index_type import Kind
from lanceref.index.indices import kind_of
from lanceref.index.segment import FOLDER, Stages
from lanceref.operations.index_build import segment_writer
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Snapshot


def finished(snapshot: Snapshot, entry: table_pb2.IndexMetadata) -> table_pb2.IndexMetadata:
    """Return the entry of a finished segment, writing its files if it is staged."""
    kind = kind_of(entry)
    if kind is None or kind.staging is None:
        return entry
    if not kind.staging.is_staged([file.path for file in entry.files]):
        return entry
    found = table_pb2.IndexMetadata()
    found.CopyFrom(entry)
    del found.files[:]
    found.files.extend(_finish(snapshot, kind, entry))
    return found


def finish_folder(snapshot: Snapshot, kind: Kind, name: str, stages: Stages | None = None) -> None:
    """Write the files of a segment that several have staged in one folder.

    Raises ValueError for what is no uuid, OperationRefused when nothing is there.
    """
    try:
        entry = table_pb2.IndexMetadata(name=name)
        entry.uuid.uuid = uuid.UUID(name).bytes
    except ValueError as error:
        raise ValueError(f"Invalid UUID string for index_uuid: {name}") from error
    folder = f"{FOLDER}/{uuid.UUID(name)}/"
    entry.files.extend(
        table_pb2.IndexFile(path=one.path.removeprefix(folder), size_bytes=one.size)
        for one in snapshot.store.walk(folder)
    )
    staging = kind.staging
    if staging is None or not staging.is_staged([file.path for file in entry.files]):
        raise OperationRefused(f"No partition metadata files found in index directory: {folder}")
    _finish(snapshot, kind, entry, stages)


def _finish(
    snapshot: Snapshot,
    kind: Kind,
    entry: table_pb2.IndexMetadata,
    stages: Stages | None = None,
) -> list[table_pb2.IndexFile]:
    """Write the files of a staged segment and return them."""
    segments = snapshot.indices.of([entry]).segments
    if kind.staging is None or len(segments) != 1:
        raise IndexRefused("the segment cannot be finished")
    with segment_writer(snapshot, uuid.UUID(bytes=entry.uuid.uuid), stages) as writer:
        kind.staging.finish(segments[0], writer)
    return writer.files
