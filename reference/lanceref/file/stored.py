"""Stored form: rows as pages hold them.

Arrow has more ways to hold some values than pages have: views of strings, extension types around
their storage, json as text. What comes to a writer is brought into the one form of the field's
stored type; everything else stays as it is, bytes below nulls too.

Clauses: L.json.column
"""

from __future__ import annotations

import pyarrow as pa

from lanceref.core.nesting import mapped
from lanceref.file.schema import Field
from lanceref.json.json_text import documents

TEXTS = (pa.string(), pa.large_string(), pa.string_view())
VIEWS = (pa.string_view(), pa.binary_view())


def stored_form(array: pa.Array, field: Field) -> pa.Array:
    """Return the rows of a field as its storage type. Raises DataRefused for text not json."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not _is_other(array.type, field):
        return array
    if field.logical_type == "json":
        return documents(array.cast(pa.large_string()))
    if array.type in VIEWS:
        return array.cast(field.arrow.type)
    return mapped(
        array,
        field.arrow.type,
        lambda number, below: stored_form(below, field.children[number]),
    )


def _is_other(type_: pa.DataType, field: Field) -> bool:
    """Whether something in the type is not in its stored form."""
    if isinstance(type_, pa.BaseExtensionType) or type_ in VIEWS:
        return True
    if field.logical_type == "json":
        return type_ in TEXTS
    below = [type_.field(number).type for number in range(type_.num_fields)]
    return bool(field.children) and any(map(_is_other, below, field.children))
