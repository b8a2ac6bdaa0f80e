"""Names of Arrow types, as the casts of a query spell them: `FixedSizeList(8, Float32)`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from lanceref.core.errors import QueryRefused

PLAIN: dict[str, pa.DataType] = {
    "Null": pa.null(),
    "Boolean": pa.bool_(),
    **{f"Int{bits}": getattr(pa, f"int{bits}")() for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": getattr(pa, f"uint{bits}")() for bits in (8, 16, 32, 64)},
    **{f"Float{bits}": getattr(pa, f"float{bits}")() for bits in (16, 32, 64)},
    "Utf8": pa.utf8(),
    "LargeUtf8": pa.large_utf8(),
    "Binary": pa.binary(),
    "LargeBinary": pa.large_binary(),
    "Date32": pa.date32(),
    "Date64": pa.date64(),
}
"""Types without parameters."""

UNITS = {"Second": "s", "Millisecond": "ms", "Microsecond": "us", "Nanosecond": "ns"}
"""Units of times."""

SHORT = {"s": "s", "ms": "ms", "us": "µs", "ns": "ns"}
"""How a unit is shown."""


def arrow_type_named(text: str) -> pa.DataType:
    """Return the type of a name. Raises QueryRefused."""
    try:
        return _type(text.strip())
    except (KeyError, ValueError, pa.ArrowInvalid) as error:
        raise QueryRefused(
            f"Unsupported type '{text}'. Must be a supported arrow type name such as 'Int32' or "
            "'Timestamp(Nanosecond, None)'"
        ) from error


def name_of_type(type_: pa.DataType) -> str:
    """Return the name of a type; one without a name here is called as Arrow calls it."""
    for name, plain in PLAIN.items():
        if plain == type_:
            return name
    if pa.types.is_list(type_):
        return f"List({name_of_type(type_.value_type)})"
    if pa.types.is_large_list(type_):
        return f"LargeList({name_of_type(type_.value_type)})"
    if pa.types.is_fixed_size_list(type_):
        return f"FixedSizeList({type_.list_size} x {name_of_type(type_.value_type)})"
    if pa.types.is_struct(type_):
        fields = (f'"{field.name}": {name_of_type(field.type)}' for field in type_.fields)
        return f"Struct({', '.join(fields)})"
    if pa.types.is_decimal(type_):
        return f"Decimal{type_.bit_width}({type_.precision}, {type_.scale})"
    if pa.types.is_timestamp(type_):
        zone = "" if type_.tz is None else f', "{type_.tz}"'
        return f"Timestamp({SHORT[type_.unit]}{zone})"
    if pa.types.is_time(type_):
        return f"Time{type_.bit_width}({SHORT[type_.unit]})"
    if pa.types.is_duration(type_):
        return f"Duration({SHORT[type_.unit]})"
    if pa.types.is_fixed_size_binary(type_):
        return f"FixedSizeBinary({type_.byte_width})"
    return f"{type_}"


def _type(text: str) -> pa.DataType:
    """Return the type of a name. Raises KeyError, ValueError."""
    if text in PLAIN:
        return PLAIN[text]
    found = re.fullmatch(r"(\w+)\s*\((.*)\)", text, re.DOTALL)
    if found is None:
        raise ValueError(text)
    return WITH_PARAMETERS[found[1]](found[2].strip())


def _fixed_size_list(inside: str) -> pa.DataType:
    """Return the type of `8, Float32` or `8 x Float32`. Raises KeyError, ValueError."""
    size, value = re.split(r"\s*,\s*|\s+x\s+", inside, maxsplit=1)
    return pa.list_(_type(value), _size(size))


def _dictionary(inside: str) -> pa.DataType:
    key, _, value = inside.partition(",")
    return pa.dictionary(_type(key.strip()), _type(value.strip()))


def _timestamp(inside: str) -> pa.DataType:
    unit, _, zone = (part.strip() for part in inside.partition(","))
    found = re.fullmatch(r'None|Some\("([^"]*)"\)', zone)
    if found is None:
        raise ValueError(zone)
    return pa.timestamp(UNITS[unit], found[1])


def _decimal(make: Callable[[int, int], pa.DataType]) -> Callable[[str], pa.DataType]:
    def made(inside: str) -> pa.DataType:
        precision, scale = inside.split(",")
        return make(int(precision), int(scale))

    return made


def _size(text: str) -> int:
    """Return a number of items or bytes. Raises ValueError."""
    size = int(text)
    if not 0 <= size < 1 << 31:
        raise ValueError(text)
    return size


WITH_PARAMETERS: dict[str, Callable[[str], pa.DataType]] = {
    "FixedSizeBinary": lambda inside: pa.binary(_size(inside)),
    "FixedSizeList": _fixed_size_list,
    "List": lambda inside: pa.list_(_type(inside)),
    "LargeList": lambda inside: pa.large_list(_type(inside)),
    "Dictionary": _dictionary,
    "Timestamp": _timestamp,
    "Duration": lambda inside: pa.duration(UNITS[inside]),
    "Time32": lambda inside: pa.time32(UNITS[inside]),
    "Time64": lambda inside: pa.time64(UNITS[inside]),
    "Decimal128": _decimal(pa.decimal128),
    "Decimal256": _decimal(pa.decimal256),
}
"""How what stands between the parentheses of a name is read."""
