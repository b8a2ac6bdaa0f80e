"""Columns added, dropped, renamed, relaxed or cast: the transaction of each such change.

New columns go to files of their own beside those of each fragment (a Merge); dropping and renaming
change the schema only (a Project). A cast column is a new one, and the old one leaves the schema.

Clauses: L.txn.op.merge, L.txn.op.project
Divergences: D.table.nested-cast-2-0
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

import pyarrow as pa

from lanceref.core.errors import SchemaRefused
from lanceref.core.file_versions import V0_1, V2_0
from lanceref.file.arrow_schema import schema_of
from lanceref.file.schema import Field, LanceSchema, field_message
from lanceref.operations import columns
from lanceref.operations import schema_evolution as evolve
from lanceref.operations.columns import Batches, ColumnSource
from lanceref.proto import table_pb2
from lanceref.search.projection import scan_projection
from lanceref.search.snapshot import Snapshot
from lanceref.storage.protocol import Draft
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows
from lanceref.transactions.fragment_operations import drop_idle_files
from lanceref.transactions.manifest_builder import Staged, copy_of, storage_version_of
from lanceref.transactions.transaction import new_transaction


class AlterColumn(TypedDict, total=False):
    """What is to become of the column at a path."""

    path: str
    name: str | None
    nullable: bool | None
    data_type: pa.DataType | None


def add_columns(snapshot: Snapshot, source: ColumnSource, draft: Draft) -> Staged:
    """Write the values of new columns. Raises SchemaRefused for a name that is taken."""
    fields = columns.new_fields(snapshot, source.schema)
    written = [rows.fragment.message for rows in snapshot.fragments]
    if fields:
        written = columns.write_columns(snapshot, LanceSchema(fields), source.rows_of, draft)
    return _merged(snapshot, _grown(snapshot, fields), written, draft)


def add_null_columns(snapshot: Snapshot, fields: Iterable[pa.Field]) -> Staged:
    """Add columns without any value, which need no file. Raises SchemaRefused."""
    if storage_version_of(snapshot.manifest.message) == V0_1:
        raise SchemaRefused("Cannot add all-null columns to legacy dataset version.")
    schema = pa.schema(fields)
    for one in schema:
        if not one.nullable:
            raise SchemaRefused(f"All-null columns must be nullable: '{one.name}'")
    fragments = [rows.fragment.message for rows in snapshot.fragments]
    grown = _grown(snapshot, columns.new_fields(snapshot, schema))
    return _merged(snapshot, grown, fragments, Draft())


def drop_columns(snapshot: Snapshot, paths: Collection[str]) -> Staged:
    """Drop columns, nested ones by path. Raises SchemaRefused."""
    return _projected(snapshot, evolve.drop_fields(snapshot.manifest.schema, paths))


def alter_columns(
    snapshot: Snapshot,
    alterations: Sequence[AlterColumn],
    has_nulls: Callable[[str], bool],
    draft: Draft,
) -> Staged:
    """Rename columns, let them be null or not, cast them; `has_nulls` looks at one, by its path.

    Raises SchemaRefused, ValueError for an alteration that says nothing.
    """
    known = schema = snapshot.manifest.schema
    casts: dict[int, pa.DataType] = {}
    tightened = []
    for one in alterations:
        path, held = _altered_field(known, one)
        nullable, wanted = one.get("nullable"), one.get("data_type")
        edit = evolve.altering(one.get("name"), nullable)
        schema = evolve.edit_field(schema, held.id, edit)
        tightened += [path] if held.nullable and nullable is False else []
        if wanted is not None:
            evolve.check_cast(path, held.arrow.type, wanted)
            casts[held.id] = wanted
    schema_of(pa.schema([one.arrow for one in schema.fields]))  # no two columns have one name
    for path in tightened:
        if has_nulls(path):
            raise SchemaRefused(f"Column {path} contains NULL values")
    if casts and tightened:
        raise SchemaRefused("cannot make non-nullable and cast in the same call")
    if not casts:
        return _projected(snapshot, schema)
    indexed = [one for one in snapshot.manifest.indices if casts.keys() & set(one.fields)]
    if indexed:  # they would find other values
        names = sorted({one.name for one in indexed})
        raise SchemaRefused(f"Cannot cast column(s): drop their index(es) {names} before")
    return _cast(snapshot, schema, casts, draft)


def _altered_field(known: LanceSchema, one: AlterColumn) -> tuple[str, Field]:
    """Return the path and the field of an alteration. Raises SchemaRefused, ValueError."""
    for key in one.keys() - AlterColumn.__annotations__.keys():
        raise ValueError(f"Unknown key: {key}")
    path = one.get("path")
    if path is None:
        raise ValueError("path is required")
    if not any(one.get(key) is not None for key in ("name", "nullable", "data_type")):
        raise ValueError("At least one of name, nullable, or data_type must be specified")
    held = evolve.find_field(known, path)
    if held is None:
        raise SchemaRefused(f'Column "{path}" does not exist in the dataset')
    return path, held


def _cast(
    snapshot: Snapshot, schema: LanceSchema, casts: Mapping[int, pa.DataType], draft: Draft
) -> Staged:
    """Write columns in other types, under new ids; the old ones leave the schema."""
    old, number = snapshot.schema(BlobHandling.BYTES), columns.next_field_id(snapshot)
    version, made_ids = storage_version_of(snapshot.manifest.message), set[int]()
    for field_id, type_ in casts.items():
        held = next(one for one in schema.flat() if one.id == field_id)
        if held.parent_id != -1 and version in (V0_1, V2_0):
            raise SchemaRefused(f"nested column {held.name!r} cannot be cast in {version}")
        made = evolve.cast_field(schema, held, type_, number)
        number += len(list(made.flat()))
        made_ids.add(made.id)
        schema = evolve.edit_field(schema, field_id, evolve.replacing(made))
    new = evolve.keep_fields(schema, made_ids)
    tops = [one for one in old.fields if not casts.keys().isdisjoint(evolve.ids_of(one))]
    projection = scan_projection(old, [one.name for one in tops])

    def rows_of(rows: FragmentRows) -> Batches:
        for batch in columns.all_rows(rows, projection):
            each = zip(batch.columns, tops, new.fields, strict=True)
            arrays = [evolve.cast_within(column, top, one, casts) for column, top, one in each]
            yield pa.RecordBatch.from_arrays(arrays, names=[one.name for one in new.fields])

    return _merged(snapshot, schema, columns.write_columns(snapshot, new, rows_of, draft), draft)


def _grown(snapshot: Snapshot, fields: tuple[Field, ...]) -> LanceSchema:
    schema = snapshot.manifest.schema
    return replace(schema, fields=(*schema.fields, *fields))


def _preserves_nullability(snapshot: Snapshot, schema: LanceSchema) -> bool:
    """Whether a field that may not be null was already there, and might not before either."""
    strict = {one.id for one in snapshot.manifest.schema.flat() if not one.nullable}
    return strict.issuperset(one.id for one in schema.flat() if not one.nullable)


def _merged(
    snapshot: Snapshot,
    schema: LanceSchema,
    fragments: Sequence[table_pb2.DataFragment],
    draft: Draft,
) -> Staged:
    """Return a Merge: fragments without the files of which no field is left."""
    live = {one.id for one in schema.flat()}
    transaction = new_transaction(snapshot.manifest.version)
    transaction.merge.schema.extend(field_message(one) for one in schema.flat())
    transaction.merge.preserves_nullability = _preserves_nullability(snapshot, schema)
    for fragment in fragments:
        kept = copy_of(fragment)
        drop_idle_files(kept, live)
        transaction.merge.fragments.append(kept)
    return Staged(transaction, schema, draft=draft)


def _projected(snapshot: Snapshot, schema: LanceSchema) -> Staged:
    """Return a Project: another schema over the same files."""
    transaction = new_transaction(snapshot.manifest.version)
    transaction.project.preserves_nullability = _preserves_nullability(snapshot, schema)
    transaction.project.schema.extend(field_message(one) for one in schema.flat())
    return Staged(transaction, schema)
