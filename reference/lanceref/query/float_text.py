"""Text of floats: the fewest digits that tell a value from its neighbours.

Small and large values have an exponent: of 64 bits those below 1e-5 and from 1e16 on, of 32 bits
those below 1e-6 and from 1e13 on. Those of 16 bits have none, nor a zero behind the point.
"""

from __future__ import annotations

import math

import numpy as np

PLAIN = {64: (-5, 16), 32: (-6, 13)}
"""By bits: places of the first digit, from the point on, between which no exponent is written."""


def float_text(value: float, bits: int) -> str:
    """Return the text of a value of 16, 32 or 64 bits."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else str(value)
    held = np.float64(value) if bits == 64 else np.float32(value)
    if bits == 16:
        return np.format_float_positional(held, unique=True, trim="-")
    least, most = PLAIN[bits]
    digits, _, exponent = np.format_float_scientific(held, unique=True, trim="-").partition("e")
    if held == 0 or least < int(exponent) + 1 <= most:
        return np.format_float_positional(held, unique=True, trim="0")
    return f"{digits}e{int(exponent)}"
