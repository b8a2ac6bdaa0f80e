"""Identifiers: how program text is cut.

Words are runs of letters, digits and low lines, and on demand operators, the longest first. A word
can be cut further: at low lines, before a capital that follows a small letter, before the last
capital of a run that a small letter follows, and between ASCII digits and others. The whole word
then stands where its first part does.

Clauses: L.index.fts.tokenizer.code
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from lanceref.index.full_text.tokenizers import ALPHANUMERIC, Cut, Pieces, counted

OPERATORS = (
    *(">>>=", "!==", "&&=", "**=", "//=", "<<=", "<=>", "===", ">>=", ">>>", "??=", "||="),
    *("!=", "%=", "&&", "&=", "**", "*=", "++", "+=", "--", "-=", "->", "//", "/=", "::", ":="),
    *("<-", "<<", "<=", "==", "=>", ">=", ">>", "??", "^=", "|=", "|>", "||", "~="),
    *"!%&*+-/:<=>?^|~",
)
"""Operators of program text, longer ones before those that they begin with."""


@cache
def _finder(operators: bool) -> Callable[[str], list[str]]:
    import regex  # only for an index over program text

    word = f"[_{ALPHANUMERIC}]+"
    tokens = [word, *(map(regex.escape, OPERATORS) if operators else ())]
    return regex.compile("|".join(tokens)).findall  # type: ignore[no-any-return]


def _boundary(before: str, here: str, after: str, numerics: bool) -> bool:
    """Return whether a part begins at a character."""
    if numerics and _digit(before) != _digit(here):
        return True
    return here.isupper() and (before.islower() or (before.isupper() and after.islower()))


def _digit(character: str) -> bool:
    return "0" <= character <= "9"


def parts_of(word: str, *, numerics: bool) -> list[str]:
    """Return the parts of an identifier; `numerics` cuts between digits and others."""
    found = []
    for run in word.split("_"):
        start = 0
        for at in range(1, len(run)):
            if _boundary(run[at - 1], run[at], run[at + 1 : at + 2], numerics):
                found.append(run[start:at])
                start = at
        if run:
            found.append(run[start:])
    return found


def code(*, operators: bool) -> Cut:
    """Return what cuts program text into words, and operators where they are asked for."""
    find = _finder(operators)
    return lambda text: counted(find(text))


def split_code(*, operators: bool, numerics: bool, whole: bool) -> Cut:
    """Return what cuts program text into parts of words, and on demand the `whole` words too."""
    find = _finder(operators)

    def cut(text: str) -> Pieces:
        words: list[str] = []
        positions: list[int] = []
        for word in find(text):
            position = positions[-1] + 1 if positions else 0
            parts = parts_of(word, numerics=numerics)
            if len(parts) < 2:
                words.append(word)
                positions.append(position)
                continue
            if whole:
                words.append(word)
                positions.append(position)
            words += parts
            positions += range(position, position + len(parts))
        return words, positions

    return cut
