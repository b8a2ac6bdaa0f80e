"""Enclose: statistics held against the values of their batches.

The values are compared as a reader sees them. A null reads as what was stored below it, which may
lie anywhere: as many values may be outside of the bounds as nulls were counted.

Clauses: L.legacy.statistics.null-count, L.legacy.statistics.bounds, L.legacy.statistics.zero-sign,
L.legacy.statistics.prefix
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.file_0_1.binary import VAR_BINARY
from lanceref.file_0_1.bounds import PREFIX_BYTES

Fault = tuple[str, str, str]
"""Clause, found, wanted."""


def faults(values: pa.Array, null_count: int, low: pa.Scalar, high: pa.Scalar) -> Iterator[Fault]:
    """Yield what is wrong with the statistics of one batch."""
    if not 0 <= null_count <= len(values):
        found = f"{null_count} nulls"
        yield "L.legacy.statistics.null-count", found, f"0 to {len(values)}"
    if values.type in VAR_BINARY:
        yield from _too_long(low, high)
        values, low, high = (each.cast(pa.large_binary()) for each in (values, low, high))
    elif pa.types.is_floating(values.type):
        yield from _wrong_zeros(low, high)
        values = values.filter(pc.invert(pc.is_nan(values)))
    outside = _outside(values, low, high)
    if len(outside) > max(0, null_count):
        wanted = f"at most {null_count} values not in {_shown(low)} to {_shown(high)}"
        found = f"{len(outside)} values, the first {_shown(outside[0])}"
        yield "L.legacy.statistics.bounds", found, wanted


def _outside(values: pa.Array, low: pa.Scalar, high: pa.Scalar) -> pa.Array:
    """Return the values that the bounds do not enclose; a null bound encloses all."""
    inside = pa.array(np.ones(len(values), np.bool_))
    if low.is_valid:
        inside = pc.and_kleene(inside, pc.greater_equal(values, low))
    if high.is_valid:
        inside = pc.and_kleene(inside, pc.less_equal(values, high))
    return values.filter(pc.invert(inside))


def _too_long(low: pa.Scalar, high: pa.Scalar) -> Iterator[Fault]:
    for bound in (low, high):
        if bound.is_valid and len(bound.as_buffer()) > PREFIX_BYTES:
            found = f"a bound of {len(bound.as_buffer())} bytes"
            yield "L.legacy.statistics.prefix", found, f"at most {PREFIX_BYTES}"


def _wrong_zeros(low: pa.Scalar, high: pa.Scalar) -> Iterator[Fault]:
    for bound, negative, name in ((low, True, "-0.0"), (high, False, "0.0")):
        if bound.as_py() == 0 and bool(np.signbit(bound.as_py())) != negative:
            yield "L.legacy.statistics.zero-sign", str(bound), name


def _shown(value: pa.Scalar) -> str:
    return str(value)[:40]
