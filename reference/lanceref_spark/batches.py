"""Batches: values in the types that Spark wants, and in those that a table has.

Spark compares the first batch of a reader with the declared schema, and not the later ones; so
every batch is brought to one schema. Nothing is rounded: a value that does not fit is an error,
but for what is finer than microseconds, where `types` has let go of that.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import DataRefused
from lanceref.file.schema_view import from_start

from lanceref_spark.types import LISTS, is_any, is_bfloat16


def fitted(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of `schema` out of a batch, by name, in its types.

    Raises DataRefused for a value that the type does not hold, and for a null where none may be.
    """
    columns = []
    for field in schema:
        number = batch.schema.get_field_index(field.name)
        column = converted(batch.column(number), batch.schema.field(number), field)
        if column.null_count and not field.nullable:
            raise DataRefused(f"column {field.name!r} holds nulls, and may not")
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def converted(array: pa.Array, source: pa.Field, target: pa.Field) -> pa.Array:
    """Return an array of the field `source` in the type of the field `target`."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    wanted = target.type
    if isinstance(wanted, pa.BaseExtensionType):
        stored = converted(array, source, target.with_type(wanted.storage_type))
        return pa.ExtensionArray.from_storage(wanted, stored)
    if is_bfloat16(source) != is_bfloat16(target):
        return _from_bfloat16(array) if is_bfloat16(source) else _to_bfloat16(array)
    if array.type == wanted:
        return array
    if pa.types.is_dictionary(array.type):
        return converted(array.dictionary_decode(), source.with_type(array.type.value_type), target)
    if pa.types.is_dictionary(wanted):
        plain = converted(array, source, target.with_type(wanted.value_type))
        return plain.dictionary_encode().cast(wanted)
    if is_any(wanted, LISTS):
        return _list(array, wanted)
    if pa.types.is_struct(wanted):
        return _struct(array, wanted)
    if pa.types.is_map(wanted):
        return _map(array, wanted)
    return _cast(array, wanted)


def _from_bfloat16(array: pa.Array) -> pa.Array:
    start = 2 * array.offset
    data = array.buffers()[1][start : start + 2 * len(array)]
    floats = np.frombuffer(data, ml_dtypes.bfloat16).astype(np.float32)
    return pa.array(floats, mask=array.is_null().to_numpy(zero_copy_only=False))


def _to_bfloat16(array: pa.Array) -> pa.Array:
    floats = array.fill_null(0).to_numpy(zero_copy_only=False).astype(ml_dtypes.bfloat16)
    whole = pa.Array.from_buffers(pa.binary(2), len(array), [None, pa.py_buffer(floats.tobytes())])
    return pc.if_else(array.is_valid(), whole, pa.scalar(None, pa.binary(2)))


def _cast(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Cast plain values; times go by way of the integer that has their width."""
    is_time = pa.types.is_time(array.type) or pa.types.is_time(wanted)
    if is_time and array.type.bit_width != wanted.bit_width:
        integer = pa.int32() if pa.types.is_time32(wanted) else array.type
        array = array.cast(pa.int32() if pa.types.is_time32(array.type) else integer)
    is_fine = pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type)
    try:
        return array.cast(wanted, safe=not (is_fine and array.type.unit == "ns"))
    except pa.ArrowInvalid as error:
        raise DataRefused(f"a value of {array.type} is no {wanted}: {error}") from error


def _list(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    array = from_start(array)
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    values = converted(array.flatten(), array.type.value_field, wanted.value_field)
    nulls = array.is_null() if array.null_count else None
    if pa.types.is_fixed_size_list(wanted):
        return _fixed(values, lengths, nulls, wanted)
    large = pa.types.is_large_list(wanted)
    ends = np.concatenate([[0], np.cumsum(lengths.to_numpy(zero_copy_only=False))])
    offsets = pa.array(ends, pa.int64() if large else pa.int32())
    made = pa.LargeListArray if large else pa.ListArray
    return made.from_arrays(offsets, values, type=wanted, mask=nulls)


def _fixed(
    values: pa.Array, lengths: pa.Array, nulls: pa.Array | None, wanted: pa.DataType
) -> pa.Array:
    """Put the items of lists, all of one length, into lists of a fixed size."""
    size, sizes = wanted.list_size, lengths.to_numpy(zero_copy_only=False)
    absent = np.zeros(len(sizes), bool) if nulls is None else nulls.to_numpy(zero_copy_only=False)
    if (sizes[~absent] != size).any():
        odd = sizes[~absent][sizes[~absent] != size][0]
        raise DataRefused(f"a list of {odd} items is no {wanted}")
    if nulls is None:
        return pa.FixedSizeListArray.from_arrays(values, type=wanted)
    items = np.full((len(sizes), size), -1, np.int64)
    items[~absent] = np.arange(len(values)).reshape(-1, size)
    picks = pa.array(items.ravel(), mask=items.ravel() < 0)
    return pa.FixedSizeListArray.from_arrays(values.take(picks), type=wanted, mask=nulls)


def _struct(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    fields = [wanted.field(number) for number in range(wanted.num_fields)]
    children = [
        converted(array.field(number), array.type.field(number), field)
        for number, field in enumerate(fields)
    ]
    nulls = array.is_null() if array.null_count else None
    if not children:
        return _cast(array, wanted)
    return pa.StructArray.from_arrays(children, fields=fields, mask=nulls)


def _map(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    array = from_start(array)
    keys = converted(array.keys, array.type.key_field, wanted.key_field)
    items = converted(array.items, array.type.item_field, wanted.item_field)
    nulls = array.is_null() if array.null_count else None
    return pa.MapArray.from_arrays(array.offsets, keys, items, type=wanted, mask=nulls)
