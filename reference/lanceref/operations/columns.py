"""New columns of a table: a file for each fragment, of as many rows as the fragment has.

Deleted rows count too: a column's file has a value for each of them.

Clauses: L.txn.op.merge, L.table.fragments.rows, L.table.datafile.lookup
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from lanceref.core.errors import EvolutionRefused
from lanceref.core.nesting import whole
from lanceref.file.schema import Field, LanceSchema, numbered, schema_of
from lanceref.operations.new_rows import MAX_FRAGMENT_ROWS, write_rows_as
from lanceref.proto import table_pb2
from lanceref.search.projection import Projection
from lanceref.search.snapshot import Snapshot
from lanceref.table.bases import Bases
from lanceref.table.rows import FragmentRows
from lanceref.table.uncommitted_files import Draft

BATCH_ROWS = 8192

Batches = Iterator[pa.RecordBatch]


def with_deleted(snapshot: Snapshot, rows: FragmentRows) -> FragmentRows:
    """Return the rows of a fragment, deleted ones included."""
    message = table_pb2.DataFragment()
    message.CopyFrom(rows.fragment.message)
    message.ClearField("deletion_file")
    bases = Bases(snapshot.store, snapshot.manifest)
    fragment = replace(rows.fragment, message=message)
    return FragmentRows(fragment, bases, snapshot.ctx, snapshot.stable_row_ids)


def all_rows(
    snapshot: Snapshot, rows: FragmentRows, projection: Projection, batch_size: int = BATCH_ROWS
) -> Batches:
    """Yield the rows of a fragment, deleted ones included."""
    every = with_deleted(snapshot, rows)
    end = every.columns.physical_rows
    for count, arrays in every.scan(projection.fields, projection.system, batch_size, 0, end):
        yield projection.batch(count, arrays)


def spread(rows: FragmentRows, values: pa.Array) -> pa.Array:
    """Return values of the live rows, and the first of them, or null, for each deleted one."""
    if len(values) == rows.columns.stated_rows:
        return values  # none is deleted
    places = np.zeros(rows.columns.physical_rows, np.int64)
    places[rows.offsets(np.arange(len(values)))] = np.arange(len(values))
    if not len(values):
        return pa.nulls(len(places), values.type)
    return whole(values).take(pa.array(places))


def next_field_id(snapshot: Snapshot) -> int:
    """Return the first field id that neither the schema nor a file uses or ever used."""
    manifest = snapshot.manifest
    if manifest.message.HasField("max_allocated_field_id"):
        return int(manifest.message.max_allocated_field_id) + 1
    ids = [field.id for field in manifest.schema.flat()]
    files = (file for fragment in manifest.message.fragments for file in fragment.files)
    return max([*ids, *(number for file in files for number in file.fields)], default=-1) + 1


def numbered_fields(drafts: Sequence[Field], first: int) -> tuple[Field, ...]:
    """Return fields under ids of their own from `first` on, depth first."""
    ids = iter(range(first, 2**31 - 1))
    return tuple(numbered(_unnumbered(draft), -1, ids) for draft in drafts)


def new_fields(snapshot: Snapshot, schema: pa.Schema) -> tuple[Field, ...]:
    """Return fields under new ids. Raises EvolutionRefused for a name that is taken."""
    taken = {field.name: field.arrow.type for field in snapshot.manifest.schema.fields}
    for name, type_ in zip(schema.names, schema.types, strict=True):
        if name in taken and taken[name] != type_:
            raise EvolutionRefused(
                f"Type conflicts between {name}({taken[name]}) and {name}({type_})"
            )
        if name in taken:
            raise EvolutionRefused(
                f"Invalid user input: Column {name} already exists in the dataset"
            )
    return numbered_fields(schema_of(schema).fields, next_field_id(snapshot))


def _unnumbered(field: Field) -> Field:
    return replace(field, id=-1, children=tuple(map(_unnumbered, field.children)))


def write_columns(
    snapshot: Snapshot,
    schema: LanceSchema,
    rows_of: Callable[[FragmentRows], Batches],
    draft: Draft,
    fragments: Sequence[FragmentRows] | None = None,
) -> list[table_pb2.DataFragment]:
    """Write columns for fragments, by default all, and return them with the new files.

    `rows_of` gives as many rows of the columns of `schema` as the fragment has, deleted ones
    included.
    """
    made = []
    for rows in snapshot.fragments if fragments is None else fragments:
        new = write_rows_as(snapshot, schema, rows_of(rows), draft, max_rows=MAX_FRAGMENT_ROWS)
        fragment = table_pb2.DataFragment()
        fragment.CopyFrom(rows.fragment.message)
        for one in new.fragments:
            fragment.files.extend(one.files)
        made.append(fragment)
    return made
