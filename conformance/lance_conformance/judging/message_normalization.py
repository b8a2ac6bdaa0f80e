"""Normalization of messages: parts that differ between equal runs are replaced.

These are scratch folders, numbers of threads, tasks and processes, addresses, and times.
"""

from __future__ import annotations

import re
from pathlib import Path

_VOLATILE_PARTS = (
    (re.compile(r"(thread '[^']*' )\(\d+\)"), r"\1(…)"),
    (re.compile(r"\b(task|pid|thread|process)([ =:]+)\d+", re.IGNORECASE), r"\1\2…"),
    (re.compile(r"\b0x[0-9a-f]{6,}"), "0x…"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?"), "<time>"),
)


def normalize_message(text: str, scratch: Path) -> str:
    """Return a message without the parts that differ in the next run."""
    folder = re.escape(str(scratch).strip("/"))  # object stores show paths without the first slash
    text = re.sub(rf"/?{folder}(/\d+\b)?", "<scratch>", text)
    for pattern, replacement in _VOLATILE_PARTS:
        text = pattern.sub(replacement, text)
    return text
