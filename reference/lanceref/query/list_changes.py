"""Functions of queries that make lists, or tell of their values, row by row.

A list that is null gives null, but where values are put to it. Values that are put to lists, or
looked for in them, meet theirs in the type that holds both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused
from lanceref.query.budget import ITEM_BYTES, QueryTooLarge, charge
from lanceref.query.casts import Datum, cast
from lanceref.query.coercion import common_type
from lanceref.query.float_text import float_text

Items = list[object]
"""The values of one list."""

TypeOf = Callable[..., pa.DataType]
"""Gives the type of a result for those of the arguments."""

Numbers = pa.list_(pa.uint64())


def _each(
    function: Callable[..., object],
    type_of: TypeOf,
    *,
    nulls: bool = False,
    items: Callable[..., int] | None = None,
) -> Callable[..., Datum]:
    """Return a function over arrays and scalars for one over values.

    Without `nulls` a null first argument gives null. `items` counts the values of a list that can
    be much longer than the arguments are.
    """

    def run(*arguments: Datum) -> Datum:
        type_ = type_of(*(one.type for one in arguments))
        rows = {len(one) for one in arguments if not isinstance(one, pa.Scalar)}
        columns = [
            [one.as_py()] * min(rows, default=1) if isinstance(one, pa.Scalar) else one.to_pylist()
            for one in arguments
        ]
        if items is not None:
            charge(ITEM_BYTES * sum(items(*row) for row in zip(*columns, strict=True)))
        try:
            found = [
                None if row[0] is None and not nulls else function(*row)
                for row in zip(*columns, strict=True)
            ]
        except QueryTooLarge:
            raise
        except ValueError as error:
            raise pa.ArrowInvalid(f"{error}") from error
        array = pa.array(found, type_)
        return array if rows else array[0]

    return run


def _item(lists: pa.DataType, *_: pa.DataType) -> pa.DataType:
    """Return the type of the values of lists. Raises QueryRefused."""
    if not (pa.types.is_list(lists) or pa.types.is_large_list(lists)):
        raise QueryRefused(f"a list is expected here, but received {lists}")
    return lists.value_type


def _same(lists: pa.DataType, *_: pa.DataType) -> pa.DataType:
    """Return the type of lists of the same values."""
    item = _item(lists)
    return pa.large_list(item) if pa.types.is_large_list(lists) else pa.list_(item)


def _with(lists: pa.DataType, *values: pa.DataType) -> pa.DataType:
    """Return the type of lists of values that hold others too. Raises QueryRefused."""
    met: pa.DataType | None = _item(lists)
    for one in values:
        met = None if met is None else common_type(met, one)
    if met is None:
        raise QueryRefused(f"{lists} does not take {', '.join(map(str, values))}")
    return pa.large_list(met) if pa.types.is_large_list(lists) else pa.list_(met)


def _joined(lists: pa.DataType, *others: pa.DataType) -> pa.DataType:
    return _with(lists, *map(_item, others))


def _always(type_: pa.DataType) -> TypeOf:
    """Return what gives one type for lists of any."""

    def type_of(lists: pa.DataType, *others: pa.DataType) -> pa.DataType:
        _item(lists)
        return type_

    return type_of


def _numbered(value: pa.DataType, *others: pa.DataType) -> pa.DataType:
    """Return the type of a sequence. Raises QueryRefused for what does not count."""
    for one in (value, *others):
        if not (pa.types.is_integer(one) or pa.types.is_null(one)):
            raise QueryRefused(f"a sequence is of integers, not of {one}")
    return pa.list_(pa.int64())


def _once(held: Items) -> Items:
    """Return the values in their order, each once."""
    kept: Items = []
    for value in held:
        if value not in kept:
            kept.append(value)
    return kept


def _sort(held: Items, order: str = "ASC", nulls: str = "NULLS FIRST") -> Items:
    valid: list[Any] = [value for value in held if value is not None]
    none: Items = [None] * (len(held) - len(valid))
    valid.sort(reverse=order.upper() == "DESC")
    return none + valid if nulls.upper() == "NULLS FIRST" else valid + none


def _remove(held: Items, value: object, most: int | None = None) -> Items | None:
    """Return a list without the first of a value, all of them when `most` is None."""
    if value is None:
        return None
    kept: Items = []
    for one in held:
        if one == value and (most is None or most > 0):
            most = None if most is None else most - 1
        else:
            kept.append(one)
    return kept


def _replace(held: Items, old: object, new: object, most: int | None = None) -> Items:
    kept: Items = []
    for one in held:
        changes = one == old and (most is None or most > 0)
        most = most - 1 if changes and most is not None else most
        kept.append(new if changes else one)
    return kept


def _position(held: Items, value: object, start: int = 1) -> int | None:
    """Return the place of a value from 1 on. Raises ValueError for a start behind the list."""
    if not 0 < start <= max(1, len(held)):
        raise ValueError(f"start_from out of bounds: {start}")
    return next((at for at, one in enumerate(held, 1) if at >= start and one == value), None)


def _slice(held: Items, first: int | None, last: int | None, step: int | None = 1) -> Items | None:
    """Return the values from one place to another, counted from 1 or from the end."""
    if first is None or last is None or step is None:
        return None
    if step < 1:
        raise ValueError(f"a stride of {step} is not supported")
    size = len(held)
    start = max(first if first >= 0 else size + first + 1, 1)
    return held[start - 1 : max(0, last if last >= 0 else size + last + 1) : step]


def _resize(held: Items, size: int | None, fill: object = None) -> Items:
    if size is None or size < 0:
        raise ValueError("array_resize: a size is expected")
    return (held + [fill] * (size - len(held)))[:size]


def _repeat(value: object, count: int | None) -> Items | None:
    return None if count is None else [value] * max(0, count)


def _items(value: object) -> int:
    """Return how many items a value is worth: those in it, texts and bytes by their length."""
    if isinstance(value, list | dict):
        return 1 + sum(map(_items, value.values() if isinstance(value, dict) else value))
    return 1 + (len(value) // ITEM_BYTES if isinstance(value, str | bytes) else 0)


def _repeated_items(value: object, count: int | None) -> int:
    return _items(value) * max(0, count or 0)


def _resized_items(held: Items | None, size: int | None, fill: object = None) -> int:
    return _items(fill) * max(0, (size or 0) - len(held or ()))


def _sequence_items(*ends: int | None) -> int:
    known = [one for one in ends if one is not None]
    if not known or len(known) < len(ends):
        return 0
    first, end, step = (0, known[0], 1) if len(known) == 1 else (*known, 1)[:3]
    return max(0, (end - first) // step + 1) if step else 0


def _sequence(closed: int) -> Callable[..., Items | None]:
    """Return the function of a sequence whose end belongs to it (1) or not (0)."""

    def run(*ends: int | None) -> Items | None:
        known = [one for one in ends if one is not None]
        if len(known) < len(ends):
            return None
        first, end, step = (0, known[0], 1) if len(known) == 1 else (*known, 1)[:3]
        return list(range(first, end + (closed if step > 0 else -closed), step))

    return run


def _split(text: str, separator: str | None, null: str | None = None) -> Items:
    """Return the parts of a text; letters without a separator."""
    parts = list(text) if separator is None else [text] if not separator else text.split(separator)
    return [None if part == null else part for part in parts] if text else []


def _texts(values: pa.Array) -> list[str | None]:
    """Return values as text; floats have neither an exponent nor a zero behind the point."""
    if not pa.types.is_floating(values.type):
        return [one.as_py() for one in cast(values, pa.utf8())]
    held = values.to_numpy(zero_copy_only=False)
    shown = [
        np.format_float_positional(one, trim="-") if np.isfinite(one) else float_text(one, 64)
        for one in held
    ]
    return [one if valid else None for one, valid in zip(shown, values.is_valid().to_pylist())]


def array_to_string(lists: Datum, separator: Datum, null: Datum | None = None) -> Datum:
    """Return the values of lists as text, joined; nulls are left out where none stands for them."""
    _item(lists.type)
    held = pa.array([lists.as_py()], lists.type) if isinstance(lists, pa.Scalar) else lists
    texts = iter(_texts(pc.list_flatten(held)))

    def join(count: int, between: str, empty: str | None = None) -> str | None:
        parts = [next(texts) for _ in range(count)]
        shown = [empty if one is None else one for one in parts]
        charge(count * len(f"{between or ''}{empty or ''}".encode()))
        return None if between is None else between.join(one for one in shown if one is not None)

    counts = pc.list_value_length(held)
    arguments = [separator] if null is None else [separator, null]
    joined = _each(join, lambda *_: pa.utf8())(counts, *arguments)
    return joined[0] if isinstance(lists, pa.Scalar) else joined


def _concat(*lists: Items | None) -> Items | None:
    known = [one for one in lists if one is not None]
    return [value for one in known for value in one] if known else None


def _flatten(lists: Datum) -> Datum:
    """Return the values of the lists in lists; null ones have none, and other values stay."""
    inner = _item(lists.type)
    if not (pa.types.is_list(inner) or pa.types.is_large_list(inner)):
        return lists
    return _INSIDE(lists)


def _prepend_type(value: pa.DataType, lists: pa.DataType) -> pa.DataType:
    return _with(lists, value)


def _of_two(function: Callable[[Items, Items], object]) -> Callable[..., object]:
    """Return a function of two lists that is null where one of them is."""
    return lambda one, other: None if other is None else function(one, other)


_APPEND = _each(lambda held, value: [*(held or []), value], _with, nulls=True)
_PREPEND = _each(lambda value, held: [value, *(held or [])], _prepend_type, nulls=True)
_INSIDE = _each(lambda held: [value for one in held for value in one or ()], _item)
_SORT, _SLICE = _each(_sort, _same), _each(_slice, _same)
_POSITION = _each(_position, _always(pa.uint64()))

_NAMED: dict[str, Callable[..., Datum]] = {
    "any_value": _each(lambda held: next((one for one in held if one is not None), None), _item),
    "append": _APPEND,
    "cat": _each(_concat, _joined, nulls=True),
    "concat": _each(_concat, _joined, nulls=True),
    "distinct": _each(_once, _same),
    "except": _each(
        _of_two(lambda one, other: _once([value for value in one if value not in other])), _joined
    ),
    "intersect": _each(
        _of_two(lambda one, other: _once([value for value in one if value in other])), _joined
    ),
    "join": array_to_string,
    "max": _each(lambda held: max((v for v in held if v is not None), default=None), _item),
    "min": _each(lambda held: min((v for v in held if v is not None), default=None), _item),
    "pop_back": _each(lambda held: held[:-1], _same),
    "pop_front": _each(lambda held: held[1:], _same),
    "position": _POSITION,
    "positions": _each(
        lambda held, value: [at for at, one in enumerate(held, 1) if one == value],
        _always(Numbers),
    ),
    "prepend": _PREPEND,
    "push_back": _APPEND,
    "push_front": _PREPEND,
    "remove": _each(lambda held, value: _remove(held, value, 1), _with),
    "remove_all": _each(_remove, _with),
    "remove_n": _each(_remove, lambda lists, value, _: _with(lists, value)),
    "repeat": _each(_repeat, lambda value, _: pa.list_(value), nulls=True, items=_repeated_items),
    "replace": _each(lambda held, old, new: _replace(held, old, new, 1), _with),
    "replace_all": _each(_replace, _with),
    "replace_n": _each(_replace, lambda lists, old, new, _: _with(lists, old, new)),
    "resize": _each(_resize, lambda lists, _, *fill: _with(lists, *fill), items=_resized_items),
    "reverse": _each(lambda held: held[::-1], _same),
    "slice": _SLICE,
    "sort": _SORT,
    "to_string": array_to_string,
    "union": _each(_of_two(lambda one, other: _once(one + other)), _joined),
}
"""Functions by what follows `array_` and `list_` in their names."""

_SPLIT = _each(_split, lambda *_: pa.list_(pa.utf8()))

LIST_CHANGES: dict[str, Callable[..., Datum]] = {
    **{f"{kind}_{name}": run for kind in ("array", "list") for name, run in _NAMED.items()},
    "array_dims": _each(lambda held: [len(held)] if held else None, _always(Numbers)),
    "flatten": _flatten,
    "generate_series": _each(_sequence(1), _numbered, items=_sequence_items),
    "list_dims": _each(lambda held: [len(held)] if held else None, _always(Numbers)),
    "range": _each(_sequence(0), _numbered, items=_sequence_items),
    "string_to_array": _SPLIT,
    "string_to_list": _SPLIT,
}
"""Functions by name."""
