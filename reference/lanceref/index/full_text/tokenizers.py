"""Base tokenizers: how a text is cut into words before anything else is done with them.

Each returns the words in order and the position of each.

Clauses: L.index.fts.tokenizer.simple, L.index.fts.tokenizer.whitespace,
L.index.fts.tokenizer.raw, L.index.fts.tokenizer.ngram
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

Pieces: TypeAlias = tuple[Sequence[str], Sequence[int]]
"""Words of a text and their positions."""

Cut: TypeAlias = Callable[[str], Pieces]
"""Cuts a text."""

_ASCII_WORDS = re.compile("[0-9A-Za-z]+")
_BLANKS = re.compile("[^ \t\n\x0c\r]+")

ALPHANUMERIC = r"\p{Alphabetic}\p{N}"
"""Characters of words, in a class of the package `regex`."""

NAMES = ("simple", "whitespace", "raw", "ngram", "code", "icu", "icu/split")
MODELS = ("jieba/", "lindera/")
"""Tokenizers, and how the names of those begin that need a model of the user's."""


def is_known(name: str) -> bool:
    """Return whether a base tokenizer has a name."""
    return name in NAMES or name == "jieba" or name.startswith(MODELS)


@cache
def _words() -> Callable[[str], list[str]]:
    import regex  # knows the property Alphabetic; only for text beyond ASCII

    return regex.compile(f"[{ALPHANUMERIC}]+").findall  # type: ignore[no-any-return]


def counted(words: Sequence[str]) -> Pieces:
    """Return words with their numbers as positions."""
    return words, range(len(words))


def simple(text: str) -> Pieces:
    """Return the runs of letters and digits of any script."""
    return counted(_ASCII_WORDS.findall(text) if text.isascii() else _words()(text))


def whitespace(text: str) -> Pieces:
    """Return what stands between ASCII blanks."""
    return counted(_BLANKS.findall(text))


def raw(text: str) -> Pieces:
    """Return the text."""
    return counted([text])


def ngrams(least: int, most: int, *, prefix_only: bool) -> Cut:
    """Return what cuts out the runs of `least` to `most` characters, by start and then length.

    All stand at 0.
    """

    def cut(text: str) -> Pieces:
        starts = range(min(1, len(text)) if prefix_only else len(text))
        words = [
            text[start : start + size]
            for start in starts
            for size in range(least, min(most, len(text) - start) + 1)
        ]
        return words, (0,) * len(words)

    return cut
