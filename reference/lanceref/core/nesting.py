"""Nested arrays: what lies below an array, and an array over other content.

Changing the leaves of a nested array keeps everything above them: validity and offsets stay as they
are, only the type and the children are new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa


def children_of(array: pa.Array) -> list[pa.Array]:
    """Return the arrays below a struct, list, map or fixed-size list; none below a leaf.

    The array must begin at its own buffers' start (offset 0).
    """
    if pa.types.is_struct(array.type):
        return [array.field(number) for number in range(array.type.num_fields)]
    return [array.values] if array.type.num_fields else []


def from_start(array: pa.Array) -> pa.Array:
    """Return the array with offset 0, as a copy where it has another."""
    return pa.concat_arrays([array, array.slice(0, 0)]) if array.offset else array


def mapped(
    array: pa.Array, type_: pa.DataType, child: Callable[[int, pa.Array], pa.Array]
) -> pa.Array:
    """Return an array of `type_` over the children that `child` makes of those of `array`.

    `child` takes the number of a child and the child; lengths stay as they are.
    """
    array = from_start(array)
    children = [child(number, below) for number, below in enumerate(children_of(array))]
    validity_only = pa.types.is_struct(type_) or pa.types.is_fixed_size_list(type_)
    buffers = array.buffers()[: 1 if validity_only else 2]
    return pa.Array.from_buffers(type_, len(array), buffers, array.null_count, 0, children)


def type_over(type_: pa.DataType, below: Sequence[pa.Field]) -> pa.DataType:
    """Return a nested type over other children."""
    if pa.types.is_struct(type_):
        return pa.struct(below)
    (item,) = below
    if pa.types.is_large_list(type_):
        return pa.large_list(item)
    if pa.types.is_fixed_size_list(type_):
        return pa.list_(item, type_.list_size)
    if pa.types.is_map(type_):
        return pa.map_(*item.type, keys_sorted=type_.keys_sorted)
    return pa.list_(item)
