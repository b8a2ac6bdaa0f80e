"""Files of a segment, written anew with something in them changed."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from lanceref.core.file_versions import FileVersion
from lanceref.index.index_file import IndexFile, write_index_file


def rewritten(
    segment,
    path: str,
    columns: Mapping[str, pa.Array | None] | None = None,
    metadata: Mapping[str, str | None] | None = None,
    buffers: tuple[bytes, ...] = (),
) -> IndexFile:
    """Write a file with some columns and metadata changed (None: left out) and open it."""
    file = segment.file(path)
    held = {name: file.read(name) for name in file.names} | dict(columns or {})
    given = {name: column for name, column in held.items() if column is not None}
    kept = {k: v for k, v in (dict(file.metadata) | dict(metadata or {})).items() if v is not None}
    batch = pa.record_batch(given)
    store = segment.bases.store_of(None)
    place = f"{segment.folder}/{path}"
    store.delete(place)
    size = write_index_file(
        store, place, batch.schema, FileVersion(2, 2), [batch], kept, buffers=buffers
    )
    for entry in segment.entry.files:
        if entry.path == path:
            entry.size_bytes = size
    segment._opened.clear()
    return segment.file(path)
