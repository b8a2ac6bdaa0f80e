"""Reading: the rows, columns and fragments of a dataset (face).

Has the names, arguments and defaults of pylance's `LanceDataset`, as far as they read.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, Unpack

import numpy as np
import pyarrow as pa

from lanceref.blob import DEFAULT_BLOB_BUFFER_SIZE, BlobFile, checked_buffer_size
from lanceref.errors import InvalidTable
from lanceref.file.schema import LanceSchema
from lanceref.fragment import LanceFragment
from lanceref.opened import OpenTable
from lanceref.projection import take_projection
from lanceref.scanner import Columns, LanceScanner, ScanArguments, describe
from lanceref.snapshot import positions_of
from lanceref.storage import IOStats
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.take_blobs import check_buffer, locate_blobs, read_ranges


class Reading(OpenTable):
    """What a dataset has."""

    _scan_options: ScanArguments = {}  # noqa: RUF012
    """Arguments of every scan that does not say otherwise; replaced, never changed."""

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

    def count_rows(self, filter: object = None) -> int:
        """Return the rows that are not deleted and pass a filter; without one none is read."""
        return self.scanner([], filter).count_rows()

    def scanner(
        self,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        *,
        fragments: Iterable[LanceFragment] | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> LanceScanner:
        """Describe a scan; see `scanner.describe`."""
        arguments = {**self._scan_options, **arguments}
        rows = self._snapshot.fragments
        if fragments is not None:
            chosen = [fragment.fragment_id for fragment in fragments]
            by_id = {one.fragment.id: one for one in rows}
            if not by_id.keys() >= set(chosen):
                raise ValueError(f"fragments {chosen} are not all in version {self.version}")
            rows = tuple(by_id[number] for number in chosen)
        return describe(self._snapshot, rows, columns, filter, limit, offset, arguments)

    def to_table(
        self,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> pa.Table:
        """Return the rows as a table."""
        return self.scanner(columns, filter, limit, offset, **arguments).to_table()

    def to_batches(
        self,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches."""
        return self.scanner(columns, filter, limit, offset, **arguments).to_batches()

    def head(self, num_rows: int, **kwargs: object) -> pa.Table:
        """Return the first rows; `kwargs` as in `scanner`."""
        return self.scanner(limit=num_rows, **kwargs).to_table()  # type: ignore[arg-type]

    def sample(
        self,
        num_rows: int,
        columns: Columns = None,
        randomize_order: bool = True,
    ) -> pa.Table:
        """Return rows that are drawn at random, in the order of the table unless asked not to."""
        rows = self.count_rows()
        drawn = random.sample(range(rows), min(num_rows, rows))
        indices = drawn if randomize_order else sorted(drawn)
        names = None if columns is None else list(columns)
        return self.take(indices, names)

    def take(
        self, indices: Sequence[int] | pa.Array, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return rows by position, in any order, repeated if asked. Raises RowNotFound."""
        projection = take_projection(self._snapshot.schema(BlobHandling.DESCRIPTIONS), columns)
        return self._snapshot.take(positions_of(indices, self.count_rows()), projection)

    def _take_rows(
        self, row_ids: Sequence[int] | pa.Array, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return rows by id, in the order asked for; an id that no live row has is left out."""
        schema, wanted = self._snapshot.schema(BlobHandling.DESCRIPTIONS), np.asarray(row_ids)
        every = self.to_table([], with_row_id=True)[ROW_ID].to_numpy()
        order = np.argsort(every)
        at = np.searchsorted(every, wanted, sorter=order)
        positions = order[np.minimum(at, max(len(every) - 1, 0))] if len(every) else at[:0]
        found = positions[every[positions] == wanted[: len(positions)]]
        return self._snapshot.take(found, take_projection(schema, columns))

    def validate(self) -> None:
        """Raise the first thing that is wrong with this version, as an OSError."""
        from lanceref.validate import validate

        for finding in validate(self._snapshot.store.root, version=self.version):
            raise InvalidTable(f"{finding}")

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

    def io_stats_incremental(self) -> IOStats:
        """Return requests and bytes since the last call."""
        return self._snapshot.store.stats.incremental()
