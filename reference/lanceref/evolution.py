"""Evolution: columns of a dataset added, dropped, renamed, cast and merged in (face).

Has the names of pylance's `LanceDataset`. New columns go to files of their own beside those of each
fragment; dropping and renaming changes the schema only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

import pyarrow as pa

from lanceref.edit.changed import as_column
from lanceref.edit.columns import (
    BATCH_ROWS,
    Batches,
    all_rows,
    next_field_id,
    numbered_fields,
    spread,
    write_columns,
)
from lanceref.edit.reshaped import check_cast, dropped, edited, find_field, renamed, with_nullable
from lanceref.errors import EvolutionRefused, QueryRefused, SchemaRefused
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_write import field_message, schema_message, schema_of
from lanceref.incoming import reader_of
from lanceref.opened import OpenTable
from lanceref.projection import Projection, scan_projection
from lanceref.proto import table_pb2
from lanceref.query.columns import bind_columns
from lanceref.snapshot import Snapshot
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows
from lanceref.txn.making import Staged


class AlterColumn(TypedDict, total=False):
    """What is to become of the column at a path."""

    path: str
    name: str | None
    nullable: bool | None
    data_type: pa.DataType | None


class Evolution(OpenTable):
    """What can be done to the columns of a dataset."""

    def add_columns(
        self,
        transforms: object,
        read_columns: Sequence[str] | None = None,
        reader_schema: pa.Schema | None = None,
        batch_size: int | None = None,
    ) -> None:
        """Add columns: computed in SQL, all null, by a function of batches, or from a reader.

        Raises EvolutionRefused for a name that is taken and for an all-null column that may not be
        null, QueryRefused for an expression that does not fit.
        """
        if isinstance(transforms, pa.Field):
            transforms = [transforms]
        if isinstance(transforms, pa.Schema | list):
            self._add_nulls(list(transforms))
        elif isinstance(transforms, Mapping):
            self._add_computed(transforms)
        elif callable(transforms):
            self._add_mapped(transforms, read_columns, batch_size or BATCH_ROWS)
        else:
            self._add_rows(reader_of(transforms, reader_schema))

    def drop_columns(self, columns: Sequence[str]) -> None:
        """Drop columns, nested ones by path. Raises EvolutionRefused."""
        self._project(dropped(self._snapshot.manifest.schema, columns))

    def alter_columns(self, *alterations: AlterColumn) -> None:
        """Rename columns, let them be null or not, cast them. Raises EvolutionRefused."""
        schema, casts = self._snapshot.manifest.schema, {}
        for one in alterations:
            if not any(one.get(key) is not None for key in ("name", "nullable", "data_type")):
                raise ValueError("At least one of name, nullable, or data_type must be specified")
            field = find_field(self._snapshot.manifest.schema, one["path"])
            if field is None:
                raise EvolutionRefused(f'Column "{one["path"]}" does not exist in the dataset')
            if (name := one.get("name")) is not None:
                schema = edited(schema, field.id, renamed(name))
            if (nullable := one.get("nullable")) is not None:
                schema = edited(schema, field.id, with_nullable(nullable))
            if (wanted := one.get("data_type")) is not None:
                check_cast(one["path"], field.arrow.type, wanted)
                casts[field.id] = wanted
        _check_names(schema)
        if casts:
            self._cast(schema, casts)
        else:
            self._project(schema)

    def merge(
        self,
        data_obj: object,
        left_on: str,
        right_on: str | None = None,
        schema: pa.Schema | None = None,
    ) -> None:
        """Add the columns of other rows, matched by a key; null where none is. Raises as above."""
        right = reader_of(data_obj, schema).read_all()
        key = left_on if right_on is None else right_on
        if key not in right.schema.names:
            raise EvolutionRefused(f"Column {key} does not exist in the right side fragment")
        if find_field(self._snapshot.manifest.schema, left_on) is None:
            raise EvolutionRefused(f"Column {left_on} does not exist in the left side fragment")
        values = right.drop_columns([key]).combine_chunks()
        places = {value: row for row, value in enumerate(right[key].to_pylist())}
        projection = scan_projection(self._snapshot.schema(BlobHandling.BYTES), [left_on])

        def rows_of(rows: FragmentRows) -> Batches:
            for batch in all_rows(self._snapshot, rows, projection):
                found = [places.get(value) for value in batch.column(0).to_pylist()]
                yield from values.take(pa.array(found, pa.int64())).to_batches()

        self._add(self._new_fields(values.schema, nullable=True), rows_of)

    def _add_nulls(self, fields: Sequence[pa.Field]) -> None:
        for field in fields:
            if not field.nullable:
                raise EvolutionRefused(
                    f"All-null columns must be nullable, but field '{field.name}' is not."
                )
        fragments = [rows.fragment.message for rows in self._snapshot.fragments]
        self._merge(self._grown(self._new_fields(pa.schema(fields))), fragments)

    def _add_computed(self, expressions: Mapping[str, str]) -> None:
        schema = self._snapshot.schema(BlobHandling.BYTES)
        try:
            computed = bind_columns(expressions, schema.arrow)
        except QueryRefused as error:
            raise EvolutionRefused(str(error)) from error
        names = [name for name in schema.arrow.names if name in computed.columns]
        projection = scan_projection(schema, names)

        def rows_of(rows: FragmentRows) -> Batches:
            return map(computed.batch, all_rows(self._snapshot, rows, projection))

        self._add(self._new_fields(computed.schema), rows_of)

    def _add_mapped(
        self,
        function: Callable[[pa.RecordBatch], pa.RecordBatch],
        columns: Sequence[str] | None,
        batch_size: int,
    ) -> None:
        snapshot = self._snapshot
        projection = scan_projection(snapshot.schema(BlobHandling.BYTES), columns)
        schema = getattr(function, "output_schema", None)
        if schema is None:
            batches = (
                b for rows in snapshot.fragments for b in all_rows(snapshot, rows, projection)
            )
            none = pa.RecordBatch.from_pylist([], schema=projection.schema)
            schema = function(next(batches, none)).schema

        def rows_of(rows: FragmentRows) -> Batches:
            return map(function, all_rows(snapshot, rows, projection, batch_size))

        self._add(self._new_fields(schema), rows_of)

    def _add_rows(self, reader: pa.RecordBatchReader) -> None:
        """Add the columns of a reader that has a row for each live row of the table."""
        values, start = reader.read_all().combine_chunks(), 0
        live = sum(rows.num_rows for rows in self._snapshot.fragments)
        if len(values) != live:
            raise EvolutionRefused(f"the reader has {len(values)} rows, the dataset {live}")

        def rows_of(rows: FragmentRows) -> Iterator[pa.RecordBatch]:
            nonlocal start
            own, start = values.slice(start, rows.num_rows), start + rows.num_rows
            arrays = [spread(rows, column.combine_chunks()) for column in own.columns]
            yield pa.RecordBatch.from_arrays(arrays, names=own.schema.names)

        self._add(self._new_fields(values.schema, nullable=True), rows_of)

    def _cast(self, schema: LanceSchema, casts: Mapping[int, pa.DataType]) -> None:
        """Write columns in other types, under new ids; the old ones leave the schema."""
        old = self._snapshot.schema(BlobHandling.BYTES)
        number, new, paths = next_field_id(self._snapshot), {}, {}
        for field_id, type_ in casts.items():
            held = next(field for field in schema.flat() if field.id == field_id)
            if held.parent_id != -1:
                raise EvolutionRefused(f"nested column {held.name!r} cannot be cast")
            draft = schema_of(pa.schema([pa.field(held.name, type_, held.nullable)])).fields[0]
            (made,) = numbered_fields([replace(draft, metadata=held.metadata)], number)
            number += len(list(made.flat()))
            new[field_id] = made
            paths[field_id] = next(one.name for one in old.fields if one.id == field_id)
        projection = scan_projection(old, [paths[field_id] for field_id in casts])

        def rows_of(rows: FragmentRows) -> Batches:
            for batch in all_rows(self._snapshot, rows, projection):
                pairs = zip(batch.columns, new.values(), strict=True)
                arrays = [as_column(column, field.arrow.type) for column, field in pairs]
                yield pa.RecordBatch.from_arrays(arrays, names=[f.name for f in new.values()])

        written = write_columns(self._snapshot, LanceSchema(tuple(new.values())), rows_of)
        fields = tuple(new.get(field.id, field) for field in schema.fields)
        self._merge(replace(schema, fields=fields), written)

    def _new_fields(self, schema: pa.Schema, *, nullable: bool = False) -> tuple[Field, ...]:
        """Return fields under new ids. Raises EvolutionRefused for a name that is taken."""
        taken = {field.name for field in self._snapshot.manifest.schema.fields}
        for name in schema.names:
            if name in taken:
                raise EvolutionRefused(f"Column {name} already exists in the dataset")
        if nullable:
            schema = pa.schema([field.with_nullable(True) for field in schema])
        return numbered_fields(schema_of(schema).fields, next_field_id(self._snapshot))

    def _add(self, fields: tuple[Field, ...], rows_of: Callable[[FragmentRows], Batches]) -> None:
        written = [rows.fragment.message for rows in self._snapshot.fragments]
        if fields:
            written = write_columns(self._snapshot, LanceSchema(fields), rows_of)
        self._merge(self._grown(fields), written)

    def _grown(self, fields: tuple[Field, ...]) -> LanceSchema:
        schema = self._snapshot.manifest.schema
        return replace(schema, fields=(*schema.fields, *fields))

    def _merge(self, schema: LanceSchema, fragments: Sequence[table_pb2.DataFragment]) -> None:
        live = {field.id for field in schema.flat()}
        transaction, written = self._new_transaction(), schema_message(schema)
        transaction.merge.schema.extend(written.fields)
        for key, value in written.metadata.items():
            transaction.merge.schema_metadata[key] = value
        for fragment in fragments:
            kept = table_pb2.DataFragment()
            kept.CopyFrom(fragment)
            files = [file for file in fragment.files if not live.isdisjoint(file.fields)]
            del kept.files[:]
            kept.files.extend(files)
            transaction.merge.fragments.append(kept)
        self._commit(Staged(transaction, schema))

    def _project(self, schema: LanceSchema) -> None:
        transaction = self._new_transaction()
        transaction.project.schema.extend(field_message(field) for field in schema.flat())
        self._commit(Staged(transaction, schema))


def _first_batch(snapshot: Snapshot, projection: Projection) -> pa.RecordBatch:
    """Return rows of the table, none where it has none."""
    for rows in snapshot.fragments:
        for batch in all_rows(snapshot, rows, projection):
            return batch
    return pa.RecordBatch.from_pylist([], schema=projection.schema)


def _check_names(schema: LanceSchema) -> None:
    """Raise EvolutionRefused for a name that two columns have."""
    try:
        schema_of(pa.schema([field.arrow for field in schema.fields]))
    except SchemaRefused as error:
        raise EvolutionRefused(str(error)) from error
