"""Bounds: what one batch of one field adds to the statistics.

A count of nulls, and a least and greatest value that enclose all others. Each kind of type has a
rule of its own for values that do not compare (NaN, zeros of two signs), for values that are too
long, and for batches without any.

Layout (rules): integers and dates: the type's own limits when all is null; decimal128: those of 128
bits; booleans: false and true; floats: NaN left out, -inf and +inf when nothing is left, a least
zero is -0.0 and a greatest +0.0; strings and byte strings: cut to 64 bytes, the greatest then made
greater by one, both null when all is null.

Clauses: L.legacy.statistics.bounds, L.legacy.statistics.all-null, L.legacy.statistics.zero-sign,
L.legacy.statistics.nan, L.legacy.statistics.prefix, L.legacy.statistics.increment

Divergences: D.legacy.statistics-types
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.file_0_1.binary import TEXT, VAR_BINARY

PREFIX_BYTES = 64
"""Longest bound of strings and byte strings before it is incremented."""


class Bounds(NamedTuple):
    """Nulls of a batch and the stored forms of its bounds; None is null."""

    null_count: int
    low: bytes | bool | None
    high: bytes | bool | None


def is_covered(type_: pa.DataType) -> bool:
    """Whether fields of this type have statistics."""
    types = pa.types
    return bool(
        types.is_boolean(type_)
        or types.is_integer(type_)
        or type_ in (pa.float32(), pa.float64(), pa.date32(), pa.date64())
        or type_ in VAR_BINARY
        or types.is_decimal128(type_)
    )


def bounds_of(array: pa.Array) -> Bounds:
    """Return null count, least and greatest value of a batch, as they are stored."""
    valid = array.drop_null() if array.null_count else array
    low: bytes | bool | None
    high: bytes | bool | None
    if pa.types.is_boolean(array.type):
        has_true, has_false = valid.true_count > 0, valid.false_count > 0
        low, high = has_true and not has_false, has_true or not has_false
    elif array.type in VAR_BINARY:
        low, high = _of_strings(valid)
    elif pa.types.is_floating(array.type):
        low, high = _of_floats(valid.to_numpy())
    elif pa.types.is_decimal128(array.type):
        low, high = _of_decimals(valid)
    else:
        low, high = _of_integers(valid)
    return Bounds(array.null_count, low, high)


def _of_integers(valid: pa.Array) -> tuple[bytes, bytes]:
    if pa.types.is_date(valid.type):
        valid = valid.view(pa.int32() if valid.type == pa.date32() else pa.int64())
    values = valid.to_numpy()
    limits = np.iinfo(values.dtype)
    low, high = limits.min, limits.max  # L.legacy.statistics.all-null
    if len(values):
        low, high = values.min(), values.max()
    return np.array(low, values.dtype).tobytes(), np.array(high, values.dtype).tobytes()


def _of_decimals(valid: pa.Array) -> tuple[bytes, bytes]:
    if not len(valid):  # outside of the declared precision, but so it is written
        return bytes(15) + b"\x80", bytes([255] * 15) + b"\x7f"
    found = pc.min_max(valid)
    low, high = (pa.repeat(found[name], 1) for name in ("min", "max"))
    return low.buffers()[1].to_pybytes()[:16], high.buffers()[1].to_pybytes()[:16]


def _of_floats(values: NDArray[np.floating]) -> tuple[bytes, bytes]:
    if len(values) and np.isnan(values.min()):
        values = values[~np.isnan(values)]  # L.legacy.statistics.nan
    low = values.min() if len(values) else -np.inf
    high = values.max() if len(values) else np.inf
    low = -0.0 if low == 0 else low
    high = 0.0 if high == 0 else high
    return np.array(low, values.dtype).tobytes(), np.array(high, values.dtype).tobytes()


def _of_strings(valid: pa.Array) -> tuple[bytes | None, bytes | None]:
    """Return the bounds of strings or byte strings without nulls."""
    if not len(valid):
        return None, None
    text = valid.type in TEXT
    data = valid.cast(pa.large_binary())
    if pc.max(pc.binary_length(data)).as_py() <= PREFIX_BYTES:
        found = pc.min_max(data)
        return found["min"].as_py(), found["max"].as_py()
    cut = [prefix(value, text=text) for value in data.to_pylist()]
    # L.legacy.statistics.increment
    return min(cut), increment_text(max(cut)) if text else increment(max(cut))


def prefix(value: bytes, *, text: bool) -> bytes:
    """Return at most 64 bytes of a value, of text whole characters."""
    if len(value) <= PREFIX_BYTES:
        return value
    return value[:PREFIX_BYTES].decode("utf-8", "ignore").encode() if text else value[:PREFIX_BYTES]


def increment(value: bytes) -> bytes | None:
    """Return the value plus one as a number of as many bytes; None when all bytes are 255."""
    number = int.from_bytes(value, "big") + 1
    return None if number >> (8 * len(value)) else number.to_bytes(len(value), "big")


def increment_text(value: bytes) -> bytes | None:
    """Return valid text that is greater: the last byte that can grow, grown as little as can be.

    None when no byte can grow.
    """
    for at in reversed(range(len(value))):
        for byte in range(value[at] + 1, 256):
            grown = value[:at] + bytes([byte]) + value[at + 1 :]
            if _is_text(grown):
                return grown
    return None


def _is_text(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def bounds_array(values: list[bytes | bool | None], type_: pa.DataType) -> pa.Array:
    """Return the stored forms of one bound, one for each batch, as an array of the field's type."""
    if pa.types.is_boolean(type_):
        return pa.array(values, type_)
    if type_ in VAR_BINARY:
        return pa.array(values, pa.large_binary()).cast(type_)
    raw = b"".join(value for value in values if isinstance(value, bytes))
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(raw)])
