"""Random fixed-width values: distributions that determine how numbers are encoded.

Small numbers are bitpacked, runs are run-length encoded, equal numbers become a constant, smooth
floats use byte-stream-split, random numbers stay flat. Every type is built from integers in its
range.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Integers = Callable[[np.random.Generator, int, int], NDArray[np.int64]]
"""Draws `count` integers below a bound of at most 2**62."""

DAY_MS = 86_400_000
"""A day in milliseconds; values of date64 are whole days."""

_RANGES: dict[pa.DataType, int] = {
    pa.time32("s"): 86_400,
    pa.time32("ms"): 86_400_000,
    pa.time64("us"): 86_400_000_000,
    pa.time64("ns"): 86_400_000_000_000,
    pa.date32(): 40_000,
    pa.date64(): 40_000,
}
"""Upper bounds of valid times and dates."""


def _runs(numbers: np.random.Generator, count: int, bound: int) -> NDArray[np.int64]:
    values = numbers.integers(0, bound, count // 50 + 1)
    return np.repeat(values, 50)[:count]


def _mixed(numbers: np.random.Generator, count: int, bound: int) -> NDArray[np.int64]:
    return numbers.integers(0, bound, count) >> numbers.integers(0, 63)


INTEGER_PATTERNS: dict[str, Integers] = {
    "equal": lambda numbers, count, bound: np.full(count, numbers.integers(0, bound)),
    "runs": _runs,
    "small": lambda numbers, count, bound: numbers.integers(0, min(bound, 100), count),
    "ascending": lambda numbers, count, bound: np.arange(count) % bound,
    "few distinct": lambda numbers, count, bound: numbers.choice(
        numbers.integers(0, bound, 5), count
    ),
    "random": lambda numbers, count, bound: numbers.integers(0, bound, count),
    "mixed": _mixed,
}
"""Distributions of integers by name."""

SPECIAL_FLOATS = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1e-40)
"""Floats that conversions often change."""


def random_fixed(
    rng: Random, type_: pa.DataType, validity: NDArray[np.bool_], labels: set[str]
) -> pa.Array:
    """Draw values of a fixed-width type, null where `validity` is False."""
    numbers = np.random.default_rng(rng.getrandbits(32))
    name = rng.choice(tuple(INTEGER_PATTERNS))
    labels.add(f"values {name}")
    count = len(validity)
    if pa.types.is_boolean(type_):
        bits = INTEGER_PATTERNS[name](numbers, count, 2) > 0
        return pa.array(bits, mask=~validity)
    bytes_ = type_.bit_width // 8
    bound = _RANGES.get(type_, 2 ** min(62, 8 * bytes_))
    integers = INTEGER_PATTERNS[name](numbers, count, bound)
    if pa.types.is_floating(type_):
        return _floats(rng, type_, name, integers, validity)
    if type_ == pa.date64():
        integers = integers * DAY_MS
    signed = not pa.types.is_unsigned_integer(type_) and type_ not in _RANGES
    if signed and bytes_ >= 8 and name in ("random", "mixed"):
        integers = np.where(numbers.random(count) < 0.5, -integers, integers)
    wide = np.zeros((count, bytes_), np.uint8)
    cells = np.ascontiguousarray(integers.astype("<i8")).view(np.uint8).reshape(count, 8)
    wide[:, :8] = cells[:, :bytes_]
    if bytes_ > 8:
        wide[:, 8:] = np.where(integers < 0, 255, 0).astype(np.uint8)[:, None]
    return _build(type_, wide.reshape(-1), validity)


def _floats(
    rng: Random,
    type_: pa.DataType,
    name: str,
    integers: NDArray[np.int64],
    validity: NDArray[np.bool_],
) -> pa.Array:
    """Turn integers into floats: raw bits when random, else smooth values, some special."""
    dtype = np.dtype(type_.to_pandas_dtype())
    if name == "random":
        values = integers.astype(f"<u{dtype.itemsize}").view(dtype)
    else:
        values = (integers % 10_000 / 8).astype(dtype)
        for special in rng.sample(SPECIAL_FLOATS, 2) if name == "mixed" and len(values) else ():
            values[rng.randrange(len(values))] = special
    return _build(type_, np.ascontiguousarray(values).view(np.uint8), validity)


def bitmap_of(validity: NDArray[np.bool_]) -> pa.Buffer | None:
    """Return validity as the buffer of an array, None where all rows are valid."""
    packed = np.packbits(validity, bitorder="little")
    return None if validity.all() else pa.py_buffer(packed)


def _build(type_: pa.DataType, data: NDArray[np.uint8], validity: NDArray[np.bool_]) -> pa.Array:
    return pa.Array.from_buffers(type_, len(validity), [bitmap_of(validity), pa.py_buffer(data)])
