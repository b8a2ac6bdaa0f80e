"""Reading a fragment: its rows scanned, taken and counted (face).

Has the names of pylance's `LanceFragment`.

Fragment session: rows of the same columns of a fragment, taken again and again (face).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import pyarrow as pa
from lanceref.search.snapshot import Snapshot, positions_of
from lanceref.table.deletions import deletion_path
from lanceref.table.rows import ROW_ADDRESS, FragmentRows

from pylanceref.metadata import DataFile, FragmentMetadata
from pylanceref.scan_arguments import Columns, ScanArguments, describe, split_arguments
from pylanceref.scanner import LanceScanner
from pylanceref.signatures import parameters
from pylanceref.sql.columns import take_columns

if TYPE_CHECKING:
    import pandas as pd


Take = Callable[[Sequence[int] | pa.Array, Columns], pa.Table]
"""Takes rows of a fragment by their positions, with the columns that are named."""


class FragmentSession:
    """Takes rows of the same columns of a fragment."""

    def __init__(
        self, take: Take, names: Sequence[str], columns: Columns, with_address: bool
    ) -> None:
        """Take all `names` where no columns are given."""
        self._take = take
        self._columns: Columns = names if columns is None else columns
        if with_address and isinstance(self._columns, Mapping):
            self._columns = {**self._columns, ROW_ADDRESS: ROW_ADDRESS}
        elif with_address:
            self._columns = [*self._columns, ROW_ADDRESS]

    def take(self, indices: Sequence[int] | pa.Array) -> pa.Table:
        """Return live rows by their position in the fragment. Raises RowNotFound."""
        return self._take(indices, self._columns)


class FragmentReading:
    """What a fragment reads."""

    _snapshot: Snapshot
    _rows: FragmentRows

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
        return self._rows.columns.bounded_rows

    @property
    def num_deletions(self) -> int:
        """Rows that are deleted."""
        return self._rows.num_deleted

    def count_rows(self, filter: object = None) -> int:
        """Return the rows that are not deleted and pass a filter."""
        return self.scanner(columns=[], filter=filter).count_rows()

    def data_files(self) -> list[DataFile]:
        """Return the data files as the manifest lists them."""
        return [DataFile.from_message(entry) for entry in self._rows.fragment.message.files]

    def deletion_file(self) -> str | None:
        """Return the path of the deletion file below the root, None without one."""
        entry = self._rows.fragment.deletion_file
        if entry is None:
            return None
        return deletion_path(self.fragment_id, entry, self._rows.fragment.place)

    @parameters(
        "self * columns batch_size filter limit offset with_row_id with_row_address "
        "batch_readahead blob_handling order_by use_scalar_index io_buffer_size "
        "late_materialization include_deleted_rows batch_size_bytes strict_batch_size",
        with_row_id=False,
        with_row_address=False,
        batch_readahead=16,
    )
    def scanner(
        self,
        *,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> LanceScanner:
        """Describe a scan of this fragment; see `scan_arguments.describe`."""
        return describe(self._snapshot, [self._rows], columns, filter, limit, offset, arguments)

    @parameters(
        "self * columns batch_size filter limit offset with_row_id with_row_address "
        "batch_readahead blob_handling order_by use_scalar_index io_buffer_size "
        "late_materialization include_deleted_rows batch_size_bytes strict_batch_size",
        with_row_id=False,
        with_row_address=False,
        batch_readahead=16,
    )
    def to_batches(
        self,
        *,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> Iterator[pa.RecordBatch]:
        """Yield the live rows in batches."""
        scanner = describe(self._snapshot, [self._rows], columns, filter, limit, offset, arguments)
        return scanner.to_batches()

    @parameters(
        "self columns filter limit offset with_row_id with_row_address blob_handling order_by "
        "use_scalar_index io_buffer_size late_materialization include_deleted_rows "
        "batch_size_bytes strict_batch_size",
        with_row_id=False,
        with_row_address=False,
    )
    def to_table(
        self,
        columns: Columns = None,
        filter: object = None,
        limit: int | None = None,
        offset: int | None = None,
        **arguments: Unpack[ScanArguments],
    ) -> pa.Table:
        """Return the live rows."""
        scanner = describe(self._snapshot, [self._rows], columns, filter, limit, offset, arguments)
        return scanner.to_table()

    def head(self, num_rows: int) -> pa.Table:
        """Return the first live rows."""
        return self.to_table(limit=num_rows)

    @parameters(
        "self columns filter limit offset batch_size with_row_id with_row_address "
        "order_by **kwargs",
        with_row_id=False,
        with_row_address=False,
    )
    def to_pandas(self, columns: Columns = None, **arguments: object) -> pd.DataFrame:
        """Return the live rows as a data frame; arguments that no scan has are those of pyarrow."""
        scan, others = split_arguments(arguments)
        scanner = self.scanner(columns=columns, **scan)  # type: ignore[arg-type]
        return scanner.to_pandas(**others)

    def open_session(
        self, columns: Columns = None, with_row_address: bool | None = None
    ) -> FragmentSession:
        """Return what takes rows of the same columns again and again."""
        return FragmentSession(self.take, self.schema.names, columns, bool(with_row_address))

    def take(self, indices: Sequence[int] | pa.Array, columns: Columns = None) -> pa.Table:
        """Return live rows by their position in the fragment. Raises RowNotFound."""
        alone = replace(self._snapshot, fragments=(self._rows,))
        return take_columns(alone, positions_of(indices, self.count_rows()), columns)
