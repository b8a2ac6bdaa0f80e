"""Moments: what callers give for a time of day (face)."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

FORM = "%Y-%m-%d %H:%M:%S"
"""How a moment is written as text."""


def moment(given: datetime | str) -> datetime:
    """Return a moment; text may be in the form of ISO 8601. Raises TypeError, ValueError."""
    if isinstance(given, str):
        with suppress(ValueError):
            return datetime.fromisoformat(given)
    return sanitize_ts(given)


def sanitize_ts(ts: datetime | str) -> datetime:
    """Return a moment, which may be given as text. Raises TypeError, ValueError."""
    if isinstance(ts, str):
        try:
            return datetime.strptime(ts, FORM)
        except ValueError as error:
            raise ValueError(
                f"Failed to parse timestamp string {ts}. Try installing Pandas."
            ) from error
    if not isinstance(ts, datetime):
        raise TypeError(f"Unrecognized version timestamp {ts} of type {type(ts)}")
    to_pydatetime = getattr(ts, "to_pydatetime", None)  # a moment of pandas
    return ts if to_pydatetime is None else to_pydatetime()
