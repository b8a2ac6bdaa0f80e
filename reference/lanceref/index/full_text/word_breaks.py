"""Word breaks: how text of any language is cut by the rules of Unicode.

Words are the segments of Unicode's default word boundaries that hold a letter or a digit; a colon
of any width is always one, as in the root locale. Scripts that are written without blanks need a
dictionary, which is not here: Chinese, Japanese, Thai and the like are refused.

Clauses: L.index.fts.tokenizer.icu
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from lanceref.core.errors import NotYet
from lanceref.index.full_text.tokenizers import ALPHANUMERIC, Cut, Pieces, counted, simple

if TYPE_CHECKING:
    import regex

_UNDIVIDED = r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc\uff70\p{Line_Break=SA}]"
"""Characters of scripts that are written without blanks."""


@cache
def _pattern(text: str, word: bool) -> regex.Pattern[str]:
    import regex  # only for an index that cuts by these rules

    return regex.compile(text, regex.V1 | (regex.WORD if word else 0))


def _segments(text: str) -> Iterator[str]:
    boundary = _pattern(r"\b", True)
    for part in _pattern("[:\ufe55\uff1a]", False).split(text):
        start = 0
        for found in boundary.finditer(part):
            yield part[start : found.start()]
            start = found.start()
        yield part[start:]


def icu(*, split: bool) -> Cut:
    """Return what cuts text at word boundaries; `split` cuts words at all other characters too.

    That raises NotYet for a text that only a dictionary can cut.
    """

    def cut(text: str) -> Pieces:
        if text.isascii() and split:
            return simple(text)
        found = _pattern(_UNDIVIDED, False).search(text)
        if found is not None:
            raise NotYet(f"U+{ord(found.group()):04X} is of a script that only a dictionary cuts")
        if split:
            return counted([word for one in _segments(text) for word in simple(one)[0]])
        holds = _pattern(f"[{ALPHANUMERIC}]", False).search
        return counted([one for one in _segments(text) if holds(one)])

    return cut
