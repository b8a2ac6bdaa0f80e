"""Plain columns: what DataFusion sees of the columns of a table.

Extension types become their storage and metadata is left out. A column of geometries has a second
one beside it, the same values as well-known binary, which functions over geometries read.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import pyarrow as pa
from lanceref.core.compute import pc

from pylanceref.sql.geometry_functions import BINARY_OF, binary_of_column
from pylanceref.sql.rewriting import extension_of

GEOMETRY = "geoarrow."
"""Begins the extension names of geometries."""

ALIGNMENT = 16
"""Bytes of the widest values that DataFusion reads at once: decimals."""


@lru_cache(64)
def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the columns of a schema without extension types and metadata."""
    fields = [pa.field(one.name, plain_type(one.type), one.nullable) for one in schema]
    fields += [
        pa.field(BINARY_OF + one.name, pa.binary())
        for one in schema
        if extension_of(one).startswith(GEOMETRY)
    ]
    return pa.schema(fields)


@lru_cache(64)
def named_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the second columns of geometries, and with its metadata."""
    names = [name for name in plain_schema(schema).names if name not in schema.names]
    return pa.schema([*schema, *(pa.field(name, pa.binary()) for name in names)], schema.metadata)


def plain_type(type_: pa.DataType) -> pa.DataType:
    """Return a type without extension types, at any depth."""
    if isinstance(type_, pa.BaseExtensionType):
        return plain_type(type_.storage_type)
    types = pa.types
    if types.is_struct(type_):
        fields = [type_.field(number) for number in range(type_.num_fields)]
        return pa.struct([_plain_field(field) for field in fields])
    if types.is_map(type_):
        return type_
    if types.is_fixed_size_list(type_):
        return pa.list_(_plain_field(type_.value_field), type_.list_size)
    if types.is_large_list(type_):
        return pa.large_list(_plain_field(type_.value_field))
    return pa.list_(_plain_field(type_.value_field)) if types.is_list(type_) else type_


def _plain_field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, plain_type(field.type), field.nullable)


def _nulls_below(array: pa.Array) -> pa.Array:
    """Return structs whose fields are null where they are: DataFusion reads a field as stored."""
    if not pa.types.is_struct(array.type) or not array.null_count:
        return array
    fields = [array.type.field(number) for number in range(array.type.num_fields)]
    parts = [_nulls_below(pc.struct_field(array, [at])) for at in range(len(fields))]
    free = [field.with_nullable(True) for field in fields]
    return pa.StructArray.from_arrays(parts, fields=free, mask=array.is_null())


def _aligned(array: pa.Array) -> pa.Array:
    """Return an array whose values begin where a processor may read them; pages begin anywhere."""
    if any(one is not None and one.address % ALIGNMENT for one in array.buffers()):
        return array.take(pa.array(np.arange(len(array))))
    return array


def plain_batch(batch: pa.RecordBatch, names: Iterable[str]) -> pa.RecordBatch:
    """Return columns of a batch without extension types. Raises QueryFailed for no geometry."""
    arrays, fields = [], []
    for name in names:
        source = name.removeprefix(BINARY_OF)
        field, array = batch.schema.field(source), batch.column(source)
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if name != source:
            arrays.append(binary_of_column(array, extension_of(field)))
            fields.append(pa.field(name, pa.binary()))
            continue
        type_ = plain_type(array.type)
        plain = array if array.type == type_ else array.cast(type_)
        arrays.append(_aligned(_nulls_below(plain)))
        fields.append(pa.field(name, arrays[-1].type, field.nullable))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
