"""Required values: fields that are not nullable have a value in every row.

Levels and layers say which values are null, whatever the schema says of the field; a table that
breaks its own schema is refused. A null under a null struct is none of the field's, and neither are
items under a null list.

Clauses: L.page.required.null
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage, Place


def has_required(field: pa.Field) -> bool:
    """Whether the field or one below it is not nullable."""
    return not field.nullable or any(has_required(child) for child in _children(field.type))


def check_required(field: pa.Field, array: pa.Array, place: Place) -> None:
    """Refuse nulls of `field` in its `array`, and below. Raises CorruptPage."""
    if _may_lack(field, array):
        _check(field, array, np.ones(len(array), np.bool_), place)


def _check(field: pa.Field, array: pa.Array, counting: NDArray[np.bool_], place: Place) -> None:
    """The same for the rows that are `counting`: bool, one for each."""
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    lacking = np.count_nonzero(counting & ~valid)
    if lacking and not field.nullable:
        raise CorruptPage(
            "L.page.required.null",
            place,
            found=f"{lacking} nulls of {field.name!r}",
            wanted="none: the field is not nullable",
        )
    below, children = counting & valid, _stored(array)
    if children and not isinstance(array, pa.StructArray):
        offsets = array.offsets.to_numpy()
        children = [child[offsets[0] : offsets[-1]] for child in children]
        below = np.repeat(below, np.diff(offsets))
    for child, values in zip(_children(field.type), children, strict=True):
        _check(child, values, below, place)


def _may_lack(field: pa.Field, array: pa.Array) -> bool:
    """Whether there is a null where none may be, or under a null."""
    if array.null_count and not field.nullable:
        return True
    return any(map(_may_lack, _children(field.type), _stored(array)))


def _children(type_: pa.DataType) -> list[pa.Field]:
    if pa.types.is_map(type_):
        return [type_.key_field, type_.item_field]
    if pa.types.is_nested(type_) and not pa.types.is_fixed_size_list(type_):
        return [type_.field(number) for number in range(type_.num_fields)]
    return []


def _stored(array: pa.Array) -> list[pa.Array]:
    """Return all values of each child, whatever stands above them."""
    if isinstance(array, pa.StructArray):
        return [array.field(number) for number in range(array.type.num_fields)]
    if isinstance(array, pa.MapArray):
        return [array.keys, array.items]
    return [array.values] if isinstance(array, (pa.ListArray, pa.LargeListArray)) else []
