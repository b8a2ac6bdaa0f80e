"""Fragment: one fragment of a table (face).

Has the names of pylance's `LanceFragment`, as far as they read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import pyarrow as pa

from lanceref.errors import DataRefused
from lanceref.metadata import (
    DataFile,
    DeletionFile,
    FragmentMetadata,
    RowDatasetVersionMeta,
    RowIdMeta,
)
from lanceref.projection import take_projection
from lanceref.scanner import Columns, LanceScanner, ScanArguments, describe
from lanceref.snapshot import Snapshot, positions_of
from lanceref.table.deletions import deletion_path
from lanceref.table.fragments import ADDRESS_LIMIT
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows

if TYPE_CHECKING:
    from lanceref.target import Destination

__all__ = [
    "DataFile",
    "DeletionFile",
    "FragmentMetadata",
    "LanceFragment",
    "RowDatasetVersionMeta",
    "RowIdMeta",
    "write_fragments",
]


class LanceFragment:
    """One fragment of a dataset."""

    def __init__(self, snapshot: Snapshot, rows: FragmentRows) -> None:
        self._snapshot = snapshot
        self._rows = rows

    @staticmethod
    def create(
        dataset_uri: str | os.PathLike[str],
        data: object,
        fragment_id: int | None = None,
        schema: pa.Schema | None = None,
        max_rows_per_group: int | None = None,
        **kwargs: object,
    ) -> FragmentMetadata:
        """Write all rows as one fragment; `kwargs` as in `write_fragments`. Raises DataRefused."""
        fragments = write_fragments(
            data,
            dataset_uri,
            schema,
            max_rows_per_file=ADDRESS_LIMIT,
            max_rows_per_group=max_rows_per_group,
            **kwargs,
        )
        if not fragments:
            raise DataRefused("Input data was empty.")
        return replace(fragments[0], id=fragment_id or 0)

    @property
    def fragment_id(self) -> int:
        """Id of the fragment."""
        return self._rows.fragment.id

    @property
    def metadata(self) -> FragmentMetadata:
        """The fragment as the manifest lists it."""
        return FragmentMetadata.from_message(self._rows.fragment.message)

    @property
    def schema(self) -> pa.Schema:
        """Schema of the table."""
        return self._snapshot.arrow_schema

    @property
    def physical_rows(self) -> int:
        """Rows including the deleted ones."""
        return self._rows.columns.physical_rows

    @property
    def num_deletions(self) -> int:
        """Rows that are deleted."""
        return self._rows.fragment.num_deleted

    def count_rows(self, filter: object = None) -> int:
        """Return the rows that are not deleted and pass a filter."""
        return self.scanner([], filter).count_rows()

    def data_files(self) -> list[DataFile]:
        """Return the data files as the manifest lists them."""
        return [DataFile.from_message(entry) for entry in self._rows.fragment.message.files]

    def deletion_file(self) -> str | None:
        """Return the path of the deletion file below the root, None without one."""
        entry = self._rows.fragment.deletion_file
        if entry is None:
            return None
        return deletion_path(self.fragment_id, entry, self._rows.fragment.place)

    def scanner(
        self,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> LanceScanner:
        """Describe a scan of this fragment; see `scanner.describe`."""
        return describe(self._snapshot, [self._rows], columns, filter, limit, offset, arguments)

    def to_batches(
        self,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> Iterator[pa.RecordBatch]:
        """Yield the live rows in batches."""
        return self.scanner(columns, filter, limit, offset, **arguments).to_batches()

    def to_table(
        self,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> pa.Table:
        """Return the live rows."""
        return self.scanner(columns, filter, limit, offset, **arguments).to_table()

    def head(self, num_rows: int) -> pa.Table:
        """Return the first live rows."""
        return self.to_table(limit=num_rows)

    def take(self, indices: Sequence[int], columns: Sequence[str] | None = None) -> pa.Table:
        """Return live rows by their position in the fragment. Raises RowNotFound."""
        projection = take_projection(self._snapshot.schema(BlobHandling.DESCRIPTIONS), columns)
        alone = replace(self._snapshot, fragments=(self._rows,))
        return alone.take(positions_of(indices, self.count_rows()), projection)


def write_fragments(
    data: object, dataset_uri: Destination, schema: pa.Schema | None = None, **kwargs: object
) -> list[FragmentMetadata]:
    """Write rows for a later commit; `kwargs` as in `lanceref.write.write_fragments`."""
    from lanceref import write

    return write.write_fragments(data, dataset_uri, schema, **kwargs)  # type: ignore[arg-type]
