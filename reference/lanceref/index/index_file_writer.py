"""Index files, written: the container of data files, with metadata and global buffers.

Clauses: L.index.files.version, L.index.files.metadata, L.index.files.buffer
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from lanceref.core.file_versions import V2_0, FileVersion
from lanceref.data_file.file_writer import FileWriter
from lanceref.file.column_writer import page_policy
from lanceref.file.schema import schema_of
from lanceref.storage import Store, whole


def version_for(storage_version: FileVersion) -> FileVersion:
    """Return the version of index files by that of the table's data files."""
    return max(storage_version, V2_0)  # L.index.files.version


def write_index_file(
    store: Store,
    path: str,
    schema: pa.Schema,
    version: FileVersion,
    batches: Iterable[pa.RecordBatch],
    metadata: Mapping[str, str],
    buffers: Sequence[bytes] = (),
) -> int:
    """Write a file and return its size in bytes; `buffers` are the global ones from 1 on.

    On any error nothing is left.
    """
    stored = schema_of(schema)
    with whole(store.create(path)) as sink:
        writer = FileWriter(sink, stored, version, page_policy(len(stored.fields)))
        for batch in batches:
            writer.write_batch(batch)
        for buffer in buffers:
            writer.add_global_buffer(buffer)
        for key, text in metadata.items():
            writer.add_schema_metadata(key, text)
        writer.finish()
    return sink.position
