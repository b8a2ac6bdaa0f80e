"""Updates and deletes: rows taken out of their fragments, and read with new values.

A fragment that keeps rows gets a deletion file of all its deleted rows; one that keeps none is
removed.

An update of columns leaves the rows where they are: the values of some, found by a key, and those
of all others of the fragment go to a new file. A table gives the bytes of its blobs; a caller gives
for each its bytes or a URI, in a struct. Anywhere below structs the first become the second.

Clauses: L.txn.op.update, L.txn.op.delete, L.table.deletions.threshold, L.table.datafile.tombstone
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.blobs.descriptors import KEPT
from lanceref.core.arrow_buffers import whole
from lanceref.core.compute import pc
from lanceref.core.errors import EditFailed, QueryFailed, SchemaRefused
from lanceref.core.integers import union
from lanceref.file.schema import LanceSchema
from lanceref.operations import new_data
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.search.rows import Condition, Passed, read_passed
from lanceref.search.snapshot import Snapshot, scan_projection
from lanceref.storage.protocol import Draft
from lanceref.table.deletions import encode_bitmap, write_deletions
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows
from lanceref.transactions.fragment_operations import append_file
from lanceref.transactions.manifest_builder import copy_of

Positions = NDArray[np.int64]

RowSelection = list[tuple[FragmentRows, Positions]]
"""Fragments, and some of their live rows: positions, ascending."""


def select_rows(snapshot: Snapshot, condition: Condition | None) -> RowSelection:
    """Return the live rows that pass a condition, all of them without one."""
    if condition is None:
        return [(rows, np.arange(rows.num_rows)) for rows in snapshot.fragments]
    possible = condition.possible(snapshot.fragments)
    pairs = ((rows, condition.positions(rows)) for rows in possible)
    return [(rows, positions) for rows, positions in pairs if len(positions)]


@dataclass(slots=True)
class Removal:
    """What became of the fragments; `affected` are the offsets of the rows by fragment id."""

    updated: list[table_pb2.DataFragment] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    affected: dict[int, NDArray[np.int64]] = field(default_factory=dict)
    num_rows: int = 0


def remove(
    snapshot: Snapshot, chosen: Iterable[tuple[FragmentRows, Positions]], draft: Draft
) -> Removal:
    """Write the deletion files that take the rows out. Positions are (rows,)."""
    removal, store, version = Removal(), snapshot.store, snapshot.manifest.version
    for rows, positions in chosen:
        number, offsets = rows.fragment.id, rows.offsets(positions)
        removal.num_rows += len(positions)
        removal.affected[number] = offsets
        every = union(rows.deleted, offsets)
        if not len(offsets):
            removal.updated.append(rows.fragment.message)
        elif len(every) == rows.columns.physical_rows:
            removal.removed.append(number)
        else:
            fragment = copy_of(rows.fragment.message)
            as_bitmap = fragment.deletion_file.file_type == table_pb2.DeletionFile.BITMAP
            file = write_deletions(store, number, version, every, draft, as_bitmap=as_bitmap)
            fragment.deletion_file.CopyFrom(file)
            removal.updated.append(fragment)
    return removal


def put_update(
    transaction: Transaction,
    removal: Removal,
    new: Iterable[table_pb2.DataFragment],
    fields: Iterable[int],
) -> None:
    """Make a transaction an Update: rows taken out, others written, with values new in `fields`."""
    update = transaction.update
    update.updated_fragments.extend(removal.updated)
    update.removed_fragment_ids.extend(removal.removed)
    update.new_fragments.extend(new)
    update.fields_for_preserving_frag_bitmap.extend(fields)


Compute = Callable[[pa.RecordBatch], pa.Array]
"""Computes a value for each row of a batch."""


def _computed(compute: Compute, batch: pa.RecordBatch, type_: pa.DataType) -> pa.Array:
    """Return the new values of a column. Raises EditFailed for one it cannot hold."""
    try:
        return as_column(compute(batch), type_)
    except (QueryFailed, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise EditFailed(f"{error}") from error


def as_column(value: pa.Array | pa.Scalar, type_: pa.DataType) -> pa.Array | pa.Scalar:
    """Return values in the type of a column: fractions are cut, text is read as a number."""
    if value.type == type_:
        return value
    storage = type_.storage_type if isinstance(type_, pa.BaseExtensionType) else type_
    plain = storage.value_type if pa.types.is_dictionary(storage) else storage
    if pa.types.is_floating(value.type) and pa.types.is_integer(plain):
        value = pc.trunc(value)
    value = value.cast(plain)
    return value.cast(storage) if storage is not plain else value


def read_updated(
    snapshot: Snapshot, chosen: RowSelection, values: Mapping[str, Compute]
) -> tuple[Iterator[pa.RecordBatch], list[new_data.Ids]]:
    """Return the rows with their new values, and a list to which their ids are added meanwhile.

    Ids are (rows,). Reading the rows raises EditFailed for a value its column cannot hold.
    """
    schema = snapshot.schema(BlobHandling.KEPT)
    projection, types = scan_projection(schema, None, [ROW_ID]), schema.arrow
    ids: list[new_data.Ids] = []

    def stream() -> Iterator[pa.RecordBatch]:
        for rows, positions in chosen:
            for batch in read_passed(Passed(rows, positions), projection, new_data.BATCH_ROWS):
                ids.append(batch.column(ROW_ID).to_numpy())
                old = batch.drop_columns([ROW_ID])
                columns = {name: old.column(name) for name in old.schema.names}
                for name, compute in values.items():
                    columns[name] = _computed(compute, old, types.field(name).type)
                yield pa.RecordBatch.from_pydict(columns)

    return stream(), ids


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
    new_data.check_keys(snapshot, right.schema, left_on, right_on, "fragment")
    for name in names:
        if name in SYSTEM_COLUMNS:
            raise SchemaRefused(f"Column {name} is a metadata column and cannot be updated")
        if name not in snapshot.manifest.schema.arrow.names:
            raise SchemaRefused(
                f"Invalid user input: Column {name} in right side fragment does not exist in left "
                "side fragment"
            )
    places = {value: row for row, value in enumerate(new_data.key_values(right[right_on]))}
    schema = snapshot.schema(BlobHandling.KEPT)
    system = [left_on] if left_on in SYSTEM_COLUMNS else []
    projection = scan_projection(schema, [*names, *([] if system else [left_on])], system)
    batches = new_data.live_rows(snapshot, rows, projection)
    current = pa.Table.from_batches(batches, projection.schema)
    keys = new_data.key_values(current[left_on])
    chosen = pa.array(map(places.get, keys), pa.int64())
    values = replace_values(current, right.select(names), chosen)
    new_data.refuse_early_nulls(snapshot, values)
    with Draft() as draft:
        return write_values(snapshot, rows, values, chosen, draft)


def replace_values(current: pa.Table, right: pa.Table, chosen: pa.Array) -> pa.RecordBatch:
    """Return the columns of `right` for the live rows of a fragment: `current` are those so far.

    `chosen` is for each row that of `right` with its new values, null where they stay.
    """
    columns = []
    for name in right.schema.names:
        type_ = current.schema.field(name).type
        old, new_values = plain(current[name].combine_chunks()), plain(right[name].combine_chunks())
        new = as_column(blobs_as_stored(whole(new_values).take(chosen), old.type), old.type)
        values = pc.if_else(chosen.is_valid(), new, old)
        extended = isinstance(type_, pa.BaseExtensionType)
        columns.append(type_.wrap_array(values) if extended else values)
    return pa.RecordBatch.from_arrays(columns, names=right.schema.names)


def write_values(
    snapshot: Snapshot, rows: FragmentRows, values: pa.RecordBatch, chosen: pa.Array, draft: Draft
) -> ColumnUpdate:
    """Write columns for the live rows of a fragment; where `chosen` is null they are as before."""
    fields = {field.name: field for field in snapshot.manifest.schema.fields}
    schema = LanceSchema(tuple(fields[name] for name in values.schema.names))
    (written,) = new_data.write_columns(snapshot, schema, lambda _: iter([values]), draft, [rows])
    file, fragment = written.files[-1], copy_of(rows.fragment.message)
    append_file(fragment, file)
    changed = rows.offsets(np.flatnonzero(np.asarray(chosen.is_valid())))
    ids = list(file.fields)
    if file.column_indices:  # in 0.1 all fields have a column
        ids = [one for one, at in zip(ids, file.column_indices, strict=True) if at >= 0]
    return ColumnUpdate(fragment, ids, encode_bitmap(changed))


def plain(array: pa.Array) -> pa.Array:
    """Return the values without extension types, at any depth below structs."""
    if isinstance(array, pa.ExtensionArray):
        return plain(array.storage)
    if not pa.types.is_struct(array.type):
        return array
    children = [plain(array.field(number)) for number in range(array.type.num_fields)]
    return _struct(array, children, array.type)


def blobs_as_stored(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Return the values a caller gives under the type of a table's that are written again.

    Values that have no blobs stay as they are. `values` has no extension types.
    """
    if not pa.types.is_struct(type_):
        return values
    if type_ == KEPT and not pa.types.is_struct(values.type):  # bytes
        values = _struct(values, [values], pa.struct({"data": values.type}))
    columns = {child.name: values.field(number) for number, child in enumerate(values.type)}
    nulls = {child.name: pa.nulls(len(values), child.type) for child in type_}
    columns = {**nulls, **columns}
    children = [blobs_as_stored(columns[child.name], child.type) for child in type_]
    return _struct(values, children, type_)


def _struct(like: pa.Array, children: list[pa.Array], type_: pa.DataType) -> pa.Array:
    """Return a struct with the nulls of another array and the names of a type."""
    fields = [child.with_type(array.type) for child, array in zip(type_, children, strict=True)]
    return pa.StructArray.from_arrays(children, fields=fields, mask=like.is_null())
