"""Functions of numbers: floats of 64 bits, or of 32 where the argument has these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused
from lanceref.query.casts import Datum, cast

types = pa.types


def as_floats(value: Datum) -> Datum:
    """Return numbers as floats; those of 16 and 32 bits have 32."""
    kept = value.type in (pa.float16(), pa.float32())
    return cast(value, pa.float32() if kept else pa.float64())


def of_floats(function: Callable[[Datum], Datum]) -> Callable[[Datum], Datum]:
    """Return a function that takes any numbers for one of floats."""
    return lambda value: function(as_floats(value))


def _cbrt(value: Datum) -> Datum:
    if isinstance(value, pa.Scalar):
        return _cbrt(pa.array([value.as_py()], value.type))[0]
    numbers = value.to_numpy(zero_copy_only=False)
    roots = np.cbrt(numbers.astype(np.longdouble)).astype(numbers.dtype)  # of 64 bits: off by one
    return pa.array(roots, value.type, mask=value.is_null().to_numpy(zero_copy_only=False))


def _power(base: Datum, exponent: Datum) -> Datum:
    return pc.power(cast(base, pa.float64()), cast(exponent, pa.float64()))


def _places(digits: Datum | None) -> int:
    """Return how many digits are asked for. Raises QueryRefused where no literal says so."""
    if digits is None:
        return 0
    if not (isinstance(digits, pa.Scalar) and digits.is_valid):
        raise QueryRefused("a number of digits is expected here, not a column")
    return int(digits.as_py())


def _round(value: Datum, digits: Datum | None = None) -> Datum:
    """Round halves away from zero, to digits behind the point or, below 0, before it."""
    places = _places(digits)
    if not types.is_decimal(value.type):
        return pc.round(as_floats(value), places, "half_towards_infinity")
    held = value.type
    make = pa.decimal256 if types.is_decimal256(held) else pa.decimal128
    scale = min(held.scale, max(0, places))
    rounded = pc.round(value, places, "half_towards_infinity")
    return rounded.cast(make(held.precision, scale))


def _trunc(value: Datum, digits: Datum | None = None) -> Datum:
    return pc.round(as_floats(value), _places(digits), "towards_zero")


def _log(base_or_value: Datum, value: Datum | None = None) -> Datum:
    if value is None:
        return pc.log10(as_floats(base_or_value))
    return pc.logb(as_floats(value), as_floats(base_or_value))


def _times(factor: float) -> Callable[[Datum], Datum]:
    return lambda value: pc.multiply(value, pa.scalar(factor, value.type))


def _of_numpy(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Callable[..., Datum]:
    """Return a function of floats that only numpy has, or whose NaN have their sign there."""

    def run(value: Datum) -> Datum:
        if isinstance(value, pa.Scalar):
            return run(pa.array([value.as_py()], value.type))[0]
        with np.errstate(all="ignore"):
            found = function(value.to_numpy(zero_copy_only=False))
        null = value.is_null().to_numpy(zero_copy_only=False)
        return pa.array(found, value.type, mask=null)

    return of_floats(run)


def _of_integers(
    function: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]],
) -> Callable[[Datum, Datum], Datum]:
    """Return a function of two integers that only numpy has."""

    def run(one: Datum, other: Datum) -> Datum:
        if isinstance(one, pa.Scalar) and isinstance(other, pa.Scalar):
            return run(pa.array([one.as_py()], one.type), other)[0]
        rows = len(other) if isinstance(one, pa.Scalar) else len(one)
        both = [
            cast(pa.repeat(each, rows) if isinstance(each, pa.Scalar) else each, pa.int64())
            for each in (one, other)
        ]
        null = np.logical_or(*(each.is_null().to_numpy(zero_copy_only=False) for each in both))
        held = [pc.fill_null(each, 0).to_numpy(zero_copy_only=False) for each in both]
        return pa.array(function(held[0], held[1]), pa.int64(), mask=null)

    return run


def _is_zero(value: Datum) -> Datum:
    return pc.equal(as_floats(value), 0)


def _nanvl(value: Datum, other: Datum) -> Datum:
    """Return numbers, others where they are NaN: floats of 64 bits if one of both has these."""
    value, other = as_floats(value), as_floats(other)
    if value.type != other.type:
        value, other = cast(value, pa.float64()), cast(other, pa.float64())
    return pc.if_else(pc.is_nan(value), other, value)


NUMBER_FUNCTIONS: dict[str, Callable[..., Datum]] = {
    "abs": pc.abs,
    "acos": of_floats(pc.acos),
    "acosh": _of_numpy(np.arccosh),
    "asinh": _of_numpy(np.arcsinh),
    "atanh": _of_numpy(np.arctanh),
    "cot": _of_numpy(lambda value: 1 / np.tan(value)),
    "gcd": _of_integers(np.gcd),
    "iszero": _is_zero,
    "lcm": _of_integers(np.lcm),
    "nanvl": _nanvl,
    "asin": of_floats(pc.asin),
    "atan": of_floats(pc.atan),
    "atan2": lambda one, other: pc.atan2(as_floats(one), as_floats(other)),
    "cbrt": of_floats(_cbrt),
    "ceil": of_floats(pc.ceil),
    "cos": of_floats(pc.cos),
    "cosh": _of_numpy(np.cosh),
    "degrees": of_floats(_times(180 / np.pi)),
    "exp": of_floats(pc.exp),
    "floor": of_floats(pc.floor),
    "ln": of_floats(pc.ln),
    "log": _log,
    "log10": of_floats(pc.log10),
    "log2": of_floats(pc.log2),
    "pi": lambda: pa.scalar(float(np.pi)),
    "pow": _power,
    "power": _power,
    "radians": of_floats(_times(np.pi / 180)),
    "round": _round,
    "signum": of_floats(pc.sign),
    "sin": of_floats(pc.sin),
    "sinh": _of_numpy(np.sinh),
    "sqrt": _of_numpy(np.sqrt),
    "tan": of_floats(pc.tan),
    "tanh": _of_numpy(np.tanh),
    "trunc": _trunc,
}
"""Functions by name."""
