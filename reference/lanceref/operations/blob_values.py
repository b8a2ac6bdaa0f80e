"""Blobs of a table among those of a caller: both under one type.

A table gives the bytes of its blobs; who hands over others says for each its bytes or a URI, in a
struct. Anywhere below structs the first become the second.
"""

from __future__ import annotations

import pyarrow as pa

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
