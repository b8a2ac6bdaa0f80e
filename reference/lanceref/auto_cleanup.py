"""Automatic clean-up: what the configuration of a new table says about it.

A table whose configuration names an interval in versions and an age has old versions removed as it
grows.

Layout: `lance.auto_cleanup.interval` is a decimal number, `lance.auto_cleanup.older_than` a
duration such as `1day 2h 3m 4s`.
"""

from __future__ import annotations

from collections.abc import Mapping

from lanceref.errors import DataRefused

INTERVAL_KEY = "lance.auto_cleanup.interval"
AGE_KEY = "lance.auto_cleanup.older_than"

INTERVAL = 20
AGE_SECONDS = 14 * 86400

_LONG = {"year": 31_557_600, "month": 2_630_016, "day": 86_400}
_SHORT = {"h": 3600, "m": 60, "s": 1}


def cleanup_config(options: Mapping[str, int] | None) -> dict[str, str]:
    """Return the configuration of a new table. Raises DataRefused for a negative age."""
    if options is None:
        return {}
    age = options.get("older_than_seconds", AGE_SECONDS)
    if age < 0:
        raise DataRefused("Source duration value is out of range for the target type")
    return {INTERVAL_KEY: str(options.get("interval", INTERVAL)), AGE_KEY: duration(age)}


def duration(seconds: int) -> str:
    """Return a number of seconds as text, largest unit first."""
    parts, left = [], seconds
    for unit, size in _LONG.items():
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number}{unit}" + "s" * (number > 1))
    for unit, size in _SHORT.items():
        number, left = divmod(left, size)
        if number:
            parts.append(f"{number}{unit}")
    return " ".join(parts) or "0s"
