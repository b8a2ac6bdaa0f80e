"""Untrusted text of adapters, damaged files and findings, made safe to print and to render.

`printable` escapes characters that control a terminal, reorder a line or cannot be encoded. The
functions for Markdown escape markup, so that a text is shown and never interpreted.
"""

from __future__ import annotations

import re
from typing import Any

MAX_NAME = 200
"""Maximum number of characters of a name or a version."""

MAX_TEXT = 8192
"""Maximum number of characters of a detail, message or standard error in a result."""

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
    "\ufdd0-\ufdef\ufeff\ufff9-\uffff"
    + "".join(chr(p + last) for p in range(0x10000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
    + "\U000e0000-\U000e007f]"
)
"""Controls but tab and line feed, direction marks, separators, surrogates, tags, noncharacters."""

_MARKDOWN = re.compile(r"[\\`*_\[\]<>()|~&$]")
"""Characters with a meaning in a line of Markdown."""

_TICKS = re.compile("`+")


def printable(text: str) -> str:
    """Return the text with each unprintable character escaped."""
    if _UNPRINTABLE.search(text) is None:
        return text
    return _UNPRINTABLE.sub(_escape, text.replace("\r\n", "\n"))


def printable_json(value: Any) -> Any:
    """Return a decoded JSON value with all texts printable, also keys."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [printable_json(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): printable_json(item) for key, item in value.items()}
    return value


def truncated(text: str, most: int) -> str:
    """Return a text truncated to `most` characters, with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def first_line(text: str) -> str:
    """Return the first line of a text, printable; empty for an empty text."""
    return next(iter(printable(text).splitlines()), "")


def markdown_prose(text: str) -> str:
    """Return a text for a line of Markdown, without markup, HTML, links and mentions."""
    line = " ".join(printable(text).split())
    line = _MARKDOWN.sub(r"\\\g<0>", line)
    line = re.sub(r"(?<=:)/(?=/)|(?<=www)\.", r"\\\g<0>", line, flags=re.IGNORECASE)
    line = re.sub(r"[@#]", "\\\\\\g<0>\u200b", line)
    return re.sub(r"^(\W|\d+[.)])", _escape_block_start, line)


def markdown_code(text: str, *, cell: bool = False) -> str:
    """Return a text as a code span on one line; in the cell of a table bars are escaped."""
    line = " ".join(printable(text).split())
    if not line:
        return ""
    ticks = "`" * (1 + max(map(len, _TICKS.findall(line)), default=0))
    if cell:
        line = line.replace("\\|", "|").replace("|", "\\|")
    padding = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{padding}{line}{padding}{ticks}"


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escape_block_start(found: re.Match[str]) -> str:
    """Escape the start of a line that would be a list, a heading or a rule."""
    start = found[0]
    if start[0] in "+-=":
        return "\\" + start
    return start if start[-1] not in ".)" or len(start) == 1 else f"{start[:-1]}\\{start[-1]}"
