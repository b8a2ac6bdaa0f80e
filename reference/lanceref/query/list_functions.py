"""Functions of queries over lists: whether they hold a value, and lists made of values.

Numbers meet numbers in the type that holds both; other values meet those of their own kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lanceref.core.errors import QueryRefused
from lanceref.query.casts import Datum
from lanceref.query.coercion import common_type, is_bytes, is_number, is_text
from lanceref.query.comparison import equal


def array_length(lists: Datum, dimension: Datum | None = None) -> Datum:
    """Return how many values lists hold: uint64; null in a dimension that they do not have.

    Raises QueryRefused for lists in lists in another dimension than the first.
    """
    length = pc.list_value_length(lists).cast(pa.uint64())
    if dimension is None or dimension.as_py() == 1:
        return length
    if pa.types.is_nested(lists.type.value_type):
        raise QueryRefused("array_length counts the values of the outer lists only")
    return pc.if_else(pc.is_valid(length), pa.scalar(None, pa.uint64()), length)


def array_ndims(lists: Datum) -> Datum:
    """Return how deep lists are: uint64, null for a null list."""
    depth, type_ = 1, lists.type.value_type
    while pa.types.is_list(type_) or pa.types.is_large_list(type_):
        depth, type_ = depth + 1, type_.value_type
    return pc.if_else(pc.is_valid(lists), pa.scalar(depth, pa.uint64()), None)


def array_has(lists: Datum, value: Datum) -> Datum:
    """Return whether lists hold a value, which null is not. Raises QueryRefused."""
    values, owners = _members(lists, len(lists))
    if not isinstance(value, pa.Scalar):
        value = value.take(owners)
    met = _meeting(values.type, value.type)
    if pa.types.is_decimal(met) and pa.uint64() in (values.type, value.type):
        raise QueryRefused(f"array_has of {values.type} does not take {value.type}")
    same = pc.fill_null(equal(_as(values, met), _as(value, met)), False)
    return _having(lists, owners.filter(same))


def array_has_any(lists: Datum, wanted: Datum) -> Datum:
    """Return whether lists hold one of the values, which null is; null for no list of values."""
    if isinstance(wanted, pa.Scalar) and not wanted.is_valid:
        return pa.nulls(len(lists), pa.bool_())
    if not isinstance(wanted, pa.Scalar):
        return _beside(lists, wanted, any)
    values, owners = _members(lists, len(lists))
    values, some = _alike(values, wanted)
    return _having(lists, owners.filter(pc.is_in(values, some)))


def array_has_all(lists: Datum, wanted: Datum) -> Datum:
    """Return whether lists hold all of the values; of none, a null list does too."""
    if not isinstance(wanted, pa.Scalar):
        return _beside(lists, wanted, all)
    values, owners = _members(lists, len(lists))
    values, every = _alike(values, wanted)
    if not len(every):
        return pa.repeat(pa.scalar(True), len(lists))
    result = pc.if_else(pc.is_valid(lists), True, pa.scalar(None, pa.bool_()))
    for one in every.unique():
        same = pc.fill_null(equal(values, one), False) if one.is_valid else pc.is_null(values)
        result = pc.and_kleene(result, _having(lists, owners.filter(same)))
    return result


def make_array(*values: Datum) -> Datum:
    """Return a list of values, in the type that holds all. Raises QueryRefused."""
    type_: pa.DataType = pa.null()
    for one in values:
        met = common_type(type_, one.type)
        if met is None:
            raise QueryRefused(f"no array has values of {type_} and of {one.type}")
        type_ = met
    held = [_as(one, type_) for one in values]
    rows = {len(one) for one in held if not isinstance(one, pa.Scalar)}
    if not rows:
        return pa.ListArray.from_arrays([0, len(held)], pa.array(held, type_))[0]
    count = min(rows)
    columns = [pa.repeat(one, count) if isinstance(one, pa.Scalar) else one for one in held]
    order = np.arange(count * len(columns)).reshape(len(columns), count).T.ravel()
    members = pa.concat_arrays(columns).take(pa.array(order))
    return pa.ListArray.from_arrays(np.arange(count + 1, dtype=np.int32) * len(columns), members)


def _beside(lists: Datum, wanted: pa.Array, enough: Callable[[Iterable[bool]], bool]) -> pa.Array:
    """Return whether lists hold any, or all, of those in the same row; null beside null."""
    held = lists if isinstance(lists, pa.Array) else pa.repeat(lists, len(wanted))
    _meeting(held.type.value_type, wanted.type.value_type)
    found = [
        None if one is None or other is None else enough(value in one for value in other)
        for one, other in zip(held.to_pylist(), wanted.to_pylist(), strict=True)
    ]
    return pa.array(found, pa.bool_())


def _members(lists: Datum, rows: int) -> tuple[pa.Array, pa.Array]:
    """Return the values of lists, and the row of each."""
    held = lists if isinstance(lists, pa.Array) else pa.repeat(lists, rows)
    return pc.list_flatten(held), pc.list_parent_indices(held)


def _having(lists: pa.Array, owners: pa.Array) -> pa.Array:
    """Return for each list whether it is among the owners; null for a null list."""
    found = np.zeros(len(lists), np.bool_)
    found[np.asarray(owners)] = True
    return pc.if_else(pc.is_valid(lists), pa.array(found), pa.scalar(None, pa.bool_()))


def _alike(values: pa.Array, wanted: Datum) -> tuple[pa.Array, pa.Array]:
    """Return members and a list of what is looked for in one type. Raises QueryRefused."""
    if not isinstance(wanted, pa.ListScalar):
        raise QueryRefused("a list of values is expected here")
    held = wanted.values
    if is_text(held.type) and is_number(values.type):
        held = held.cast(values.type)
    met = _meeting(values.type, held.type)
    met = pa.float32() if pa.types.is_float16(met) else met  # Arrow looks up no half floats
    return _as(values, met), _as(held, met)


def _as(values: Datum, type_: pa.DataType) -> Datum:
    """Return values in the type in which they meet others; integers as floats are rounded."""
    return values.cast(type_, safe=not pa.types.is_floating(type_))


def _meeting(members: pa.DataType, wanted: pa.DataType) -> pa.DataType:
    """Return the type in which members of lists meet what is looked for. Raises QueryRefused."""
    met = common_type(members, wanted) if is_number(members) and is_number(wanted) else None
    if met is not None:
        return met
    if pa.types.is_null(wanted) or _kind(members) == _kind(wanted):
        return members
    raise QueryRefused(f"lists of {members} hold no {wanted}")


def _kind(type_: pa.DataType) -> str:
    """Return the name of what values must have in common to be the same."""
    if is_text(type_):
        return "text"
    if is_bytes(type_) or pa.types.is_fixed_size_binary(type_):
        return "bytes"
    return "time" if pa.types.is_temporal(type_) else str(type_)
