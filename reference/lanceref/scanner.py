"""Scanner: the rows of a table or of some of its fragments, as a stream (face).

Has the names of pylance's `LanceScanner`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lanceref.projection import Projection
from lanceref.snapshot import Snapshot
from lanceref.table.rows import FragmentRows

DEFAULT_BATCH_SIZE = 8192
"""Rows of a batch when the caller does not say."""


class LanceScanner:
    """A scan that has been described but not run. Raises ValueError for a number out of range."""

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        projection: Projection,
        batch_size: int | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> None:
        for name, value, least in (
            ("limit", limit, 0),
            ("offset", offset, 0),
            ("batch_size", batch_size, 1),
        ):
            if value is not None and value < least:
                raise ValueError(f"{name} must not be below {least}, it is {value}")
        self._snapshot = snapshot
        self._fragments = fragments
        self._projection = projection
        self._batch_size = batch_size or DEFAULT_BATCH_SIZE
        self._limit = limit
        self._offset = offset or 0

    @property
    def projected_schema(self) -> pa.Schema:
        """Schema of the result."""
        return self._projection.schema

    @property
    def dataset_schema(self) -> pa.Schema:
        """Schema of the table."""
        return self._snapshot.arrow_schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in the order of the table; no batch crosses a fragment."""
        end = self._offset + self.count_rows()
        return self._snapshot.scan(
            self._fragments, self._projection, self._batch_size, self._offset, end
        )

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the batches as a reader."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def to_table(self) -> pa.Table:
        """Return all rows."""
        return pa.Table.from_batches(self.to_batches(), schema=self.projected_schema)

    def head(self, num_rows: int) -> pa.Table:
        """Return the first rows."""
        limit = num_rows if self._limit is None else min(num_rows, self._limit)
        head = LanceScanner(
            self._snapshot, self._fragments, self._projection, self._batch_size, limit, self._offset
        )
        return head.to_table()

    def count_rows(self) -> int:
        """Return the number of rows without reading any."""
        rows = max(0, sum(fragment.num_rows for fragment in self._fragments) - self._offset)
        return rows if self._limit is None else min(rows, self._limit)
