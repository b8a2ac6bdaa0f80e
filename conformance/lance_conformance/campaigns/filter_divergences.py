"""Filter divergences: which published divergence makes two answers to a filter differ."""

from __future__ import annotations

import re

KNOWN: tuple[tuple[str, str], ...] = (
    ("D.query.zero-after-simplification", r"coalesce\(0\.0, (?:dec|f64|f32|\()"),
)
"""Id of a divergence, and the pattern of the filters that show it."""


def divergence_of(text: str, wanted: object, found: object) -> str | None:
    """Return the id of the divergence that a filter shows, None where there is none."""
    return next((name for name, pattern in KNOWN if re.search(pattern, text)), None)
