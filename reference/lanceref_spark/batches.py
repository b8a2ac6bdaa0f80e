"""Batches: conversion of values between the types of Spark and those of a table.

Spark compares only the first batch of a reader with the declared schema, so that every batch is
converted to it. Nothing is rounded: a value that does not fit is an error, except nanoseconds that
`types` truncates to microseconds.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc
from lanceref.core.errors import DataRefused
from lanceref.file.schema_view import from_start

from lanceref_spark.types import LISTS, is_any, is_bfloat16


def fit_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the columns of `schema` of a batch, by name, converted to its types.

    Raises DataRefused for a value that does not fit the type, or a null in a non-nullable column.
    """
    columns = []
    for field in schema:
        number = batch.schema.get_field_index(field.name)
        column = convert(batch.column(number), batch.schema.field(number), field)
        if column.null_count and not field.nullable:
            raise DataRefused(f"column {field.name!r} holds nulls, and may not")
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def convert(array: pa.Array, source: pa.Field, target: pa.Field) -> pa.Array:
    """Return an array of the field `source` in the type of the field `target`."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    target_type = target.type
    if isinstance(target_type, pa.BaseExtensionType):
        stored = convert(array, source, target.with_type(target_type.storage_type))
        return pa.ExtensionArray.from_storage(target_type, stored)
    if is_bfloat16(source) != is_bfloat16(target):
        return _from_bfloat16(array) if is_bfloat16(source) else _to_bfloat16(array)
    if array.type == target_type:
        return array
    if pa.types.is_dictionary(array.type):
        return convert(array.dictionary_decode(), source.with_type(array.type.value_type), target)
    if pa.types.is_dictionary(target_type):
        plain = convert(array, source, target.with_type(target_type.value_type))
        return plain.dictionary_encode().cast(target_type)
    if is_any(target_type, LISTS):
        return _list(array, target_type)
    if pa.types.is_struct(target_type):
        return _struct(array, target_type)
    if pa.types.is_map(target_type):
        return _map(array, target_type)
    return _cast(array, target_type)


def _from_bfloat16(array: pa.Array) -> pa.Array:
    start = 2 * array.offset
    data = array.buffers()[1][start : start + 2 * len(array)]
    floats = np.frombuffer(data, ml_dtypes.bfloat16).astype(np.float32)
    return pa.array(floats, mask=array.is_null().to_numpy(zero_copy_only=False))


def _to_bfloat16(array: pa.Array) -> pa.Array:
    floats = array.fill_null(0).to_numpy(zero_copy_only=False).astype(ml_dtypes.bfloat16)
    whole = pa.Array.from_buffers(pa.binary(2), len(array), [None, pa.py_buffer(floats.tobytes())])
    return pc.if_else(array.is_valid(), whole, pa.scalar(None, pa.binary(2)))


def _cast(array: pa.Array, target_type: pa.DataType) -> pa.Array:
    """Cast primitive values; times are cast by the integer of their width."""
    is_time = pa.types.is_time(array.type) or pa.types.is_time(target_type)
    if is_time and array.type.bit_width != target_type.bit_width:
        integer = pa.int32() if pa.types.is_time32(target_type) else array.type
        array = array.cast(pa.int32() if pa.types.is_time32(array.type) else integer)
    is_fine = pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type)
    try:
        return array.cast(target_type, safe=not (is_fine and array.type.unit == "ns"))
    except pa.ArrowInvalid as error:
        raise DataRefused(f"a value of {array.type} is no {target_type}: {error}") from error


def _list(array: pa.Array, target_type: pa.DataType) -> pa.Array:
    array = from_start(array)
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    values = convert(array.flatten(), array.type.value_field, target_type.value_field)
    nulls = array.is_null() if array.null_count else None
    if pa.types.is_fixed_size_list(target_type):
        return _fixed(values, lengths, nulls, target_type)
    large = pa.types.is_large_list(target_type)
    ends = np.concatenate([[0], np.cumsum(lengths.to_numpy(zero_copy_only=False))])
    offsets = pa.array(ends, pa.int64() if large else pa.int32())
    list_class = pa.LargeListArray if large else pa.ListArray
    return list_class.from_arrays(offsets, values, type=target_type, mask=nulls)


def _fixed(
    values: pa.Array, lengths: pa.Array, nulls: pa.Array | None, target_type: pa.DataType
) -> pa.Array:
    """Convert lists of equal length to lists of a fixed size."""
    size, sizes = target_type.list_size, lengths.to_numpy(zero_copy_only=False)
    absent = np.zeros(len(sizes), bool) if nulls is None else nulls.to_numpy(zero_copy_only=False)
    if (sizes[~absent] != size).any():
        other = sizes[~absent][sizes[~absent] != size][0]
        raise DataRefused(f"a list of {other} items is no {target_type}")
    if nulls is None:
        return pa.FixedSizeListArray.from_arrays(values, type=target_type)
    items = np.full((len(sizes), size), -1, np.int64)
    items[~absent] = np.arange(len(values)).reshape(-1, size)
    picks = pa.array(items.ravel(), mask=items.ravel() < 0)
    return pa.FixedSizeListArray.from_arrays(values.take(picks), type=target_type, mask=nulls)


def _struct(array: pa.Array, target_type: pa.DataType) -> pa.Array:
    fields = [target_type.field(number) for number in range(target_type.num_fields)]
    children = [
        convert(array.field(number), array.type.field(number), field)
        for number, field in enumerate(fields)
    ]
    nulls = array.is_null() if array.null_count else None
    if not children:
        return _cast(array, target_type)
    return pa.StructArray.from_arrays(children, fields=fields, mask=nulls)


def _map(array: pa.Array, target_type: pa.DataType) -> pa.Array:
    array = from_start(array)
    keys = convert(array.keys, array.type.key_field, target_type.key_field)
    items = convert(array.items, array.type.item_field, target_type.item_field)
    nulls = array.is_null() if array.null_count else None
    return pa.MapArray.from_arrays(array.offsets, keys, items, type=target_type, mask=nulls)
