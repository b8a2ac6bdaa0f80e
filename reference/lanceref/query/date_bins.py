"""Bins of moments: the start of the stretch of time that each is in.

Stretches are as long as an interval, of months or of days and what is below them, and one of them
starts at the origin: 1970, unless another is given.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import QueryRefused
from lanceref.query.casts import Datum, cast

Counts = NDArray[np.int64]

INTERVAL = pa.month_day_nano_interval()
NANOSECONDS = {
    "nanosecond": 1,
    "microsecond": 10**3,
    "millisecond": 10**6,
    "second": 10**9,
    "minute": 60 * 10**9,
    "hour": 3600 * 10**9,
}
"""Units below a day."""

DAYS = {"day": 1, "week": 7}
MONTHS = {"month": 1, "year": 12}
DAY_NANOSECONDS = 24 * NANOSECONDS["hour"]
PART = re.compile(r"\s*([+-]?\d+)\s*([a-z]+)\s*", re.IGNORECASE)


def interval_of(text: str) -> pa.Scalar:
    """Return an interval written as numbers and units: `15 minutes`. Raises QueryRefused."""
    months = days = nanoseconds = at = 0
    while found := PART.match(text, at):
        count, unit = int(found[1]), found[2].lower().removesuffix("s")
        months += count * MONTHS.get(unit, 0)
        days += count * DAYS.get(unit, 0)
        nanoseconds += count * NANOSECONDS.get(unit, 0)
        if unit not in {*MONTHS, *DAYS, *NANOSECONDS}:
            break
        at = found.end()
    if at == 0 or at < len(text):
        raise QueryRefused(f"Invalid input syntax for type interval: {text!r}")
    return pa.scalar(pa.MonthDayNano([months, days, nanoseconds]), INTERVAL)


def date_bin(stride: Datum, moment: Datum, origin: Datum | None = None) -> Datum:
    """Return the starts of the stretches that moments are in. Raises QueryRefused, ArrowInvalid."""
    if not isinstance(stride, pa.Scalar) or not isinstance(origin, pa.Scalar | None):
        raise QueryRefused("DATE_BIN only supports literal values for stride and origin")
    if origin is not None and not origin.is_valid:
        raise QueryRefused("DATE_BIN expects origin argument to be a TIMESTAMP")
    if pa.types.is_null(stride.type) or pa.types.is_null(moment.type):
        return cast(moment if pa.types.is_null(moment.type) else stride, pa.timestamp("ns"))
    if pa.types.is_string(stride.type):
        stride = interval_of(stride.as_py())
    if stride.type != INTERVAL:
        raise QueryRefused(f"DATE_BIN expects stride argument to be an INTERVAL, not {stride.type}")
    if pa.types.is_date(moment.type) or pa.types.is_string(moment.type):
        moment = cast(moment, pa.timestamp("ns"))
    if not pa.types.is_timestamp(moment.type):
        raise QueryRefused(f"DATE_BIN expects moments, not {moment.type}")
    months, length = _stride(stride)
    start = np.int64(0)
    if origin is not None:
        start = np.int64(cast(cast(origin, pa.timestamp("ns")), pa.int64()).as_py())
    zone = getattr(moment.type, "tz", None)
    wide = cast(cast(moment, pa.timestamp("ns", zone)), pa.int64())
    held = pa.array([wide.as_py()], pa.int64()) if isinstance(wide, pa.Scalar) else wide
    counts = np.asarray(held.fill_null(0))
    found = _of_months(counts, start, months) if months else _of_length(counts, start, length)
    array = pa.array(found, mask=np.asarray(held.is_null()))
    bins = cast(cast(array, pa.timestamp("ns", zone)), moment.type)
    return bins[0] if isinstance(moment, pa.Scalar) else bins


def _stride(interval: pa.Scalar) -> tuple[int, int]:
    """Return the months of an interval, or its nanoseconds. Raises QueryRefused, ArrowInvalid."""
    months, days, nanoseconds = interval.as_py()
    length = days * DAY_NANOSECONDS + nanoseconds
    if months and length:
        raise QueryRefused(
            "DATE_BIN stride does not support combination of month, day and nanosecond intervals"
        )
    if not months and not length:
        raise pa.ArrowInvalid("DATE_BIN stride must be non-zero")
    return months, length


def _floor(difference: Counts, length: int) -> Counts:
    """Return the multiples of a length that stand before differences."""
    return difference // abs(length) * abs(length)


def _of_length(counts: Counts, start: np.int64, length: int) -> Counts:
    return start + _floor(counts - start, length)


def _of_months(counts: Counts, start: np.int64, months: int) -> Counts:
    """Return the starts of stretches of months, on the day of the origin or the last before it."""
    origin = start.astype("datetime64[ns]")
    within = origin - origin.astype("datetime64[M]").astype("datetime64[ns]")
    first = origin.astype("datetime64[M]").astype(np.int64)

    def begun(delta: Counts) -> NDArray[np.datetime64]:
        month = (first + delta).astype("datetime64[M]")
        whole = (month + 1).astype("datetime64[D]") - month.astype("datetime64[D]")
        day = np.minimum(within // np.timedelta64(1, "D"), whole.astype(np.int64) - 1)
        rest = within % np.timedelta64(1, "D")
        return np.asarray((month.astype("datetime64[D]") + day).astype("datetime64[ns]") + rest)

    moments = counts.astype("datetime64[ns]")
    delta = _floor(moments.astype("datetime64[M]").astype(np.int64) - first, months)
    late = begun(delta) > moments
    return begun(np.where(late, delta - abs(months), delta)).astype(np.int64)
