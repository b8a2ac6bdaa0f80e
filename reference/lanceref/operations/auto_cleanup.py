"""Automatic clean-up: old versions that go as a table grows.

A table whose configuration names an interval has old versions removed by every commit whose version
the interval divides: those before the version that was read, older than an age and not among the
latest ones. A commit stays made when its clean-up fails.

Layout: `lance.auto_cleanup.interval` is a decimal number, `lance.auto_cleanup.older_than` a
duration such as `1day 2h 3m 4s`, `lance.auto_cleanup.retain_versions` a decimal number.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TypedDict

from lanceref.core.errors import CleanupRefused, DataRefused, LanceError, short
from lanceref.operations.cleanup import Cleanup
from lanceref.search.snapshot import Snapshot
from lanceref.storage import Store

INTERVAL_KEY = "lance.auto_cleanup.interval"
AGE_KEY = "lance.auto_cleanup.older_than"
RETAIN_KEY = "lance.auto_cleanup.retain_versions"

INTERVAL = 20

DIGITS = 20
"""Digits of a number that is looked at: those of the largest of 64 bits."""

LONGEST_SECONDS = timedelta.max.total_seconds()
AGE_SECONDS = 14 * 86400

_LONG = {"year": 31_557_600, "month": 2_630_016, "day": 86_400}
_SHORT = {"h": 3600, "m": 60, "s": 1}

_UNITS = {
    "nsec ns": 1e-9,
    "usec us": 1e-6,
    "msec ms": 1e-3,
    "seconds second sec s": 1,
    "minutes minute min m": 60,
    "hours hour hr h": 3600,
    "days day d": 86_400,
    "weeks week w": 604_800,
    "months month M": _LONG["month"],
    "years year y": _LONG["year"],
}
_SECONDS = {name: size for names, size in _UNITS.items() for name in names.split()}


class AutoCleanupConfig(TypedDict, total=False):
    """How often old versions go, in versions, and from which age on."""

    interval: int
    older_than_seconds: int


def cleanup_config(options: AutoCleanupConfig | None) -> dict[str, str]:
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


def seconds_of(text: str) -> float:
    """Return the seconds of a duration. Raises CleanupRefused for something else."""
    parts = re.findall(r"(\d+)\s*([A-Za-z]+)", text)
    left = re.sub(r"(\d+)\s*([A-Za-z]+)", "", text)
    known = all(unit in _SECONDS and len(number) <= DIGITS for number, unit in parts)
    seconds = sum(int(number) * _SECONDS[unit] for number, unit in parts) if known else 0.0
    if not parts or left.strip() or not known or seconds > LONGEST_SECONDS:
        raise CleanupRefused(f"{AGE_KEY} is no duration: {short(text)!r}")
    return seconds


def clean_after_commit(made: Snapshot, root: Store, read_version: int) -> None:
    """Remove old versions if the configuration of a version that was just committed asks for it.

    `root` is the store of the main branch.
    """
    config = made.manifest.message.config
    if INTERVAL_KEY not in config:
        return
    try:
        _clean(Cleanup(made, root), config, read_version)
    except (LanceError, OSError) as error:
        logging.getLogger(__name__).warning("Auto cleanup failed after a commit: %s", error)


def _clean(table: Cleanup, config: Mapping[str, str], read_version: int) -> None:
    interval = _number(config, INTERVAL_KEY)
    if interval and table.version % interval:
        return
    retain = _number(config, RETAIN_KEY) if RETAIN_KEY in config else None
    age = timedelta(seconds=seconds_of(config[AGE_KEY])) if AGE_KEY in config else None
    if age is None and retain is None:
        age = timedelta(0)
    table.carry_out(table.plan(age, retain, before=read_version))


def _number(config: Mapping[str, str], key: str) -> int:
    if not config[key].isdecimal() or len(config[key]) > DIGITS:
        raise CleanupRefused(f"{key} is no number: {short(config[key])!r}")
    return int(config[key])
