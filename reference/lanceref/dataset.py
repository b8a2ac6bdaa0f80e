"""Dataset: a table by its URI (face).

Has the names, arguments and defaults of pylance's `lance.dataset` and `LanceDataset`, as far as
they read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from lanceref.blob import DEFAULT_BLOB_BUFFER_SIZE, BlobFile, checked_buffer_size
from lanceref.cleanup import Cleanup
from lanceref.context import Context
from lanceref.file.schema import LanceSchema
from lanceref.fragment import LanceFragment
from lanceref.history import History
from lanceref.limits import DEFAULT_LIMITS, Limits
from lanceref.opened import root_of
from lanceref.projection import scan_projection, take_projection
from lanceref.references import References
from lanceref.scanner import LanceScanner
from lanceref.settings import Settings
from lanceref.snapshot import open_snapshot, positions_of
from lanceref.storage import IOStats, open_store
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import ROW_ADDRESS
from lanceref.take_blobs import check_buffer, locate_blobs, read_ranges

if TYPE_CHECKING:
    from lanceref.committing import BulkCommitResult
    from lanceref.operation import LanceOperation, Transaction


def dataset(
    uri: str | os.PathLike[str],
    version: int | str | None = None,
    asof: datetime | str | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> LanceDataset:
    """Open a table: its latest version, one by number or by tag, or the latest before a moment.

    Raises NotFound (a ValueError) when there is no table or no such version or tag, ValueError for
    a moment before the first version, and a `LanceError` when the manifest is broken.
    """
    store = open_store(uri)
    ctx = Context(Path(store.root).name, limits=limits)
    snapshot = open_snapshot(store, None if isinstance(version, str) else version, ctx)
    opened = LanceDataset(os.fspath(uri), snapshot, root_of(snapshot))
    if isinstance(version, str):
        return opened.checkout_version(version)
    if asof is not None and version is None:
        return opened.checkout_version(opened.version_before(_moment(asof)))
    return opened


def _moment(asof: datetime | str) -> datetime:
    """Return a moment in local time without a zone. Raises TypeError, ValueError."""
    if isinstance(asof, str):
        return datetime.fromisoformat(asof)
    if not isinstance(asof, datetime):
        raise TypeError(f"Unrecognized version timestamp {asof} of type {type(asof)}")
    return asof


class LanceDataset(Cleanup, History, References, Settings):
    """One version of a table."""

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the table."""
        return self._snapshot.arrow_schema

    @property
    def lance_schema(self) -> LanceSchema:
        """Schema of the table with field ids."""
        return self._snapshot.manifest.schema

    @property
    def has_stable_row_ids(self) -> bool:
        """Whether rows keep their ids when they move."""
        return self._snapshot.stable_row_ids

    @property
    def max_field_id(self) -> int:
        """Highest id of a field of the schema, -1 without any."""
        return max((field.id for field in self.lance_schema.flat()), default=-1)

    def __len__(self) -> int:
        return self.count_rows()

    @property
    def data_storage_version(self) -> str:
        """Name of the data storage version."""
        return self._snapshot.manifest.storage_version

    def get_fragments(self) -> list[LanceFragment]:
        """Return every fragment."""
        return [LanceFragment(self._snapshot, rows) for rows in self._snapshot.fragments]

    def get_fragment(self, fragment_id: int) -> LanceFragment | None:
        """Return a fragment by id, None when there is none."""
        for fragment in self.get_fragments():
            if fragment.fragment_id == fragment_id:
                return fragment
        return None

    @property
    def fragments(self) -> list[LanceFragment]:
        """Every fragment."""
        return self.get_fragments()

    def count_rows(self) -> int:
        """Return the rows that are not deleted, without reading a data file."""
        return sum(rows.num_rows for rows in self._snapshot.fragments)

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        fragments: Iterable[LanceFragment] | None = None,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
        blob_handling: str | None = None,
    ) -> LanceScanner:
        """Describe a scan. Raises NotFound for an unknown column, ValueError for a bad number."""
        wanted = ((with_row_id, ROW_ID), (with_row_address, ROW_ADDRESS))
        system = [name for on, name in wanted if on]
        projection = scan_projection(
            self._snapshot.schema(BlobHandling.of(blob_handling)), columns, system
        )
        rows = self._snapshot.fragments
        if fragments is not None:
            chosen = [fragment.fragment_id for fragment in fragments]
            by_id = {one.fragment.id: one for one in rows}
            if not by_id.keys() >= set(chosen):
                raise ValueError(f"fragments {chosen} are not all in version {self.version}")
            rows = tuple(by_id[number] for number in chosen)
        return LanceScanner(self._snapshot, rows, projection, batch_size, limit, offset)

    def to_table(
        self,
        columns: Sequence[str] | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
        blob_handling: str | None = None,
    ) -> pa.Table:
        """Return the rows as a table."""
        return self.scanner(
            columns,
            limit=limit,
            offset=offset,
            batch_size=batch_size,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            blob_handling=blob_handling,
        ).to_table()

    def to_batches(
        self,
        columns: Sequence[str] | None = None,
        *,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
        blob_handling: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches."""
        return self.scanner(
            columns,
            limit=limit,
            offset=offset,
            batch_size=batch_size,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
            blob_handling=blob_handling,
        ).to_batches()

    def head(self, num_rows: int, **kwargs: object) -> pa.Table:
        """Return the first rows; `kwargs` as in `scanner`."""
        return self.scanner(limit=num_rows, **kwargs).to_table()  # type: ignore[arg-type]

    def take(
        self, indices: Sequence[int] | pa.Array, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return rows by position, in any order, repeated if asked. Raises RowNotFound."""
        projection = take_projection(self._snapshot.schema(BlobHandling.DESCRIPTIONS), columns)
        return self._snapshot.take(positions_of(indices, self.count_rows()), projection)

    def take_blobs(
        self,
        blob_column: str,
        ids: Sequence[int] | pa.Array | None = None,
        addresses: Sequence[int] | pa.Array | None = None,
        indices: Sequence[int] | pa.Array | None = None,
        *,
        buffer_size: int = DEFAULT_BLOB_BUFFER_SIZE,
    ) -> list[BlobFile | None]:
        """Open blobs by row id, row address or position as files; None for a null."""
        checked_buffer_size(buffer_size)
        found = locate_blobs(self._snapshot, blob_column, ids, addresses, indices)
        return [None if blob is None else BlobFile(blob, buffer_size) for _, blob in found]

    def read_blobs(
        self,
        blob_column: str,
        ids: Sequence[int] | pa.Array | None = None,
        addresses: Sequence[int] | pa.Array | None = None,
        indices: Sequence[int] | pa.Array | None = None,
        *,
        io_buffer_size: int | None = None,
        preserve_order: bool | None = None,
    ) -> list[tuple[int, bytes | None]]:
        """Return row address and bytes of blobs by row id, row address or position, in order."""
        check_buffer(io_buffer_size)
        found = locate_blobs(self._snapshot, blob_column, ids, addresses, indices)
        return [(row, None if blob is None else blob.read(0, blob.size)) for row, blob in found]

    def read_blob_ranges(
        self,
        blob_column: str,
        requests: Sequence[tuple[int, int, int]],
        *,
        selector: Literal["ids", "addresses", "indices"],
        io_buffer_size: int | None = None,
        preserve_order: bool | None = None,
    ) -> list[tuple[int, int, bytes | None]]:
        """Return number, row address and bytes for each request: row, offset and length.

        Rows are row ids, row addresses or positions, as `selector` says. Raises ValueError for a
        range that is not inside its blob.
        """
        check_buffer(io_buffer_size)
        return read_ranges(self._snapshot, blob_column, requests, selector)

    @staticmethod
    def commit(
        base_uri: str | os.PathLike[str] | LanceDataset,
        operation: LanceOperation.BaseOperation | Transaction,
        read_version: int | None = None,
        **kwargs: object,
    ) -> LanceDataset:
        """Commit what was written before; `kwargs` as in `committing.commit_operation`."""
        from lanceref.committing import commit_operation

        return commit_operation(base_uri, operation, read_version, **kwargs)  # type: ignore[arg-type]

    @staticmethod
    def commit_batch(
        dest: str | os.PathLike[str] | LanceDataset,
        transactions: Sequence[Transaction],
        **kwargs: object,
    ) -> BulkCommitResult:
        """Commit several Appends as one; `kwargs` as in `committing.commit_operation`."""
        from lanceref.committing import commit_batch

        return commit_batch(dest, transactions, **kwargs)

    def io_stats_incremental(self) -> IOStats:
        """Return requests and bytes since the last call."""
        return self._snapshot.store.stats.incremental()
