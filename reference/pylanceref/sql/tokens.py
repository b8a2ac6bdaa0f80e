"""Tokens of SQL in Lance's dialect, and the bounds of a text.

Text stands in single or in double quotes, and a name that is no plain word in backticks. A text is
bounded in bytes, brackets and operators before it is parsed, so that neither the parser nor the
tree can exhaust the stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import QueryTooLarge

TEXT_BYTES = 1 << 20
"""Bytes of a text: its tree takes some hundred times as many."""

NESTING = 48
"""Brackets inside each other: pylance refuses 50."""

DEPTH = 250
"""Operators that apply to each other's results, one level of the tree each."""

DIGITS = 4300
"""Digits of one number."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<hex>[xX]'[0-9a-fA-F]*'|0[xX][0-9a-fA-F]+)
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<name>`(?:[^`]|``)*`)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>::|<=>|<=|>=|<>|!=|==|\|\||<<|>>|[-+*/%=<>!&|^~,.;:?@\#$(){}\[\]\\])""",
    re.VERBOSE | re.DOTALL,
)


def words(text: str) -> frozenset[str]:
    """Return what lies between the spaces of a text."""
    return frozenset(text.split())


_DEEPENING = words("- + * / % = < > <= >= <> != || << >> :: [ . ~ !")
_DEEPENING_WORDS = words("NOT IN IS LIKE ILIKE BETWEEN")
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text: `kind` is the name of its group above."""

    kind: str
    text: str

    @property
    def word(self) -> str:
        """The word in capitals, empty for what is none."""
        return self.text.upper() if self.kind == "word" else ""


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, without blanks and comments.

    Raises QueryTooLarge for a text beyond the bounds, QueryRefused for one with other letters.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise refusal(text, "a letter is half of a pair") from error
    if size > TEXT_BYTES:
        raise QueryTooLarge(f"a text of {size} bytes; {TEXT_BYTES} are the most")
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise refusal(text, f"{text[at]!r} at {at}")
        kind = match.lastgroup or ""
        if kind == "number" and len(match[0]) > DIGITS:
            raise QueryTooLarge(f"a number has at most {DIGITS} digits")
        if kind != "space":
            found.append(Token(kind, match[0]))
        at = match.end()
    if not found:
        raise refusal(text, "an expression is expected")
    _check_depth(found, text)
    return found


def refusal(text: str, reason: str) -> QueryRefused:
    """Return the refusal of a text, which shows the beginning of it."""
    shown = text if len(text) <= 1000 else f"{text[:1000]}..."
    return QueryRefused(f"Error parsing statement: {shown!a} ({reason[:1000]})")


def _check_depth(tokens: Sequence[Token], text: str) -> None:
    """Raise QueryTooLarge for brackets or operators nested too deep."""
    frames: list[tuple[str, int, int]] = []
    own = inner = best = 0
    for token in tokens:
        sign = token.text if token.kind == "sign" else ""
        own += sign in _DEEPENING or token.word in _DEEPENING_WORDS
        if sign in _CLOSING or token.word == "CASE":
            frames.append((_CLOSING.get(sign, "END"), own, max(inner, best)))
            own = inner = best = 0
            if len(frames) > NESTING:
                raise QueryTooLarge(f"brackets are nested at most {NESTING} deep")
        elif sign in (")", "]") or (token.word == "END" and frames and frames[-1][0] == "END"):
            if not frames or frames[-1][0] != (sign or "END"):
                raise refusal(text, f"{token.text} closes nothing")
            depth = max(best, own + inner) + 1
            _, own, inner = frames.pop()
            inner, best = max(inner, depth), 0
        elif sign == "," or token.word in ("AND", "OR", "WHEN", "THEN", "ELSE"):
            best, own, inner = max(best, own + inner), 0, 0
        if own + inner > DEPTH:
            raise QueryTooLarge(f"an expression has at most {DEPTH} levels of operators")
    if frames:
        raise refusal(text, f"{frames[-1][0]} is expected")
