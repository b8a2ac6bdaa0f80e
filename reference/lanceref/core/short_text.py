"""Texts that quote a query, short enough for a message."""

from __future__ import annotations

SHOWN = 2000
"""Characters of a text that a message shows."""


def short(text: str) -> str:
    """Return a text with at most `SHOWN` of its characters, all of which UTF-8 can encode."""
    if len(text) > SHOWN:
        half = SHOWN // 2
        text = f"{text[:half]} [{len(text) - SHOWN} characters] {text[-half:]}"
    return text.encode(errors="backslashreplace").decode()
