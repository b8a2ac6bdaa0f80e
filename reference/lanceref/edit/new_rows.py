"""New rows of a table: written to files of its own, with the ids they bring along.

Clauses: L.table.row-versions.moved
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.file.schema import LanceSchema
from lanceref.file.versions import FileVersion
from lanceref.file.writer import page_policy
from lanceref.proto import table_pb2
from lanceref.snapshot import Snapshot
from lanceref.table.data_files import FileLimits, Home, NewFiles, write_files
from lanceref.table.row_ids_write import encode_id_parts
from lanceref.txn.making import storage_version_of

MAX_ROWS_PER_FILE = 1 << 20
MAX_BYTES_PER_FILE = 90 << 30
GROUP_ROWS = 1024

MAX_FRAGMENT_ROWS = 2**32
"""No fragment has more rows."""

Ids = NDArray[np.uint64]


def write_new_rows(
    snapshot: Snapshot,
    batches: Iterable[pa.RecordBatch],
    version: FileVersion | None = None,
    max_rows: int = MAX_ROWS_PER_FILE,
    max_bytes: int = MAX_BYTES_PER_FILE,
) -> NewFiles:
    """Write rows of all columns; on any error no file is left. Raises DataRefused."""
    return write_rows_as(snapshot, snapshot.manifest.schema, batches, version, max_rows, max_bytes)


def write_rows_as(
    snapshot: Snapshot,
    schema: LanceSchema,
    batches: Iterable[pa.RecordBatch],
    version: FileVersion | None = None,
    max_rows: int = MAX_ROWS_PER_FILE,
    max_bytes: int = MAX_BYTES_PER_FILE,
) -> NewFiles:
    """Write rows of some columns; on any error no file is left. Raises DataRefused."""
    chosen = storage_version_of(snapshot.manifest.message) if version is None else version
    policy = page_policy(len(schema.fields), None, None)
    limits = FileLimits(max_rows, max_bytes, GROUP_ROWS, policy)
    known = snapshot.manifest.dictionaries
    return write_files([Home(snapshot.store)], schema, chosen, batches, limits, known)


def give_ids(fragments: Iterable[table_pb2.DataFragment], ids: Ids) -> None:
    """Let the first rows of new fragments have ids, in their order; the rest get theirs later."""
    for fragment, own in _split(fragments, ids):
        fragment.inline_row_ids = encode_id_parts(_runs(own))


def _split(
    fragments: Iterable[table_pb2.DataFragment], ids: Ids
) -> Iterator[tuple[table_pb2.DataFragment, Ids]]:
    start = 0
    for fragment in fragments:
        end = min(start + int(fragment.physical_rows), len(ids))
        yield fragment, ids[start:end]
        start = end


def _runs(ids: Ids) -> list[Ids]:
    """Cut ids where they do not rise: each part can be a segment that rises."""
    falls = np.flatnonzero(ids[1:] <= ids[:-1]) + 1
    return list(np.split(ids, falls))


def concatenated(ids: list[Ids]) -> Ids:
    """Return ids that came in parts."""
    return np.concatenate([np.empty(0, np.uint64), *ids])
