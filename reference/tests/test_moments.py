"""Moments as callers give them."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import pytest
from pylanceref.history import moment, sanitize_ts

NOON = datetime(2024, 5, 6, 12, 30, 1)


@pytest.mark.parametrize("given", [NOON, "2024-05-06 12:30:01", pd.Timestamp(NOON)])
def test_a_moment_may_be_given_in_several_forms(given):
    """All of them are the same moment, as the standard library has it."""
    assert sanitize_ts(given) == NOON
    assert type(sanitize_ts(given)) is datetime


def test_text_may_be_in_the_form_of_iso():
    """With a T or without, or a day alone."""
    assert moment("2024-05-06T12:30:01") == moment("2024-05-06 12:30:01") == moment(NOON) == NOON
    assert moment("2024-05-06") == datetime(2024, 5, 6)
    with pytest.raises(ValueError, match="Failed to parse"):
        moment("yesterday")


@pytest.mark.parametrize(
    ("given", "error"), [("yesterday", ValueError), ("2024-05-06", ValueError), (3, TypeError)]
)
def test_what_is_no_moment_is_refused(given, error):
    """Text in another form, and values of other types."""
    with pytest.raises(error):
        sanitize_ts(given)


@pytest.mark.oracle
@pytest.mark.parametrize("given", [NOON, "2024-05-06 12:30:01", "2024-05-06", "x", 3])
def test_pylance_takes_the_same(given):
    """And refuses the same, with the same words."""
    from lance import sanitize_ts as theirs

    def outcome(function):
        try:
            return function(given)
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    assert outcome(theirs) == outcome(sanitize_ts)
