"""Durations as text: in words, or as ISO 8601 has them, in seconds."""

from __future__ import annotations

import pyarrow as pa

from lanceref.query.casts import Datum, cast
from lanceref.query.text_functions import by_row

DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
"""Digits behind the point, by the unit of a duration."""


def duration_text(value: Datum, form: Datum) -> Datum:
    """Return durations as text: by the form `iso8601` in seconds, by every other in words."""
    digits = DIGITS[value.type.unit]
    show = by_row(lambda count, text: _shown(count, digits, text), pa.utf8(), "nt")
    return show(cast(value, pa.int64()), form)


def _shown(count: int, digits: int, form: str) -> str:
    """Return a duration of so many units, which have so many digits behind the point."""
    sign = "-" if count < 0 else ""
    seconds, below = divmod(abs(count), 10**digits)
    fraction = f".{below:0{digits}}" if digits else ""
    if form.lower() == "iso8601":
        shown = f"{seconds}{fraction.rstrip('0').rstrip('.')}"
        return f"{sign}PT{shown}S" if count else "P0D"
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    parts = [f"{sign if part else ''}{part}" for part in (day, hour, minute)]
    last = f"{sign if second or below else ''}{second}{fraction}"
    return f"{parts[0]} days {parts[1]} hours {parts[2]} mins {last} secs"
