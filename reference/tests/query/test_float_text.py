"""Text of floats, as the oracle writes it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.query.float_text import float_text


@pytest.mark.parametrize(
    ("value", "wide", "narrow", "half"),
    [
        (0.0, "0.0", "0.0", "0"),
        (-0.0, "-0.0", "-0.0", "-0"),
        (1.5, "1.5", "1.5", "1.5"),
        (1e-5, "0.00001", "0.00001", "0.00001001358"),
        (1e-6, "1e-6", "0.000001", "0.000001013279"),
        (1e-7, "1e-7", "1e-7", "0.00000011920929"),
        (123456789.0, "123456789.0", "123456790.0", "inf"),
        (1e15, "1000000000000000.0", "1e15", "inf"),
        (1e16, "1e16", "1e16", "inf"),
        (1.7e38, "1.7e38", "1.7e38", "inf"),
        (float("nan"), "NaN", "NaN", "NaN"),
        (-float("inf"), "-inf", "-inf", "-inf"),
    ],
)
def test_widths(value, wide, narrow, half):
    """Few digits, and an exponent from some size on."""
    with np.errstate(over="ignore"):
        held = float(np.float32(value)), float(np.float16(value))

    assert wide == float_text(value, 64)
    assert narrow == float_text(held[0], 32)
    assert half == float_text(held[1], 16)


@given(st.floats(allow_nan=False))
def test_text_tells_the_value(value):
    """Whatever its size."""
    assert value == float(float_text(value, 64))
