"""Fragment: one fragment of a table (face of `lance.fragment`)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, Unpack

import pyarrow as pa
from lanceref import operations
from lanceref.core.errors import DataRefused
from lanceref.file import schema as core
from lanceref.search.snapshot import positions_of
from lanceref.storage.protocol import Draft
from lanceref.table.deletions import deletion_path
from lanceref.table.fragments import ADDRESS_LIMIT
from lanceref.table.lineage import ROW_ID
from lanceref.table.rows import ROW_ADDRESS, FragmentRows

from pylanceref.late_names import late_names
from pylanceref.metadata import (
    DataFile,
    DeletionFile,
    FragmentMetadata,
    RowDatasetVersionMeta,
    RowIdMeta,
)
from pylanceref.progress import FragmentWriteProgress, Reporter
from pylanceref.scan_arguments import SCAN_ARGUMENTS, Columns, ScanArguments, describe
from pylanceref.scanner import LanceScanner
from pylanceref.schema import LanceSchema
from pylanceref.sql.columns import take_columns
from pylanceref.sql.filters import condition
from pylanceref.table_handle import OpenTable
from pylanceref.types import reader_of
from pylanceref.udf import BatchUDF, new_columns
from pylanceref.write import write_files, write_fragments

if TYPE_CHECKING:
    import pandas as pd
    from lanceref.operations.new_data import ColumnSource

__all__ = ["DataFile", "DeletionFile", "FragmentMetadata", "FragmentSession"]
__all__ += ["FragmentWriteProgress", "LanceFragment"]
__all__ += ["RowDatasetVersionMeta", "RowIdMeta", "write_fragments"]

__getattr__ = late_names(__name__, {}, "RowIdSequence")


class LanceFragment:
    """One fragment of a dataset: some of its rows, and their files."""

    def __init__(self, dataset: OpenTable, fragment_id: int) -> None:
        self._snapshot, self._ds = dataset._snapshot, dataset
        (self._rows,) = dataset.fragment_rows([fragment_id])

    @classmethod
    def of(cls, dataset: OpenTable, rows: FragmentRows) -> Self:
        """Return the fragment of rows of a table."""
        made = cls.__new__(cls)
        made._snapshot, made._ds, made._rows = dataset._snapshot, dataset, rows
        return made

    def __repr__(self) -> str:
        files = [file.path for file in self._rows.fragment.files]
        return f"LanceFileFragment(id={self.fragment_id}, data_files={files})"

    def __reduce__(self) -> tuple[type[LanceFragment], tuple[OpenTable, int]]:
        return LanceFragment, (self._ds, self.fragment_id)

    @property
    def fragment_id(self) -> int:
        """The id of the fragment, unique in the table."""
        return self._rows.fragment.id

    @property
    def metadata(self) -> FragmentMetadata:
        """The fragment as the manifest lists it."""
        return FragmentMetadata.from_message(self._rows.fragment.message)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the table that the fragment belongs to."""
        return self._snapshot.arrow_schema

    @property
    def physical_rows(self) -> int:
        """Number of rows in the files, deleted ones included."""
        return self._rows.columns.bounded_rows

    @property
    def num_deletions(self) -> int:
        """Number of rows of the fragment that are deleted."""
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

    def scanner(self, **arguments: Unpack[ScanArguments]) -> LanceScanner:
        """Describe a scan of this fragment; see `scan_arguments.describe`."""
        return describe(self._snapshot, [self._rows], arguments)

    def to_batches(self, **arguments: Unpack[ScanArguments]) -> Iterator[pa.RecordBatch]:
        """Yield the live rows of the fragment in batches."""
        return self.scanner(**arguments).to_batches()

    def to_table(
        self, columns: Columns = None, filter: object = None, **arguments: object
    ) -> pa.Table:
        """Return the live rows of the fragment as a table; `arguments` as in `scanner`."""
        return self.scanner(columns=columns, filter=filter, **arguments).to_table()  # type: ignore[arg-type]

    def to_pandas(
        self, columns: Columns = None, filter: object = None, **arguments: object
    ) -> pd.DataFrame:
        """Return the live rows as a data frame; arguments that no scan has are those of pyarrow."""
        others = {name: arguments.pop(name) for name in arguments.keys() - SCAN_ARGUMENTS}
        return self.scanner(columns=columns, filter=filter, **arguments).to_pandas(**others)  # type: ignore[arg-type]

    def head(self, num_rows: int) -> pa.Table:
        """Return the first `num_rows` live rows of the fragment."""
        return self.to_table(limit=num_rows)

    def open_session(
        self, columns: Columns = None, with_row_address: bool | None = None
    ) -> FragmentSession:
        """Return what takes rows of the same columns again and again."""
        chosen = self.schema.names if columns is None else columns
        more = {ROW_ADDRESS: ROW_ADDRESS} if with_row_address else {}
        named = {**chosen, **more} if isinstance(chosen, Mapping) else [*chosen, *more]
        return FragmentSession(self, named)

    def take(self, indices: Sequence[int] | pa.Array, columns: Columns = None) -> pa.Table:
        """Return live rows by their position in the fragment. Raises RowNotFound."""
        positions = positions_of(indices, self.count_rows()) + self._rows.rows_before
        return take_columns(self._snapshot, positions, columns)

    @staticmethod
    def create_from_file(filename: str, dataset: OpenTable, fragment_id: int) -> FragmentMetadata:
        """Describe a data file as a fragment. Raises NotFound, SchemaRefused."""
        entry, rows = operations.new_data.external_file(dataset._snapshot, filename, whole=True)
        return FragmentMetadata(fragment_id, [DataFile.from_message(entry)], rows)

    @staticmethod
    def create(
        dataset_uri: str | os.PathLike[str],
        data: object,
        fragment_id: int | None = None,
        schema: pa.Schema | None = None,
        max_rows_per_group: int | None = 1024,
        **kwargs: object,
    ) -> FragmentMetadata:
        """Write all rows as one fragment; `kwargs` as in `write_files`. Raises DataRefused."""
        progress = kwargs.get("progress")
        if isinstance(progress, FragmentWriteProgress):
            kwargs["progress"] = Reporter(progress, fragment_id or 0)
        sizes = {"max_rows_per_file": ADDRESS_LIMIT, "max_rows_per_group": max_rows_per_group}
        _, (*_, new) = write_files(data, dataset_uri, schema, **sizes, **kwargs)  # type: ignore[arg-type]
        if not new.fragments:
            raise DataRefused("Input data was empty.")
        return replace(FragmentMetadata.from_message(new.fragments[0]), id=fragment_id or 0)

    def delete(self, predicate: object) -> FragmentMetadata | None:
        """Take out the rows that pass a filter; None when none is left. Raises QueryRefused."""
        positions = condition(self._snapshot, predicate).positions(self._rows)
        with Draft() as draft:
            removal = operations.update.remove(self._snapshot, [(self._rows, positions)], draft)
        return None if removal.removed else FragmentMetadata.from_message(removal.updated[0])

    def merge_columns(
        self,
        value_func: object,
        columns: Sequence[str] | None = None,
        batch_size: int | None = None,
        reader_schema: pa.Schema | None = None,
    ) -> tuple[FragmentMetadata, LanceSchema]:
        """Add columns: in SQL, by a function of batches, or from a reader. Raises ValueError."""
        if isinstance(value_func, BatchUDF) and value_func.cache is not None:
            raise ValueError("A checkpoint file cannot be used for a single fragment")
        arguments = value_func, columns, batch_size, reader_schema, [self._rows]
        return self._with(new_columns(self._snapshot, *arguments))

    def merge(
        self,
        data_obj: object,
        left_on: str,
        right_on: str | None = None,
        schema: pa.Schema | None = None,
    ) -> tuple[FragmentMetadata, LanceSchema]:
        """Add the columns of other rows, matched by a key; null where none is."""
        right, keys = reader_of(data_obj, schema).read_all(), (left_on, right_on or left_on)
        return self._with(
            operations.new_data.joined_source(self._snapshot, right, *keys, "fragment")
        )

    def _with(self, source: ColumnSource) -> tuple[FragmentMetadata, LanceSchema]:
        write, schema = operations.new_data.write_columns, self._snapshot.manifest.schema
        fields = operations.new_data.new_fields(self._snapshot, source.schema)
        with Draft() as draft:
            new = core.LanceSchema(fields)
            (made,) = write(self._snapshot, new, source.rows_of, draft, [self._rows])
        grown = replace(schema, fields=(*schema.fields, *fields))
        return FragmentMetadata.from_message(made), LanceSchema(grown)

    def update_columns(
        self,
        data_obj: object,
        left_on: str = ROW_ID,
        right_on: str | None = None,
        schema: pa.Schema | None = None,
    ) -> tuple[FragmentMetadata, list[int]]:
        """Give columns new values where other rows have the key; return the ids of the columns."""
        right, keys = reader_of(data_obj, schema).read_all(), (left_on, right_on or left_on)
        made = operations.update.update_columns(self._snapshot, self._rows, right, *keys)
        return FragmentMetadata.from_message(made.fragment), made.fields


@dataclass(frozen=True)
class FragmentSession:
    """Takes rows of the same columns of a fragment."""

    fragment: LanceFragment
    columns: Columns

    def take(self, indices: Sequence[int] | pa.Array) -> pa.Table:
        """Return live rows by their position in the fragment. Raises RowNotFound."""
        return self.fragment.take(indices, self.columns)
