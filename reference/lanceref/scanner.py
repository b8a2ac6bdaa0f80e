"""Scanner: the rows of a table or of some of its fragments, as a stream (face).

Has the names of pylance's `LanceScanner`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lanceref.snapshot import Projection, Snapshot
from lanceref.table.rows import FragmentRows

DEFAULT_BATCH_SIZE = 8192
"""Rows of a batch when the caller does not say."""


class LanceScanner:
    """A scan that has been described but not run."""

    def __init__(
        self,
        snapshot: Snapshot,
        fragments: Sequence[FragmentRows],
        projection: Projection,
        batch_size: int | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> None:
        for name, value in (("limit", limit), ("offset", offset), ("batch_size", batch_size)):
            if value is not None and value < 0:
                raise ValueError(f"{name} must not be negative, it is {value}")
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
        return self._snapshot.manifest.schema.arrow

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in the order of the table; no batch crosses a fragment."""
        skip, left = self._offset, self._limit
        for fragment in self._fragments:
            if left == 0:
                return
            if skip >= fragment.num_rows:
                skip -= fragment.num_rows
                continue
            scan = fragment.scan(self._projection.fields, self._projection.system, self._batch_size)
            for arrays in scan:
                batch = self._batch(arrays)
                part = batch.slice(min(skip, len(batch)), left)
                skip = max(0, skip - len(batch))
                if len(part):
                    left = None if left is None else left - len(part)
                    yield part
                if left == 0:
                    return

    def _batch(self, arrays: list[pa.Array]) -> pa.RecordBatch:
        arranged = self._projection.arrange(arrays)
        return pa.RecordBatch.from_arrays(arranged, schema=self._projection.schema)

    def to_reader(self) -> pa.RecordBatchReader:
        """Return the batches as a reader."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def to_table(self) -> pa.Table:
        """Return all rows."""
        return self.to_reader().read_all()

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
