"""Moments as callers give them."""

from __future__ import annotations

from datetime import datetime

import pandas as pd
import pytest
from pylanceref.history import sanitize_ts

NOON = datetime(2024, 5, 6, 12, 30, 1)


@pytest.mark.parametrize("given", [NOON, "2024-05-06 12:30:01", pd.Timestamp(NOON)])
def test_a_moment_may_be_given_in_several_forms(given):
    """All of them are the same moment, as the standard library has it."""
    assert sanitize_ts(given) == NOON
    assert type(sanitize_ts(given)) is datetime


def test_text_may_be_in_the_form_of_iso():
    """With a T or without, or a day alone."""
    assert sanitize_ts("2024-05-06T12:30:01") == sanitize_ts("2024-05-06 12:30:01") == NOON
    assert sanitize_ts("2024-05-06") == datetime(2024, 5, 6)


@pytest.mark.parametrize(
    ("given", "error"), [("yesterday", ValueError), ("2024-05-66", ValueError), (3, TypeError)]
)
def test_what_is_no_moment_is_refused(given, error):
    """Text in another form, and values of other types."""
    with pytest.raises(error):
        sanitize_ts(given)
