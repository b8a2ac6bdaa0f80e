"""Tests of volatile text: two runs tell the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from lance_conformance.volatile import steady


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("no file /t/w0/17/input.lance", "no file <scratch>/input.lance"),
        ("t/w0/3/table.lance/_versions", "<scratch>/table.lance/_versions"),
        ("thread 'main' (4711) panicked", "thread 'main' (…) panicked"),
        ("task 12 panicked: index 12", "task … panicked: index 12"),
        ("at 0x7f00aa12b0", "at 0x…"),
        ("[2026-01-02T03:04:05.678Z WARN]", "[<time> WARN]"),
        ("offset 0x1234, 5 rows", "offset 0x1234, 5 rows"),
    ],
)
def test_what_is_taken_out(text: str, left: str) -> None:
    """Scratch folders, numbers of threads, addresses and times go; numbers of the format stay."""
    assert left == steady(text, Path("/t/w0"))
