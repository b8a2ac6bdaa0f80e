"""Functions of queries by name, over Arrow arrays and scalars.

Each takes the arguments as they come, null where one of them is null unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from lanceref.core.errors import QueryRefused
from lanceref.query.arrow_names import name_of_type
from lanceref.query.casts import Datum, cast
from lanceref.query.coercion import common_type, is_number, is_text
from lanceref.query.comparison import equal, greater, less
from lanceref.query.digests import BYTE_FUNCTIONS
from lanceref.query.json_functions import JSON_FUNCTIONS
from lanceref.query.list_changes import LIST_CHANGES
from lanceref.query.list_functions import (
    array_has,
    array_has_all,
    array_has_any,
    array_length,
    array_ndims,
    make_array,
)
from lanceref.query.moment_functions import MOMENT_FUNCTIONS
from lanceref.query.number_functions import NUMBER_FUNCTIONS
from lanceref.query.regexes import REGEX_FUNCTIONS
from lanceref.query.text_functions import JOINED, TEXT_FUNCTIONS, by_row
from lanceref.query.word_functions import contains_tokens

Function = Callable[..., Datum]


def _text(scalar: Datum) -> str:
    """Return the text of a scalar. Raises QueryRefused for an array."""
    if not isinstance(scalar, pa.Scalar):
        raise QueryRefused("a text is expected here, not a column")
    return str(scalar.as_py())


def _number(scalar: Datum) -> int:
    if not isinstance(scalar, pa.Scalar):
        raise QueryRefused("a number is expected here, not a column")
    return int(scalar.as_py())


def _concat(*parts: Datum) -> Datum:
    """Join text; null counts as nothing."""
    return JOINED(pa.scalar(""), *(cast(part, pa.utf8()) for part in parts))


def _asked(
    fast: Callable[[Datum, str], Datum], slow: Callable[[str, str], bool]
) -> Callable[[Datum, Datum], Datum]:
    """Return a question about two texts: `fast` where the second is a literal."""
    each = by_row(slow, pa.bool_(), "t")

    def run(text: Datum, part: Datum) -> Datum:
        literal = isinstance(part, pa.Scalar) and part.is_valid and is_text(part.type)
        return fast(text, part.as_py()) if literal and is_text(text.type) else each(text, part)

    return run


def _regexp(text: Datum, pattern: Datum, flags: Datum | None = None) -> Datum:
    ignore = flags is not None and "i" in _text(flags)
    return pc.match_substring_regex(text, _text(pattern), ignore_case=ignore)


def _regexp_match(text: Datum, pattern: Datum, flags: Datum | None = None) -> Datum:
    """Return true where a pattern is found and null elsewhere; what it found is not told."""
    found = _regexp(text, pattern, flags)
    return pc.if_else(found, True, pa.scalar(None, pa.bool_()))


def _ascii(text: Datum) -> Datum:
    """Return the number of the first letter, 0 of empty text."""
    held = [text.as_py()] if isinstance(text, pa.Scalar) else text.to_pylist()
    found = [None if one is None else ord(one[0]) if one else 0 for one in held]
    return (
        pa.scalar(found[0], pa.int32())
        if isinstance(text, pa.Scalar)
        else pa.array(found, pa.int32())
    )


def _extreme(before: Callable[[Datum, Datum], Datum]) -> Function:
    """Return the function that takes the first of values in an order; null is none of them."""

    def run(*values: Datum) -> Datum:
        type_: pa.DataType | None = pa.null()
        for value in values:
            type_ = None if type_ is None else common_type(type_, value.type)
        if type_ is None:
            raise QueryRefused("greatest and least take values of one type")
        found, *others = (cast(value, type_) for value in values)
        for other in others:
            other_first = pc.or_kleene(pc.is_null(found), before(other, found))
            found = pc.if_else(
                pc.and_(pc.fill_null(other_first, False), pc.is_valid(other)), other, found
            )
        return found

    return run


def _nan(value: Datum) -> Datum:
    return pc.is_nan(value)


def _coalesce(*values: Datum) -> Datum:
    """Return the first that is not null; a null of no type is none of them."""
    typed = [value for value in values if not pa.types.is_null(value.type)]
    return pc.coalesce(*(typed or values))


def _nullif(value: Datum, other: Datum) -> Datum:
    type_ = common_type(value.type, other.type) or value.type
    value, other = cast(value, type_), cast(other, type_)
    same = pc.fill_null(equal(value, other), False)
    return pc.if_else(same, pa.scalar(None, type_), value)


def _nvl2(asked: Datum, value: Datum, other: Datum) -> Datum:
    """Return a value where what is asked for is not null, else the other."""
    type_ = common_type(value.type, other.type)
    if type_ is None:
        raise QueryRefused(f"nvl2 does not take {value.type} and {other.type}")
    return pc.if_else(pc.is_valid(asked), cast(value, type_), cast(other, type_))


def _struct(*values: Datum) -> Datum:
    return pc.make_struct(*values, field_names=[f"c{at}" for at in range(len(values))])


def _typeof(value: Datum) -> Datum:
    name = pa.scalar(name_of_type(value.type))
    return name if isinstance(value, pa.Scalar) else pa.repeat(name, len(value))


def _date_part(part: Datum, moment: Datum) -> Datum:
    """Return a part of a moment; what is below a second counts the seconds too."""
    name = _text(part).lower()
    held = cast(moment, pa.timestamp("s")) if pa.types.is_date(moment.type) else moment
    if name == "epoch":
        zone = getattr(held.type, "tz", None)
        count = cast(cast(held, pa.timestamp("ns", zone)), pa.int64())
        return pc.divide(count.cast(pa.float64(), safe=False), 1e9)
    if name in PARTS:
        return PARTS[name](held).cast(pa.int32())
    if name not in BELOW_SECOND:
        raise QueryRefused(f"date part {name!r} is not supported")
    below = cast(held, pa.timestamp("ns", held.type.tz))
    count = pc.add(pc.multiply(pc.second(below), 10**9), _nanoseconds(below))
    found = pc.divide(count, 10**9 // BELOW_SECOND[name])
    return found if name == "nanosecond" else found.cast(pa.int32())


def _nanoseconds(moment: Datum) -> Datum:
    parts = ((pc.millisecond, 10**6), (pc.microsecond, 10**3), (pc.nanosecond, 1))
    first, second, third = (pc.multiply(part(moment), times) for part, times in parts)
    return pc.add(pc.add(first, second), third)


PARTS: dict[str, Function] = {
    "year": pc.year,
    "month": pc.month,
    "day": pc.day,
    "quarter": pc.quarter,
    "hour": pc.hour,
    "minute": pc.minute,
    "second": pc.second,
    "week": pc.iso_week,
    "isoyear": pc.iso_year,
    "doy": pc.day_of_year,
    "dow": lambda held: pc.day_of_week(held, week_start=7),
    "isodow": lambda held: pc.day_of_week(held, count_from_zero=False),
}
"""Parts of a moment by name."""

BELOW_SECOND = {"millisecond": 10**3, "microsecond": 10**6, "nanosecond": 10**9}
"""How many of a part a second has."""


def _date_trunc(part: Datum, moment: Datum) -> Datum:
    if pa.types.is_date(moment.type):
        moment = cast(moment, pa.timestamp("ns"))
    return pc.floor_temporal(moment, unit=_text(part).lower(), week_starts_monday=True)


def _to_timestamp(value: Datum) -> Datum:
    """Return a moment; a number counts seconds. Raises ArrowInvalid where it is too far."""
    if not is_number(value.type):
        return cast(value, pa.timestamp("ns"))
    if pa.types.is_integer(value.type):
        count = pc.multiply_checked(cast(value, pa.int64()), 10**9)
    else:
        count = cast(pc.multiply(cast(value, pa.float64()), 1e9), pa.int64())
    return cast(count, pa.timestamp("ns"))


def _halved(lists: Datum) -> Datum:
    """Return lists of floats with values of half precision."""
    type_ = lists.type
    field = getattr(type_, "value_field", None)
    if field is None or not pa.types.is_floating(field.type):
        raise QueryRefused(f"_cast_list_f16 takes lists of floats, got {type_}")
    half = field.with_type(pa.float16())
    if pa.types.is_fixed_size_list(type_):
        return lists.cast(pa.list_(half, type_.list_size))
    return lists.cast(pa.large_list(half) if pa.types.is_large_list(type_) else pa.list_(half))


def _get_field(struct: Datum, name: Datum) -> Datum:
    return pc.struct_field(struct, _text(name))


def _named_struct(*pairs: Datum) -> Datum:
    names = [_text(name) for name in pairs[::2]]
    return pc.make_struct(*pairs[1::2], field_names=names)


FUNCTIONS: dict[str, Function] = {
    "_cast_list_f16": _halved,
    "array_contains": array_has,
    "array_has": array_has,
    "array_has_all": array_has_all,
    "array_has_any": array_has_any,
    "array_length": array_length,
    "array_ndims": array_ndims,
    "arrays_overlap": array_has_any,
    "arrow_typeof": _typeof,
    "ascii": _ascii,
    "cardinality": array_length,
    "char_length": pc.utf8_length,
    "character_length": pc.utf8_length,
    "coalesce": _coalesce,
    "ifnull": _coalesce,
    "nvl": _coalesce,
    "concat": _concat,
    "contains": _asked(pc.match_substring, lambda text, part: part in text),
    "contains_tokens": contains_tokens,
    "current_date": lambda: pa.scalar(datetime.now(UTC).date()),
    "date_part": _date_part,
    "datepart": _date_part,
    "date_trunc": _date_trunc,
    "datetrunc": _date_trunc,
    "empty": lambda lists: pc.equal(pc.list_value_length(lists), 0),
    "ends_with": _asked(pc.ends_with, str.endswith),
    "get_field": _get_field,
    "greatest": _extreme(greater),
    "isnan": _nan,
    **BYTE_FUNCTIONS,
    **JSON_FUNCTIONS,
    **LIST_CHANGES,
    **MOMENT_FUNCTIONS,
    "least": _extreme(less),
    "length": pc.utf8_length,
    "list_contains": array_has,
    "list_has": array_has,
    "list_has_all": array_has_all,
    "list_has_any": array_has_any,
    "list_length": array_length,
    "lower": pc.utf8_lower,
    "make_array": make_array,
    "named_struct": _named_struct,
    "now": lambda: pa.scalar(datetime.now(UTC).replace(tzinfo=None), pa.timestamp("ns")),
    "nullif": _nullif,
    "nvl2": _nvl2,
    "octet_length": pc.binary_length,
    "regexp_like": _regexp,
    "regexp_match": _regexp_match,
    "reverse": pc.utf8_reverse,
    "row": _struct,
    "starts_with": _asked(pc.starts_with, str.startswith),
    "struct": _struct,
    "to_date": lambda value: cast(value, pa.date32()),
    "to_timestamp": _to_timestamp,
    **NUMBER_FUNCTIONS,
    **REGEX_FUNCTIONS,
    **TEXT_FUNCTIONS,
}
