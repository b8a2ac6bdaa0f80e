"""ASCII folding: letters without their marks, ligatures as letters.

A character is decomposed by compatibility (NFKD) and its ASCII parts are left, after letters of
their own have been replaced. One of which nothing would be left stays as it is, so a mark alone
does.

Clauses: L.index.fts.folding
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

LETTERS = {
    "Æ": "AE",
    "Ð": "D",
    "Ø": "O",
    "Þ": "TH",
    "ß": "ss",
    "ẞ": "SS",
    "æ": "ae",
    "ð": "d",
    "ø": "o",
    "þ": "th",
    "Đ": "D",
    "đ": "d",
    "Ħ": "H",
    "ħ": "h",
    "ı": "i",
    "ĸ": "k",
    "Ł": "L",
    "ł": "l",
    "Ŋ": "N",
    "ŋ": "n",
    "Œ": "OE",
    "œ": "oe",
    "Ŧ": "T",
    "ŧ": "t",
}
"""Letters that have no decomposition."""


@lru_cache(maxsize=1 << 16)
def folded_character(character: str) -> str:
    """Return the ASCII form of a character, or the character."""
    parts = unicodedata.normalize("NFKD", character)
    return "".join(c for c in (LETTERS.get(p, p) for p in parts) if c.isascii()) or character


def folded(text: str) -> str:
    """Return a text with each character folded."""
    return text if text.isascii() else "".join(map(folded_character, text))
