"""The error bound of RabitQ."""

import numpy as np
import pytest
from lance_conformance.campaigns.rabitq_bound import Errors, expected, line, measure, page, plot


def test_probabilities_are_those_of_a_normal_variable():
    """1.9 standard deviations hold 94.26 % of a normal variable."""
    assert expected(1.9) == pytest.approx(0.9426, abs=1e-4)


@pytest.mark.parametrize("bits", [1, 3])
def test_pairs_lie_inside_the_bound(bits):
    """Of some thousands of pairs, about as many as are expected."""
    found = measure(64, bits, 65535, 50_000, 0)
    assert found.share(1.9) == pytest.approx(expected(1.9), abs=0.02)
    assert (found.scaled <= 5.75).mean() > 0.998


def test_what_is_printed_and_drawn():
    """A line has the shares; a picture has a curve for each of them and one more."""
    eps = np.array([0.5, 1.0, 3.0, 1.8], np.float32)
    errors = Errors(64, 1, 255, eps, eps)
    assert line(errors).split() == ["64", "1", "255", "4", "0.7500", "0.9426", "1.00000", "0.999"]
    assert plot([errors, errors]).count("<polyline") == 3
    assert "| 64 | 1 | 255 | 4 | 0.7500 |" in page([errors], 4, 0)
    assert "(rabitq.svg)" in page([errors], 4, 0)
