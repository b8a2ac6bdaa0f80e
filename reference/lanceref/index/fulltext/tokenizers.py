"""Base tokenizers: how a text is cut into tokens before anything else is done with them.

Each yields the tokens in order, one position apart.

Clauses: L.index.fts.tokenizer.simple, L.index.fts.tokenizer.whitespace,
L.index.fts.tokenizer.raw, L.index.fts.tokenizer.ngram
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

Cut: TypeAlias = Callable[[str], Sequence[str]]
"""Cuts a text."""

_ASCII_WORDS = re.compile("[0-9A-Za-z]+")
_BLANKS = re.compile("[^ \t\n\x0c\r]+")

KNOWN = ("simple", "whitespace", "raw", "ngram")
"""Tokenizers that are there; others need tables of words or of sentence breaks."""


@cache
def _words() -> Callable[[str], list[str]]:
    import regex  # knows the property Alphabetic; only for text beyond ASCII

    return regex.compile(r"[\p{Alphabetic}\p{N}]+").findall  # type: ignore[no-any-return]


def simple(text: str) -> Sequence[str]:
    """Return the runs of letters and digits of any script."""
    return _ASCII_WORDS.findall(text) if text.isascii() else _words()(text)


def whitespace(text: str) -> Sequence[str]:
    """Return what stands between ASCII blanks."""
    return _BLANKS.findall(text)


def raw(text: str) -> Sequence[str]:
    """Return the text."""
    return [text]


def ngrams(least: int, most: int, *, prefix_only: bool) -> Cut:
    """Return what cuts out the runs of `least` to `most` characters, by start and then length."""

    def cut(text: str) -> Sequence[str]:
        starts = range(min(1, len(text)) if prefix_only else len(text))
        return [
            text[start : start + size]
            for start in starts
            for size in range(least, min(most, len(text) - start) + 1)
        ]

    return cut
