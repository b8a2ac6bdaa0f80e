"""Evolution: columns of a dataset added, dropped, renamed, cast and merged in (face).

Has the names of pylance's `LanceDataset`. New columns go to files of their own beside those of each
fragment; dropping and renaming changes the schema only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa
from lanceref import operations
from lanceref.core.errors import EvolutionRefused, SchemaRefused
from lanceref.core.file_versions import V0_1, V2_0
from lanceref.file.schema import Field, LanceSchema, field_message, schema_of
from lanceref.proto import table_pb2
from lanceref.search.projection import scan_projection
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows
from lanceref.table.uncommitted_files import Draft
from lanceref.transactions.manifest_builder import Staged, storage_version_of
from lanceref.transactions.row_lineage import drop_idle_overlays

from pylanceref.input_rows import reader_of
from pylanceref.sql.columns import computed_columns, only_nulls
from pylanceref.sql.filter import condition
from pylanceref.table_handle import OpenTable
from pylanceref.udf import BatchUDF, mapped_by, values_of

if TYPE_CHECKING:
    from lanceref.operations.columns import Batches, ColumnSource


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
        null, QueryRefused for an expression that does not fit, CallerFailed for a function or a
        reader that fails, TypeError for a plain function that fails at once.
        """
        if isinstance(transforms, pa.Field):
            transforms = [transforms]
        if isinstance(transforms, pa.Schema | list):
            self._add_nulls(list(transforms))
        elif isinstance(transforms, Mapping):
            source = computed_columns(self._snapshot, transforms)
            schema = self._snapshot.schema(BlobHandling.BYTES).arrow
            is_early = storage_version_of(self._snapshot.manifest.message) == V0_1
            if only_nulls(transforms.values(), schema) and not is_early:
                self._add_nulls(list(source.schema))
            else:
                self._add(source)
        elif callable(transforms):
            self._add(mapped_by(self._snapshot, transforms, read_columns, batch_size))
            if isinstance(transforms, BatchUDF) and transforms.cache is not None:
                transforms.cache.cleanup()
        else:
            values = values_of(transforms, reader_schema)
            self._add(operations.columns.brought(self._snapshot, values, self._snapshot.fragments))

    def drop_columns(self, columns: Sequence[str]) -> None:
        """Drop columns, nested ones by path. Raises EvolutionRefused."""
        self._project(operations.schema_evolution.dropped(self._snapshot.manifest.schema, columns))

    def alter_columns(self, *alterations: AlterColumn) -> None:
        """Rename columns, let them be null or not, cast them. Raises EvolutionRefused."""
        schema, casts, tightened = self._snapshot.manifest.schema, {}, list[str]()
        for one in alterations:
            for key in one.keys() - AlterColumn.__annotations__.keys():
                raise ValueError(
                    f"Unknown key: {key}. Valid keys are name, nullable, and data_type."
                )
            if one.get("path") is None:
                raise ValueError("path is required")
            if not any(one.get(key) is not None for key in ("name", "nullable", "data_type")):
                raise ValueError("At least one of name, nullable, or data_type must be specified")
            field = operations.schema_evolution.find_field(
                self._snapshot.manifest.schema, one["path"]
            )
            if field is None:
                raise EvolutionRefused(
                    f'Invalid user input: Column "{one["path"]}" does not exist in the dataset'
                )
            if (name := one.get("name")) is not None:
                schema = operations.schema_evolution.edited(
                    schema, field.id, operations.schema_evolution.renamed(name)
                )
            if (nullable := one.get("nullable")) is not None:
                schema = operations.schema_evolution.edited(
                    schema, field.id, operations.schema_evolution.with_nullable(nullable)
                )
                if field.nullable and not nullable:
                    tightened.append(one["path"])
            if (wanted := one.get("data_type")) is not None:
                operations.schema_evolution.check_cast(one["path"], field.arrow.type, wanted)
                casts[field.id] = wanted
        _check_names(schema)
        self._check_no_nulls(tightened)
        if casts and tightened:
            raise EvolutionRefused(
                "cannot make a column non-nullable and cast columns in the same call: apply the "
                "changes in separate calls"
            )
        if casts:
            self._check_no_index(casts)
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
        self._add(operations.columns.joined(self._snapshot, right, left_on, key, "dataset"))

    def _add_nulls(self, fields: Sequence[pa.Field]) -> None:
        if storage_version_of(self._snapshot.manifest.message) == V0_1:
            raise EvolutionRefused("Cannot add all-null columns to legacy dataset version.")
        for field in fields:
            if not field.nullable:
                raise EvolutionRefused(
                    "Invalid user input: All-null columns must be nullable, but field "
                    f"'{field.name}' is not."
                )
        made = operations.columns.new_fields(self._snapshot, pa.schema(fields))
        fragments = [rows.fragment.message for rows in self._snapshot.fragments]
        self._merge(self._grown(made), fragments, Draft())

    def _may_be_null(self, schema: LanceSchema) -> bool:
        """Whether a field that may not be null was already there, and might not before either."""
        strict = {field.id for field in self._snapshot.manifest.schema.flat() if not field.nullable}
        return strict.issuperset(field.id for field in schema.flat() if not field.nullable)

    def _check_no_nulls(self, paths: Sequence[str]) -> None:
        """Raise EvolutionRefused for a column that holds a null."""
        for path in paths:
            wanted = condition(self._snapshot, f"{path} IS NULL")
            if any(len(wanted.positions(rows)) for rows in self._snapshot.fragments):
                raise EvolutionRefused(
                    f'Column "{path}" contains NULL values and cannot be made non-nullable'
                )

    def _check_no_index(self, casts: Mapping[int, pa.DataType]) -> None:
        """Raise EvolutionRefused for a column that an index is on: it would find other values."""
        entries = self._snapshot.manifest.indices
        names = [one.name for one in entries if not casts.keys().isdisjoint(one.fields)]
        if names:
            raise EvolutionRefused(
                "Cannot cast column(s) to a new type: they have index(es) attached: "
                f"{sorted(set(names))}. Drop the index(es) with drop_index() before altering"
            )

    def _cast(self, schema: LanceSchema, casts: Mapping[int, pa.DataType]) -> None:
        """Write columns in other types, under new ids; the old ones leave the schema."""
        old = self._snapshot.schema(BlobHandling.BYTES)
        number = operations.columns.next_field_id(self._snapshot)
        version, made_ids = storage_version_of(self._snapshot.manifest.message), set[int]()
        for field_id, type_ in casts.items():
            held = next(field for field in schema.flat() if field.id == field_id)
            if held.parent_id != -1 and version in (V0_1, V2_0):
                raise EvolutionRefused(f"nested column {held.name!r} cannot be cast in {version}")
            made = operations.schema_evolution.cast_field(schema, held, type_, number)
            number += len(list(made.flat()))
            made_ids.add(made.id)
            schema = operations.schema_evolution.edited(
                schema, field_id, operations.schema_evolution.replaced(made)
            )
        new = operations.schema_evolution.only(schema, made_ids)
        tops = [
            one
            for one in old.fields
            if not casts.keys().isdisjoint(operations.schema_evolution.ids_of(one))
        ]
        projection = scan_projection(old, [one.name for one in tops])

        def rows_of(rows: FragmentRows) -> Batches:
            for batch in operations.columns.all_rows(rows, projection):
                each = zip(batch.columns, tops, new.fields, strict=True)
                arrays = [
                    operations.schema_evolution.cast_within(column, top, one, casts)
                    for column, top, one in each
                ]
                yield pa.RecordBatch.from_arrays(arrays, names=[one.name for one in new.fields])

        with Draft() as draft:
            written = operations.columns.write_columns(self._snapshot, new, rows_of, draft)
            self._merge(schema, written, draft)

    def _add(self, source: ColumnSource) -> None:
        fields = operations.columns.new_fields(self._snapshot, source.schema)
        written = [rows.fragment.message for rows in self._snapshot.fragments]
        with Draft() as draft:
            if fields:
                new = LanceSchema(fields)
                written = operations.columns.write_columns(
                    self._snapshot, new, source.rows_of, draft
                )
            self._merge(self._grown(fields), written, draft)

    def _grown(self, fields: tuple[Field, ...]) -> LanceSchema:
        schema = self._snapshot.manifest.schema
        return replace(schema, fields=(*schema.fields, *fields))

    def _merge(
        self, schema: LanceSchema, fragments: Sequence[table_pb2.DataFragment], draft: Draft
    ) -> None:
        live = {field.id for field in schema.flat()}
        transaction = self._new_transaction()
        transaction.merge.schema.extend(field_message(field) for field in schema.flat())
        transaction.merge.preserves_nullability = self._may_be_null(schema)
        for fragment in fragments:
            kept = table_pb2.DataFragment()
            kept.CopyFrom(fragment)
            files = [file for file in fragment.files if not live.isdisjoint(file.fields)]
            del kept.files[:]
            kept.files.extend(files)
            drop_idle_overlays(kept, live)
            transaction.merge.fragments.append(kept)
        self._commit(Staged(transaction, schema, draft=draft))

    def _project(self, schema: LanceSchema) -> None:
        transaction = self._new_transaction()
        transaction.project.preserves_nullability = self._may_be_null(schema)
        transaction.project.schema.extend(field_message(field) for field in schema.flat())
        self._commit(Staged(transaction, schema))


def _check_names(schema: LanceSchema) -> None:
    """Raise EvolutionRefused for a name that two columns have."""
    try:
        schema_of(pa.schema([field.arrow for field in schema.fields]))
    except SchemaRefused as error:
        raise EvolutionRefused(str(error)) from error
