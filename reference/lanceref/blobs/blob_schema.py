"""Blob schema: how the blob fields of incoming rows are declared in a table.

From 2.2 on a table has blobs of the second kind only, so that a field of the first kind, or one
whose rows are descriptors already, is declared as one.

Layout of a declared field: a struct under the extension name `lance.blob.v2` of `data` and `uri`,
with `position` and `size` where the rows may have them.
"""

from __future__ import annotations

import pyarrow as pa

from lanceref.core.errors import DataRefused, LegacyRefused
from lanceref.core.file_versions import V2_2, FileVersion
from lanceref.core.logical_types import EXTENSION_KEY, storage_of
from lanceref.core.nesting import type_over
from lanceref.data_file.descriptors import PREPARED
from lanceref.file.schema import BLOB_EXTENSION

BLOB_KEY = "lance-encoding:blob"
"""Metadata of a field of the first kind."""

SHORT = pa.struct([("data", pa.large_binary()), ("uri", pa.utf8())])
LONG = pa.struct([*SHORT, pa.field("position", pa.uint64()), pa.field("size", pa.uint64())])


def declared_schema(schema: pa.Schema, version: FileVersion) -> pa.Schema:
    """Return the schema of a table for incoming rows. Raises LegacyRefused and DataRefused."""
    return pa.schema([_declared(field, version) for field in schema], schema.metadata)


def _declared(field: pa.Field, version: FileVersion) -> pa.Field:
    type_, metadata = storage_of(field)
    second = metadata.get(EXTENSION_KEY) == BLOB_EXTENSION
    if second and version < V2_2:
        raise LegacyRefused(f"Blob v2 requires file version >= 2.2 (got {version})")
    if second and type_ not in (SHORT, LONG, PREPARED):
        raise DataRefused(
            f"Blob v2 field '{field.name}' has unrecognized layout "
            f"{[child.name for child in _below(type_)]}; expected logical or prepared layout"
        )
    if second:
        type_ = LONG if type_ == LONG else SHORT
        return pa.field(field.name, type_, field.nullable, metadata)
    if version >= V2_2 and metadata.get(BLOB_KEY, "").lower() == "true":
        del metadata[BLOB_KEY]
        metadata[EXTENSION_KEY] = BLOB_EXTENSION
        return pa.field(field.name, SHORT, field.nullable, metadata)
    below = _below(field.type)
    declared = [_declared(child, version) for child in below]
    if declared == below:
        return field
    return field.with_type(type_over(field.type, declared))


def _below(type_: pa.DataType) -> list[pa.Field]:
    return (
        [] if pa.types.is_dictionary(type_) else [type_.field(n) for n in range(type_.num_fields)]
    )
