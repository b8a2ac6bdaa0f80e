"""Update of columns: new values for some rows of a fragment, by a key; the others keep theirs.

The columns go to a new file of the fragment, with all its rows.

Clauses: L.txn.op.update, L.table.datafile.tombstone

Blobs of a table among those of a caller: both under one type.

A table gives the bytes of its blobs; who hands over others says for each its bytes or a URI, in a
struct. Anywhere below structs the first become the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.core.errors import EvolutionRefused
from lanceref.core.file_versions import V0_1
from lanceref.core.integers import difference
from lanceref.core.nesting import whole
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
from lanceref.table.deletions import encode_bitmap
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows
from lanceref.table.uncommitted_files import Draft
from lanceref.transactions.fragment_operations import put_beside
from lanceref.transactions.manifest_builder import storage_version_of

DATA = "data"
"""Child of the struct that holds the bytes."""


def plain(array: pa.Array) -> pa.Array:
    """Return the values without extension types, at any depth below structs."""
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if not pa.types.is_struct(array.type):
        return array
    children = [plain(array.field(number)) for number in range(array.type.num_fields)]
    return _struct(array, children, array.type)


def among(held: pa.Array, given: pa.DataType) -> pa.Array:
    """Return the values of a table under the type of those a caller gives, where that has blobs.

    Other values stay as they are. `given` has no extension types.
    """
    if not pa.types.is_struct(given):
        return held
    if not pa.types.is_struct(held.type):
        return _blobs(held, given)
    types = {child.name: child.type for child in given}
    names = [child.name for child in held.type]
    children = [
        among(held.field(number), types[name]) if name in types else held.field(number)
        for number, name in enumerate(names)
    ]
    return _struct(held, children, held.type)


def has_blobs(held: pa.DataType, given: pa.DataType) -> bool:
    """Whether bytes stand in a table where a caller gives structs."""
    if not pa.types.is_struct(given):
        return False
    if not pa.types.is_struct(held):
        return True
    types = {child.name: child.type for child in given}
    return any(has_blobs(child.type, types[child.name]) for child in held if child.name in types)


def _blobs(held: pa.Array, given: pa.DataType) -> pa.Array:
    """Return bytes as rows that give bytes."""
    children = [
        held.cast(child.type) if child.name == DATA else pa.nulls(len(held), child.type)
        for child in given
    ]
    return _struct(held, children, given)


def _struct(like: pa.Array, children: list[pa.Array], type_: pa.DataType) -> pa.Array:
    """Return a struct with the nulls of another array and the names of a type."""
    fields = [child.with_type(array.type) for child, array in zip(type_, children, strict=True)]
    return pa.StructArray.from_arrays(children, fields=fields, mask=like.is_null())


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

    Raises EvolutionRefused for columns or keys that are not there, and for a null that the file
    version cannot hold.
    """
    names = [name for name in right.schema.names if name != right_on]
    _check(snapshot, right, left_on, right_on, names)
    places = {value: row for row, value in enumerate(key_values(right[right_on]))}
    schema = snapshot.schema(BlobHandling.BYTES)
    system = [left_on] if left_on in SYSTEM_COLUMNS else []
    own = scan_projection(schema, [*names, *([] if system else [left_on])], system)
    batches = list(all_rows(snapshot, rows, own))
    held = pa.Table.from_batches(batches, schema=own.schema)
    found = [places.get(value) for value in key_values(held[left_on])]
    chosen = pa.array(found, pa.int64())
    values = put_in(held, right.select(names), chosen)
    if storage_version_of(snapshot.manifest.message) == V0_1:
        refuse_early_nulls(values)
    with Draft() as draft:
        return write_values(snapshot, rows, values, chosen, draft)


def put_in(held: pa.Table, right: pa.Table, chosen: pa.Array) -> pa.RecordBatch:
    """Return the columns of `right` for all rows of a fragment, whose values are `held` so far.

    `chosen` is for each row that of `right` with its new values, null where they stay.
    """
    names, hits = right.schema.names, pc.is_valid(chosen)
    columns = []
    for name in names:
        type_ = held.schema.field(name).type
        old, given = plain(held[name].combine_chunks()), plain(right[name].combine_chunks())
        if has_blobs(old.type, given.type):
            old = among(old, given.type)
        new = as_column(whole(given).take(chosen), old.type)
        values = pc.if_else(hits, new, old)
        extended = isinstance(type_, pa.BaseExtensionType)
        columns.append(type_.wrap_array(values) if extended else values)
    return pa.RecordBatch.from_arrays(columns, names=names)


def write_values(
    snapshot: Snapshot, rows: FragmentRows, values: pa.RecordBatch, chosen: pa.Array, draft: Draft
) -> ColumnUpdate:
    """Write columns for all rows of a fragment; those whose `chosen` is null are as they were."""
    names = values.schema.names
    fields = tuple(
        next(one for one in snapshot.manifest.schema.fields if one.name == name) for name in names
    )
    kept = LanceSchema(fields)
    (written,) = write_columns(snapshot, kept, lambda _: iter([values]), draft, [rows])
    fragment = table_pb2.DataFragment()
    fragment.CopyFrom(rows.fragment.message)
    put_beside(fragment, written.files[-1])
    live = difference(np.flatnonzero(np.asarray(pc.is_valid(chosen))), rows.deleted)
    return ColumnUpdate(fragment, _with_column(written.files[-1]), encode_bitmap(live))


def _with_column(file: table_pb2.DataFile) -> list[int]:
    """Return the ids of the fields that have a column in a file; in 0.1 all have."""
    if not file.column_indices:
        return list(file.fields)
    return [one for one, index in zip(file.fields, file.column_indices, strict=True) if index >= 0]


def _check(
    snapshot: Snapshot, right: pa.Table, left_on: str, right_on: str, names: list[str]
) -> None:
    known = snapshot.manifest.schema.arrow.names
    check_keys(snapshot, right.schema, left_on, right_on, "fragment")
    for name in names:
        if name in SYSTEM_COLUMNS:
            raise EvolutionRefused(f"Column {name} is a metadata column and cannot be updated")
        if name not in known:
            raise EvolutionRefused(
                f"Invalid user input: Column {name} in right side fragment does not exist in left "
                "side fragment"
            )
