"""Scalars as plans, statistics and errors show them.

Times are counts, bytes hexadecimal digits, numbers stand in full.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

SHOWN_BYTES = 10
"""Bytes that are shown of more."""


def shown(value: pa.Scalar) -> str:
    """Return the text of a value."""
    types, type_ = pa.types, value.type
    if not value.is_valid:
        return "NULL"
    if types.is_floating(type_):
        return _number(value)
    if types.is_boolean(type_):
        return str(value.as_py()).lower()
    if types.is_decimal(type_):
        digits = int(value.as_py().scaleb(type_.scale))
        return f"Some({digits}),{type_.precision},{type_.scale}"
    if types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_):
        held: bytes = value.as_py()
        return held[:SHOWN_BYTES].hex() + ("..." if len(held) > SHOWN_BYTES else "")
    if types.is_temporal(type_) and not types.is_date(type_):
        return str(value.value)
    return str(value)


def _number(value: pa.Scalar) -> str:
    """Return a float in the fewest digits that tell it apart, without an exponent."""
    number = value.type.to_pandas_dtype()(value.as_py())
    if not np.isfinite(number):
        return {"nan": "NaN"}.get(str(number), str(number))
    return np.format_float_positional(number, trim="-")
