"""New rows of a table: written to files of its own, with the ids they bring along.

Clauses: L.table.row-versions.moved
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.blob_rows import ExternalBlobs
from lanceref.blobs.blob_writer import BlobPolicy
from lanceref.core.file_versions import FileVersion
from lanceref.core.nesting import whole_rows
from lanceref.file.column_writer import page_policy
from lanceref.file.schema import LanceSchema
from lanceref.proto import table_pb2
from lanceref.search.snapshot import Snapshot
from lanceref.table.data_files import FileLimits, Home, NewFiles, write_files
from lanceref.table.row_ids import encode_id_parts
from lanceref.table.uncommitted_files import Draft
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
) -> NewFiles:
    """Write rows of all columns; on any error no file is left. Raises DataRefused."""
    schema = snapshot.manifest.schema
    return write_rows_as(snapshot, schema, batches, draft, version, max_rows, max_bytes, homes)


def write_rows_as(
    snapshot: Snapshot,
    schema: LanceSchema,
    batches: Iterable[pa.RecordBatch],
    draft: Draft,
    version: FileVersion | None = None,
    max_rows: int = MAX_ROWS_PER_FILE,
    max_bytes: int = MAX_BYTES_PER_FILE,
    homes: Sequence[Home] = (),
) -> NewFiles:
    """Write rows of some columns; on any error no file is left. Raises DataRefused.

    Files go into one of the `homes` after the other, without any into the root of the table.
    """
    chosen = storage_version_of(snapshot.manifest.message) if version is None else version
    policy = page_policy(len(schema.fields), None, None)
    message, options = snapshot.manifest.message, snapshot.store.options
    blobs = BlobPolicy(external=ExternalBlobs(bases=tuple(message.base_paths), options=options))
    limits = FileLimits(max_rows, max_bytes, GROUP_ROWS, policy, blobs)
    known = snapshot.manifest.dictionaries
    places = list(homes) or [Home(snapshot.store)]
    new = write_files(places, schema, chosen, map(_alone, batches), limits, known)
    draft.add(*new.paths)
    return new


def _alone(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows that share no memory with others: pages are cut by memory."""
    if batch.get_total_buffer_size() <= batch.nbytes:
        return batch
    return whole_rows(batch).take(pa.array(np.arange(batch.num_rows)))


def give_ids(fragments: Iterable[table_pb2.DataFragment], parts: Iterable[Ids]) -> None:
    """Let the first rows of new fragments have ids, in their order; the rest get theirs later.

    The parts are segments, cut where a fragment ends.
    """
    waiting = deque(part for part in parts if len(part))
    for fragment in fragments:
        own, missing = [], int(fragment.physical_rows)
        while missing and waiting:
            part = waiting.popleft()
            own.append(part[:missing])
            if len(part) > missing:
                waiting.appendleft(part[missing:])
            missing -= len(own[-1])
        fragment.inline_row_ids = encode_id_parts(own)


def neighbours(ids: Ids) -> list[Ids]:
    """Cut ids where one is not the next of the one before."""
    return list(np.split(ids, np.flatnonzero(np.diff(ids) != 1) + 1))
