"""Names of Arrow types as messages print them: `FixedSizeList(8 x Float32)`."""

from __future__ import annotations

import pyarrow as pa

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

SHORT = {"s": "s", "ms": "ms", "us": "µs", "ns": "ns"}
"""How a unit is shown."""


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
