"""Stop words: words of a language that say little and are left out.

They are compared with tokens that have been stemmed already. The lists are those that other writers
were found to use, in `stop_words.txt`.

Clauses: L.index.fts.stop-words
Divergences: D.index.fts-stop-words-after-stemming
"""

from __future__ import annotations

from functools import cache

LANGUAGES = (
    "Arabic",
    "Danish",
    "Dutch",
    "English",
    "Finnish",
    "French",
    "German",
    "Greek",
    "Hungarian",
    "Italian",
    "Norwegian",
    "Portuguese",
    "Romanian",
    "Russian",
    "Spanish",
    "Swedish",
    "Tamil",
    "Turkish",
)
"""Languages that can be stemmed and have a list."""


@cache
def _lists() -> dict[str, frozenset[str]]:
    from importlib import resources  # only an index with stop words needs it

    text = resources.files(__package__).joinpath("stop_words.txt").read_text("utf-8")
    parts = (part.partition("]") for part in text.split("[")[1:])
    return {name: frozenset(words.split()) for name, _, words in parts}


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language."""
    return _lists()[language]


@cache
def every_stop_word() -> frozenset[str]:
    """Return the stop words of all languages together, and of Korean, but for ambiguous ones."""
    lists = dict(_lists())
    ambiguous = lists.pop("ambiguous")
    return frozenset().union(*lists.values()) - ambiguous
