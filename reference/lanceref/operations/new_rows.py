"""New rows of a table: written to files of its own, or in files that others wrote.

The columns of an external file are fields of the table by their names; a base decides where the
file is.

Clauses: L.table.row-versions.moved
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.blob_writer import BlobPolicy, ExternalBlobs
from lanceref.blobs.descriptors import BLOB_DESCRIPTOR
from lanceref.core.arrow_buffers import whole_rows
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, NotFound, SchemaRefused
from lanceref.core.file_versions import FileVersion
from lanceref.data_file.data_file import open_file
from lanceref.file.column_io import page_policy
from lanceref.file.schema import Field, LanceSchema
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Snapshot
from lanceref.storage.protocol import Draft
from lanceref.table.bases import Bases
from lanceref.table.data_files import (
    FileLimits,
    Home,
    NewFiles,
    appended_schema,
    file_entry,
    write_files,
)
from lanceref.table.lineage import encode_ids
from lanceref.transactions.manifest_builder import storage_version_of

MAX_ROWS_PER_FILE = 1 << 20
MAX_BYTES_PER_FILE = 90 << 30
GROUP_ROWS = 1024

MAX_FRAGMENT_ROWS = 2**32
"""No fragment has more rows."""

Ids = NDArray[np.uint64]


def write_new_rows(
    snapshot: Snapshot,
    batches: Iterable[pa.RecordBatch],
    draft: Draft,
    version: FileVersion | None = None,
    max_rows: int = MAX_ROWS_PER_FILE,
    max_bytes: int = MAX_BYTES_PER_FILE,
    homes: Sequence[Home] = (),
    schema: LanceSchema | None = None,
) -> NewFiles:
    """Write rows of all columns, or those of `schema`; on any error no file is left.

    Files go into one of the `homes` after the other, without any into the root of the table. Raises
    DataRefused.
    """
    schema = snapshot.manifest.schema if schema is None else schema
    message, options = snapshot.manifest.message, snapshot.store.options
    blobs = BlobPolicy(external=ExternalBlobs(bases=tuple(message.base_paths), options=options))
    policy = page_policy(len(schema.fields), None, None)
    limits = FileLimits(max_rows, max_bytes, GROUP_ROWS, policy, blobs)
    new = write_files(
        list(homes) or [Home(snapshot.store)],
        schema,
        version or storage_version_of(message),
        map(_alone, batches),
        limits,
        snapshot.manifest.dictionaries,
    )
    draft.add(*new.paths)
    return new


def _alone(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows that share no memory with others: pages are cut by memory."""
    if batch.get_total_buffer_size() <= batch.nbytes:
        return batch
    return whole_rows(batch).take(pa.array(np.arange(batch.num_rows)))


def give_ids(fragments: Iterable[table_pb2.DataFragment], parts: Iterable[Ids]) -> None:
    """Give the first rows of new fragments ids, in their order; the rest get theirs later.

    Each part is (ids,).
    """
    ids = np.concatenate([np.empty(0, np.uint64), *parts])
    for fragment in fragments:
        rows = int(fragment.physical_rows)
        fragment.inline_row_ids, ids = encode_ids(ids[:rows]), ids[rows:]


@dataclass(frozen=True, slots=True)
class ExternalFile:
    """A data file as a manifest would list it, which fields it holds and how many rows."""

    entry: table_pb2.DataFile
    schema: LanceSchema
    num_rows: int


def external_file(
    snapshot: Snapshot, path: str, base_id: int | None = None, *, whole: bool = False
) -> ExternalFile:
    """Open a data file below the data folder and match its columns with the table's fields.

    Raises NotFound, SchemaRefused for a column that is none of the table and for a missing one of
    a `whole` file, FormatError.
    """
    bases = Bases(snapshot.store, snapshot.manifest)
    try:
        source = bases.open_data_file(path, base_id)
    except FormatError as error:
        raise NotFound(f"Not found: {path}") from error
    opened = open_file(source, Context(PurePosixPath(path).name, limits=snapshot.ctx.limits))
    own, stored = snapshot.manifest.schema, opened.descriptor.schema
    declared = replace(stored, fields=_declared(stored.fields, own.fields))
    schema = appended_schema(own, declared, opened.version)
    held = {field.id for field in schema.flat()}
    missing = [field.name for field in own.flat() if field.id not in held]
    if whole and missing:
        raise SchemaRefused(
            f"Append with different schema: fields did not match, missing=[{', '.join(missing)}]"
        )
    entry = file_entry(path, schema, opened.version, source.size)
    if base_id is not None:
        entry.base_id = base_id
    return ExternalFile(entry, schema, opened.num_rows)


def _declared(stored: Sequence[Field], own: Sequence[Field]) -> tuple[Field, ...]:
    """Return stored fields, those of blob descriptors as the table declares them."""
    by_name, fields = {field.name: field for field in own}, []
    for field in stored:
        wanted = by_name.get(field.name)
        if wanted is not None and wanted.is_blob_v2:
            fields.append(wanted if field.arrow.type == BLOB_DESCRIPTOR else field)
        elif wanted is not None and field.children:
            children = _declared(field.children, wanted.children)
            fields.append(replace(field, children=children))
        else:
            fields.append(field)
    return tuple(fields)
