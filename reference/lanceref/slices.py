"""Slices that pyarrow 26 cannot take from.

`take` and `filter` give wrong items on a slice (offset above 0) of fixed-size lists inside each
other, also below structs. Such slices are copied before anything is taken from them.
"""

from __future__ import annotations

import pyarrow as pa


def whole(array: pa.Array) -> pa.Array:
    """Return `array`, as a copy from offset 0 when pyarrow would take wrong items from it."""
    if array.offset and nests_fixed_size_lists(array.type):
        return pa.concat_arrays([array, array.slice(0, 0)])
    return array


def nests_fixed_size_lists(type_: pa.DataType, inside: bool = False) -> bool:
    """Whether fixed-size lists stand inside each other somewhere in the type."""
    if pa.types.is_fixed_size_list(type_):
        return inside or nests_fixed_size_lists(type_.value_type, inside=True)
    return any(nests_fixed_size_lists(type_.field(i).type, inside) for i in range(type_.num_fields))
