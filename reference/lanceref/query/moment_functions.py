"""Functions of moments: counted from 1970 on, made of their parts, and as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa

from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused
from lanceref.query.casts import Datum, cast
from lanceref.query.coercion import is_number
from lanceref.query.date_bins import date_bin
from lanceref.query.duration_text import duration_text
from lanceref.query.text_functions import by_row

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

FRACTION = re.compile(r"%(\.?)([369]?)f|%([%se]|:z)")
"""Directives that Python has not, or means otherwise."""


def _counted(unit: str) -> Callable[[Datum], Datum]:
    """Return the function of moments in a unit, which a number counts."""

    def run(value: Datum) -> Datum:
        if is_number(value.type):
            value = cast(value, pa.int64())
        return cast(value, pa.timestamp(unit))

    return run


def _to_unixtime(value: Datum) -> Datum:
    """Return the seconds of a moment; a number is taken for them."""
    if is_number(value.type):
        return cast(value, pa.int64())
    zone = getattr(value.type, "tz", None)
    return cast(cast(value, pa.timestamp("s", zone)), pa.int64())


def _to_local_time(value: Datum) -> Datum:
    return pc.local_timestamp(value) if getattr(value.type, "tz", None) else value


def _shown(count: int, zone: str | None, form: str) -> str:
    """Return a moment, in nanoseconds from 1970 on, as a form says."""
    moment = (EPOCH + timedelta(microseconds=count // 1000)).astimezone(ZoneInfo(zone or "UTC"))

    def directive(found: re.Match[str]) -> str:
        other = found[3]
        if other == "%":
            return "%%"
        if other == "s":
            return str(count // 10**9)
        if other == "e":
            return f"{moment.day:2}"
        if other == ":z":
            return moment.strftime("%z")[:3] + ":" + moment.strftime("%z")[3:5]
        return found[1] + f"{count % 10**9:09}"[: int(found[2] or 9)]

    return moment.strftime(FRACTION.sub(directive, form))


def _to_char(value: Datum, form: Datum) -> Datum:
    """Return days, times, moments and durations as text. Raises QueryRefused for other values."""
    type_ = value.type
    if pa.types.is_duration(type_):
        return duration_text(value, form)
    if not (pa.types.is_date(type_) or pa.types.is_time(type_) or pa.types.is_timestamp(type_)):
        raise QueryRefused(f"to_char takes dates, times, timestamps and durations, not {type_}")
    zone = getattr(type_, "tz", None)
    if pa.types.is_time(type_):
        count = cast(cast(value, pa.time64("ns")), pa.int64())
    else:
        count = cast(cast(value, pa.timestamp("ns", zone)), pa.int64())
    show = by_row(lambda number, text: _shown(number, zone, text), pa.utf8(), "nt")
    return show(count, form)


def _make_date(year: int, month: int, day: int) -> int:
    return date(year, month, day).toordinal() - EPOCH.toordinal()


_DATES = by_row(_make_date, pa.int32(), "n")

MOMENT_FUNCTIONS: dict[str, Callable[..., Datum]] = {
    "date_bin": date_bin,
    "date_format": _to_char,
    "from_unixtime": _counted("s"),
    "make_date": lambda *parts: cast(_DATES(*parts), pa.date32()),
    "to_char": _to_char,
    "to_local_time": _to_local_time,
    "to_timestamp_micros": _counted("us"),
    "to_timestamp_millis": _counted("ms"),
    "to_timestamp_nanos": _counted("ns"),
    "to_timestamp_seconds": _counted("s"),
    "to_unixtime": _to_unixtime,
}
"""Functions by name."""
