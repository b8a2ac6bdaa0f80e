"""Blob descriptors: what a data file holds in place of blobs of the second kind.

Rows of such a field come as bytes or references; a descriptor says where the bytes lie. The caller
says how rows become descriptors; rows that are prepared hold their own description, and only their
inline bytes are still to be stored.

Layout of a descriptor: u8 kind, u64 position, u64 size, u32 blob id, utf8 blob uri, one packed
column under the id of the field. Layout of a prepared row: u8 kind, large_binary data (inline),
utf8 uri, u32 blob_id, u64 blob_size, u64 position.

Clauses: L.blob.kind, L.blob.range

Divergences: D.file.blob-v2-descriptor-ids
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lanceref.core.arrow_buffers import children_of, from_start, mapped, type_over
from lanceref.core.errors import DataRefused
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import DataArea
from lanceref.file.schema import DESCRIPTOR_METADATA, Field, LanceSchema

_PARTS = {"kind": pa.uint8(), "position": pa.uint64(), "size": pa.uint64()}
_PARTS |= {"blob_id": pa.uint32(), "blob_uri": pa.utf8()}

BLOB_DESCRIPTOR = pa.struct([pa.field(name, type_, False) for name, type_ in _PARTS.items()])
"""What the data file holds, and what a table shows."""

INLINE, PACKED, DEDICATED, EXTERNAL, MANAGED, OF_BASE = range(6)
"""Where a blob lies."""

PREPARED = pa.struct(
    {"kind": pa.uint8(), "data": pa.large_binary(), "uri": pa.utf8(), "blob_id": pa.uint32()}
    | {"blob_size": pa.uint64(), "position": pa.uint64()}
)
"""Rows whose blobs are stored already, all but the inline ones."""

_FIELDS = tuple(
    replace(part, id=-1, parent_id=-1) for part in schema_of(pa.schema(BLOB_DESCRIPTOR)).fields
)
"""The fields of a descriptor, which have no ids."""


class Descriptor(NamedTuple):
    """The place of one blob: its file, its position and its size."""

    kind: int
    position: int
    size: int
    blob_id: int = 0
    uri: str = ""


Describe = Callable[[pa.Array, Field], Iterable[Descriptor | None]]
"""Stores the rows of a blob field and yields where they lie, None for a null."""


def sidecar_path(data_file: str, number: int) -> str:
    """Return the path of the file of a blob id, beside the data file it belongs to."""
    digits = f"{number:032b}"[::-1]
    return f"{data_file.removesuffix('.lance')}/{digits}.blob"


def holds_blobs(field: Field) -> bool:
    """Whether a field of the second kind is at or below this one."""
    return any(below.is_blob_v2 for below in field.flat())


def descriptor_field(field: Field) -> Field:
    """Return a blob field as a data file has it."""
    arrow = pa.field(field.name, BLOB_DESCRIPTOR, field.nullable, DESCRIPTOR_METADATA)
    return replace(field, children=_FIELDS, arrow=arrow, metadata=DESCRIPTOR_METADATA)


def described_schema(schema: LanceSchema) -> LanceSchema:
    """Return the schema of a data file: descriptors in place of blobs."""
    return replace(schema, fields=tuple(map(_described_field, schema.fields)))


def _described_field(field: Field) -> Field:
    if field.is_blob_v2:
        return descriptor_field(field)
    if not holds_blobs(field):
        return field
    children = tuple(map(_described_field, field.children))
    type_ = type_over(field.arrow.type, [child.arrow for child in children])
    return replace(field, children=children, arrow=field.arrow.with_type(type_))


def described(batch: pa.RecordBatch, schema: LanceSchema, describe: Describe) -> pa.RecordBatch:
    """Return a batch with descriptors in place of blobs. Raises DataRefused for what is none."""
    arrays, fields = [], []
    for field in schema.fields:
        index = batch.schema.get_field_index(field.name)
        if index >= 0:  # a missing one is found by the file writer
            arrays.append(_described(batch.column(index), field, describe))
            fields.append(_over(batch.schema.field(index), field, arrays[-1]))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _described(array: pa.Array, field: Field, describe: Describe) -> pa.Array:
    if not holds_blobs(field):
        return array
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if field.is_blob_v2:
        return _array(list(describe(from_start(array), field)))
    if pa.types.is_struct(array.type):  # below null structs null, so that nothing is stored
        parts, fields = array.flatten(), list(array.type)
        array = pa.StructArray.from_arrays(parts, fields=fields, mask=array.is_null())
    else:
        array = from_start(array)
    pairs = zip(children_of(array), field.children, strict=True)
    below = [_described(child, own, describe) for child, own in pairs]
    given = [array.type.field(number) for number in range(len(below))]
    fields = list(map(_over, given, field.children, below))
    return mapped(array, type_over(array.type, fields), lambda number, _: below[number])


def _over(given: pa.Field, field: Field, array: pa.Array) -> pa.Field:
    return descriptor_field(field).arrow if field.is_blob_v2 else given.with_type(array.type)


def _array(rows: list[Descriptor | None]) -> pa.Array:
    nothing, fields = Descriptor(INLINE, 0, 0), list(BLOB_DESCRIPTOR)
    columns = zip(*[row or nothing for row in rows], strict=True) if rows else [()] * len(fields)
    children = [pa.array(list(one), field.type) for one, field in zip(columns, fields, strict=True)]
    missing = pa.array(np.array([row is None for row in rows], bool))
    return pa.StructArray.from_arrays(children, fields=fields, mask=missing)


def prepared(array: pa.Array, field: Field, data: DataArea) -> Iterator[Descriptor | None]:
    """Store the inline bytes of prepared rows; yield where each blob lies.

    Raises DataRefused for rows that are not prepared, and for kinds a file cannot hold.
    """
    if array.type != PREPARED:
        raise DataRefused("Blob v2 encoder expected prepared array layout, got logical layout")
    names = ("kind", "blob_size", "position", "blob_id", "uri")
    for number, row in enumerate(array):
        if not row.is_valid:
            yield None
            continue
        kind, size, position, blob_id, uri = (row[name].as_py() for name in names)
        if kind == INLINE:
            bytes_ = row["data"].as_buffer() or b""
            yield Descriptor(INLINE, data.write(bytes_).offset, len(bytes_))
        elif kind in (PACKED, DEDICATED, EXTERNAL, MANAGED, OF_BASE):
            yield Descriptor(kind, position or 0, size or 0, blob_id or 0, uri or "")
        else:
            raise DataRefused(f"blob field '{field.name}' row {number}: kind {kind}")
