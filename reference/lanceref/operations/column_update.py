"""Update of columns: new values for some rows of a fragment, by a key; the others keep theirs.

The columns go to a new file of the fragment, with all its rows. A table gives the bytes of its
blobs; a caller gives for each its bytes or a URI, in a struct. Anywhere below structs the first
become the second.

Clauses: L.txn.op.update, L.table.datafile.tombstone
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.core.arrow_buffers import whole
from lanceref.core.compute import pc
from lanceref.core.errors import SchemaRefused
from lanceref.core.integers import difference
from lanceref.file.schema import LanceSchema
from lanceref.operations.columns import (
    all_rows,
    check_keys,
    key_values,
    refuse_early_nulls,
    write_columns,
)
from lanceref.operations.update import as_column
from lanceref.proto import table_pb2
from lanceref.search.projection import scan_projection
from lanceref.search.snapshot import Snapshot
from lanceref.storage.protocol import Draft
from lanceref.table.deletions import encode_bitmap
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows
from lanceref.transactions.fragment_operations import put_beside
from lanceref.transactions.manifest_builder import copy_of

DATA = "data"
"""Child of the struct of a blob that holds the bytes."""


@dataclass(frozen=True, slots=True)
class ColumnUpdate:
    """The fragment with its new file, the ids of the columns, and the rows as a bitmap."""

    fragment: table_pb2.DataFragment
    fields: list[int]
    offsets: bytes


def update_columns(
    snapshot: Snapshot, rows: FragmentRows, right: pa.Table, left_on: str, right_on: str
) -> ColumnUpdate:
    """Write the columns of `right` for the rows of a fragment whose key is in it.

    Raises SchemaRefused for columns or keys that are not there, and for a null that the file
    version cannot hold.
    """
    names = [name for name in right.schema.names if name != right_on]
    check_keys(snapshot, right.schema, left_on, right_on, "fragment")
    for name in names:
        if name in SYSTEM_COLUMNS:
            raise SchemaRefused(f"Column {name} is a metadata column and cannot be updated")
        if name not in snapshot.manifest.schema.arrow.names:
            raise SchemaRefused(
                f"Invalid user input: Column {name} in right side fragment does not exist in left "
                "side fragment"
            )
    places = {value: row for row, value in enumerate(key_values(right[right_on]))}
    schema = snapshot.schema(BlobHandling.BYTES)
    system = [left_on] if left_on in SYSTEM_COLUMNS else []
    projection = scan_projection(schema, [*names, *([] if system else [left_on])], system)
    held = pa.Table.from_batches(all_rows(rows, projection), schema=projection.schema)
    chosen = pa.array([places.get(value) for value in key_values(held[left_on])], pa.int64())
    values = replace_values(held, right.select(names), chosen)
    refuse_early_nulls(snapshot, values)
    with Draft() as draft:
        return write_values(snapshot, rows, values, chosen, draft)


def replace_values(held: pa.Table, right: pa.Table, chosen: pa.Array) -> pa.RecordBatch:
    """Return the columns of `right` for all rows of a fragment, whose values are `held` so far.

    `chosen` is for each row that of `right` with its new values, null where they stay.
    """
    columns = []
    for name in right.schema.names:
        type_ = held.schema.field(name).type
        old, given = plain(held[name].combine_chunks()), plain(right[name].combine_chunks())
        old = blobs_as_structs(old, given.type)
        new = as_column(whole(given).take(chosen), old.type)
        values = pc.if_else(pc.is_valid(chosen), new, old)
        extended = isinstance(type_, pa.BaseExtensionType)
        columns.append(type_.wrap_array(values) if extended else values)
    return pa.RecordBatch.from_arrays(columns, names=right.schema.names)


def write_values(
    snapshot: Snapshot, rows: FragmentRows, values: pa.RecordBatch, chosen: pa.Array, draft: Draft
) -> ColumnUpdate:
    """Write columns for all rows of a fragment; those whose `chosen` is null are as they were."""
    fields = {field.name: field for field in snapshot.manifest.schema.fields}
    schema = LanceSchema(tuple(fields[name] for name in values.schema.names))
    (written,) = write_columns(snapshot, schema, lambda _: iter([values]), draft, [rows])
    file, fragment = written.files[-1], copy_of(rows.fragment.message)
    put_beside(fragment, file)
    live = difference(np.flatnonzero(np.asarray(pc.is_valid(chosen))), rows.deleted)
    ids = list(file.fields)
    if file.column_indices:  # in 0.1 all fields have a column
        ids = [one for one, at in zip(ids, file.column_indices, strict=True) if at >= 0]
    return ColumnUpdate(fragment, ids, encode_bitmap(live))


def plain(array: pa.Array) -> pa.Array:
    """Return the values without extension types, at any depth below structs."""
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if not pa.types.is_struct(array.type):
        return array
    children = [plain(array.field(number)) for number in range(array.type.num_fields)]
    return _struct(array, children, array.type)


def blobs_as_structs(held: pa.Array, given: pa.DataType) -> pa.Array:
    """Return the values of a table under the type of those a caller gives, where that has blobs.

    Other values stay as they are. `given` has no extension types.
    """
    if not pa.types.is_struct(given):
        return held
    if not pa.types.is_struct(held.type):  # bytes
        children = [
            held.cast(child.type) if child.name == DATA else pa.nulls(len(held), child.type)
            for child in given
        ]
        return _struct(held, children, given)
    types = {child.name: child.type for child in given}
    children = [
        blobs_as_structs(held.field(child.name), types.get(child.name, child.type))
        for child in held.type
    ]
    return _struct(held, children, held.type)


def _struct(like: pa.Array, children: list[pa.Array], type_: pa.DataType) -> pa.Array:
    """Return a struct with the nulls of another array and the names of a type."""
    fields = [child.with_type(array.type) for child, array in zip(type_, children, strict=True)]
    return pa.StructArray.from_arrays(children, fields=fields, mask=like.is_null())
