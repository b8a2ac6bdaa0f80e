"""Delta: what changed between two versions of a dataset (face).

Has the names of pylance's `DatasetDelta`. Rows are those of the version that is open: inserted were
those that came after the earlier version and up to the later one, updated those that were there
before and changed then. Only a table with stable row ids knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from lanceref.core.errors import DeltaRefused, VersionNotFound
from lanceref.core.integers import are_among
from lanceref.search.projection import scan_projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID
from lanceref.table.logical import BlobHandling
from numpy.typing import NDArray

from pylanceref.history import History
from pylanceref.reading import Reading

if TYPE_CHECKING:
    from pylanceref.operation import Transaction


class Compared(History, Reading):
    """A dataset that can be compared with others of its versions."""

    def delta(
        self,
        compared_against: int | None = None,
        *,
        begin_version: int | None = None,
        end_version: int | None = None,
    ) -> DatasetDelta:
        """Compare this version with an older one, or two versions.

        Raises ValueError when neither or only one of two is given.
        """
        if compared_against is not None:
            return DatasetDelta(self, compared_against, self.version)
        if begin_version is None and end_version is None:
            raise DeltaRefused(
                "Invalid user input: Must specify either compared_against_version or both "
                "with_begin_version and with_end_version"
            )
        if begin_version is None or end_version is None:
            raise DeltaRefused(
                "Invalid user input: Must specify both with_begin_version and with_end_version"
            )
        return DatasetDelta(self, begin_version, end_version)


class DatasetDelta:
    """What changed after one version and up to another."""

    def __init__(self, table: Compared, begin: int, end: int) -> None:
        self._table, self._begin, self._end = table, begin, end

    def list_transactions(self) -> list[Transaction]:
        """Return what each version did. Raises VersionNotFound for one that is gone."""
        found = []
        for version in range(self._begin + 1, self._end + 1):
            transaction = self._table.read_transaction(version)
            if transaction is None:
                raise VersionNotFound(f"the transaction of version {version} is gone")
            found.append(transaction)
        return found

    def get_inserted_rows(self) -> pa.RecordBatchReader:
        """Return the rows that came, with their ids and versions."""
        return self._rows(f"{CREATED_AT} > {self._begin} AND {CREATED_AT} <= {self._end}")

    def get_updated_rows(self) -> pa.RecordBatchReader:
        """Return the rows that were changed, with their ids and versions."""
        return self._rows(
            f"{CREATED_AT} <= {self._begin} AND {LAST_UPDATED_AT} > {self._begin} "
            f"AND {LAST_UPDATED_AT} <= {self._end}"
        )

    def get_deleted_row_ids(self) -> pa.RecordBatchReader:
        """Return the ids of the rows that went.

        Raises VersionNotFound, ValueError for versions in the wrong order or without stable ids.
        """
        if self._begin > self._end:
            raise DeltaRefused(f"begin version {self._begin} is newer than end version {self._end}")
        before, after = (self._ids(version) for version in (self._begin, self._end))
        gone = pa.array(before[~are_among(before, after)])
        schema = pa.schema([pa.field(ROW_ID, pa.uint64())])
        batch = pa.RecordBatch.from_arrays([gone], schema=schema)
        return pa.RecordBatchReader.from_batches(schema, [batch])

    def _rows(self, filter: str) -> pa.RecordBatchReader:
        table = self._table
        names = [*table._snapshot.arrow_schema.names, ROW_ID, CREATED_AT, LAST_UPDATED_AT]
        wanted = filter if table.has_stable_row_ids else "false"
        return table.scanner(names, wanted).to_reader()

    def _ids(self, version: int) -> NDArray[np.uint64]:
        snapshot: Snapshot = self._table.at_version(version)
        if not snapshot.stable_row_ids:
            raise DeltaRefused(
                f"deleted row ids require stable row ids, version {version} does not use them"
            )
        projection = scan_projection(snapshot.schema(BlobHandling.DESCRIPTIONS), [], [ROW_ID])
        end = sum(rows.num_rows for rows in snapshot.fragments)
        batches = snapshot.scan(snapshot.fragments, projection, 1 << 16, 0, end)
        parts = [np.empty(0, np.uint64), *(batch.column(0).to_numpy() for batch in batches)]
        return np.concatenate(parts)
