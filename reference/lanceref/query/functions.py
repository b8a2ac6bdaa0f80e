"""Functions of queries by name, over Arrow arrays and scalars.

Each takes the arguments as they come, null where one of them is null unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from lanceref.errors import QueryRefused
from lanceref.query.casts import Datum
from lanceref.query.comparison import equal
from lanceref.query.json_functions import JSON_FUNCTIONS
from lanceref.query.list_functions import (
    array_has,
    array_has_all,
    array_has_any,
    array_length,
    make_array,
)
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
    texts = [part.cast(pa.utf8()) for part in parts]
    return pc.binary_join_element_wise(*texts, "", null_handling="skip")


def _position(text: Datum, part: Datum) -> Datum:
    """Return where a part begins, from 1 on; 0 where it is not."""
    return pc.add(pc.find_substring(text, _text(part)), 1).cast(pa.int32())


def _contains(text: Datum, part: Datum) -> Datum:
    return pc.match_substring(text, _text(part))


def _regexp(text: Datum, pattern: Datum, flags: Datum | None = None) -> Datum:
    ignore = flags is not None and "i" in _text(flags)
    return pc.match_substring_regex(text, _text(pattern), ignore_case=ignore)


def _regexp_match(text: Datum, pattern: Datum, flags: Datum | None = None) -> Datum:
    """Return true where a pattern is found and null elsewhere; what it found is not told."""
    found = _regexp(text, pattern, flags)
    return pc.if_else(found, True, pa.scalar(None, pa.bool_()))


def _left(text: Datum, count: Datum) -> Datum:
    return pc.utf8_slice_codeunits(text, 0, _number(count))


def _right(text: Datum, count: Datum) -> Datum:
    number = _number(count)
    return pc.utf8_slice_codeunits(text, -number) if number else _left(text, count)


def _lpad(text: Datum, width: Datum, padding: Datum | None = None) -> Datum:
    fill = " " if padding is None else _text(padding)
    return pc.utf8_lpad(text, _number(width), fill)


def _split_part(text: Datum, separator: Datum, number: Datum) -> Datum:
    """Return one of the parts between separators, counted from 1; empty where there is none."""
    parts, at = pc.split_pattern(text, _text(separator)), _number(number) - 1
    long = pc.greater(pc.list_value_length(parts), at)
    chosen = pc.if_else(long, parts, pa.scalar([""] * (at + 1), pa.list_(pa.utf8())))
    return pc.if_else(pc.is_valid(text), pc.list_element(chosen, at), pa.scalar(None, pa.utf8()))


def _ascii(text: Datum) -> Datum:
    """Return the number of the first letter, 0 of empty text."""
    held = [text.as_py()] if isinstance(text, pa.Scalar) else text.to_pylist()
    found = [None if one is None else ord(one[0]) if one else 0 for one in held]
    return (
        pa.scalar(found[0], pa.int32())
        if isinstance(text, pa.Scalar)
        else pa.array(found, pa.int32())
    )


def _nan(value: Datum) -> Datum:
    return pc.is_nan(value)


def _coalesce(*values: Datum) -> Datum:
    """Return the first that is not null; a null of no type is none of them."""
    typed = [value for value in values if not pa.types.is_null(value.type)]
    return pc.coalesce(*(typed or values))


def _nullif(value: Datum, other: Datum) -> Datum:
    same = pc.fill_null(equal(value, other), False)
    return pc.if_else(same, pa.scalar(None, value.type), value)


def _date_part(part: Datum, moment: Datum) -> Datum:
    name = _text(part).lower()
    parts = {"year": pc.year, "month": pc.month, "day": pc.day, "quarter": pc.quarter}
    times = {"hour": pc.hour, "minute": pc.minute, "second": pc.second, "week": pc.iso_week}
    days = {"doy": pc.day_of_year, "dow": lambda held: pc.day_of_week(held, week_start=7)}
    known = {**parts, **times, **days}
    if name not in known:
        raise QueryRefused(f"date part {name!r} is not supported")
    return known[name](moment).cast(pa.int32())


def _date_trunc(part: Datum, moment: Datum) -> Datum:
    return pc.floor_temporal(moment, unit=_text(part).lower(), week_starts_monday=True)


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
    "abs": pc.abs,
    "array_contains": array_has,
    "array_has": array_has,
    "array_has_all": array_has_all,
    "array_has_any": array_has_any,
    "array_length": array_length,
    "ascii": _ascii,
    "bit_length": lambda text: pc.multiply(pc.binary_length(text), 8),
    "btrim": pc.utf8_trim_whitespace,
    "cardinality": array_length,
    "cbrt": lambda value: pc.power(value, 1 / 3),
    "char_length": pc.utf8_length,
    "character_length": pc.utf8_length,
    "coalesce": _coalesce,
    "concat": _concat,
    "contains": _contains,
    "contains_tokens": contains_tokens,
    "current_date": lambda: pa.scalar(datetime.now(UTC).date()),
    "date_part": _date_part,
    "date_trunc": _date_trunc,
    "empty": lambda lists: pc.equal(pc.list_value_length(lists), 0),
    "ends_with": lambda text, end: pc.ends_with(text, _text(end)),
    "exp": pc.exp,
    "get_field": _get_field,
    "greatest": pc.max_element_wise,
    "isnan": _nan,
    **JSON_FUNCTIONS,
    "least": pc.min_element_wise,
    "left": _left,
    "length": pc.utf8_length,
    "list_contains": array_has,
    "list_has": array_has,
    "list_has_all": array_has_all,
    "list_has_any": array_has_any,
    "list_length": array_length,
    "ln": pc.ln,
    "log10": pc.log10,
    "log2": pc.log2,
    "lower": pc.utf8_lower,
    "lpad": _lpad,
    "ltrim": pc.utf8_ltrim_whitespace,
    "make_array": make_array,
    "named_struct": _named_struct,
    "now": lambda: pa.scalar(datetime.now(UTC), pa.timestamp("ns", "UTC")),
    "nullif": _nullif,
    "octet_length": pc.binary_length,
    "power": pc.power,
    "pow": pc.power,
    "regexp_like": _regexp,
    "regexp_match": _regexp_match,
    "repeat": lambda text, count: pc.binary_repeat(text, _number(count)),
    "replace": lambda text, old, new: pc.replace_substring(text, _text(old), _text(new)),
    "reverse": pc.utf8_reverse,
    "right": _right,
    "round": lambda value, digits=None: pc.round(
        value, 0 if digits is None else _number(digits), "half_towards_infinity"
    ),
    "rpad": lambda text, width, padding=None: pc.utf8_rpad(
        text, _number(width), " " if padding is None else _text(padding)
    ),
    "rtrim": pc.utf8_rtrim_whitespace,
    "signum": pc.sign,
    "split_part": _split_part,
    "sqrt": pc.sqrt,
    "starts_with": lambda text, start: pc.starts_with(text, _text(start)),
    "strpos": _position,
    "to_date": lambda text: text.cast(pa.date32()),
    "to_timestamp": lambda value: value.cast(pa.timestamp("ns")),
    "trunc": pc.trunc,
    "upper": pc.utf8_upper,
}
