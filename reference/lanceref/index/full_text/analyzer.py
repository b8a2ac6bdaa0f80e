"""Analyzer: text into the tokens that are indexed and searched for.

Base tokenizer, then each token: dropped when it is too long in bytes, lower case, stem, dropped
when it is a stop word, ASCII folding. Positions are those that the base tokenizer gives.

Stop words are compared with tokens that have been stemmed already; the lists in `stop_words.txt`
are those that other writers were found to use. ASCII folding decomposes a character by
compatibility (NFKD) and keeps its ASCII parts, after some letters have been replaced; a character
without such parts stays as it is, for example a mark alone.

Clauses: L.index.fts.analyzer.order, L.index.fts.analyzer.length, L.index.fts.analyzer.position,
L.index.fts.stop-words, L.index.fts.folding
Divergences: D.index.fts-stop-words-after-stemming
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial

from lanceref.index.full_text.packed_integers import Counts, Numbers
from lanceref.index.full_text.parameters import Analysis
from lanceref.index.full_text.tokenizers import (
    Cut,
    code,
    cut_all,
    icu,
    model,
    ngrams,
    raw,
    simple,
    whitespace,
)

MOST_KNOWN = 1 << 17
"""Tokens whose form is remembered."""

LETTERS = dict(zip("ÐØðøĐđĦħıĸŁłŊŋŦŧ", "DOdoDdHhikLlNnTt", strict=True))
LETTERS |= {"Æ": "AE", "Þ": "TH", "ß": "ss", "ẞ": "SS", "æ": "ae", "þ": "th", "Œ": "OE", "œ": "oe"}
"""Letters that have no decomposition."""

_SURROGATE = re.compile("[\ud800-\udfff]")
"""Characters that no stemmer takes: they are no text."""


@lru_cache(maxsize=1 << 16)
def folded_character(character: str) -> str:
    """Return the ASCII form of a character, or the character."""
    # L.index.fts.folding
    parts = unicodedata.normalize("NFKD", character)
    return "".join(c for c in (LETTERS.get(p, p) for p in parts) if c.isascii()) or character


def folded(text: str) -> str:
    """Return a text with each character folded."""
    return text if text.isascii() else "".join(map(folded_character, text))


@cache
def _lists() -> dict[str, frozenset[str]]:
    from importlib import resources  # only an index with stop words needs it

    text = resources.files(__package__).joinpath("stop_words.txt").read_text("utf-8")
    parts = (part.partition("]") for part in text.split("[")[1:])
    return {name: frozenset(words.split()) for name, _, words in parts}


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language."""
    # L.index.fts.stop-words
    return _lists()[language]


@cache
def every_stop_word() -> frozenset[str]:
    """Return the stop words of all languages together, and of Korean, but for ambiguous ones."""
    lists = dict(_lists())
    ambiguous = lists.pop("ambiguous")
    return frozenset().union(*lists.values()) - ambiguous


def lowered(text: str) -> str:
    """Return a text in lower case, each character by itself: a final sigma is as any other."""
    return "".join(map(str.lower, text)) if "Σ" in text else text.lower()


def cutter(analysis: Analysis) -> Cut:
    """Return the base tokenizer of parameters. Raises OperationRefused, NotYet."""
    own = analysis
    match own.base_tokenizer:
        case "simple":
            return simple
        case "whitespace":
            return whitespace
        case "raw":
            return raw
        case "ngram":
            least, most = own.min_ngram_length, own.max_ngram_length
            return ngrams(least, most, prefix_only=own.prefix_only)
        case "code":
            find = partial(code, operators=own.index_operators, split=own.split_identifiers)
            return find(numerics=own.split_on_numerics, whole=own.preserve_original)
        case "icu" | "icu/split":
            return icu(split=own.base_tokenizer == "icu/split")
        case name:
            return model(name)


class _Forms(dict[str, "str | None"]):
    """Forms of the tokens seen lately."""

    def __init__(self, formed: Callable[[str], str | None]) -> None:
        super().__init__()
        self._formed = formed

    def __missing__(self, token: str) -> str | None:
        if len(self) >= MOST_KNOWN:
            self.clear()
        self[token] = form = self._formed(token)
        return form


class Analyzer:
    """Makes tokens of text; the form of a token is found once."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._cut = cutter(analysis)
        self._forms = _Forms(self._formed)
        self._stem: Callable[[str], str] | None = None
        if analysis.stem:
            import snowballstemmer

            self._stem = snowballstemmer.stemmer(analysis.language.lower()).stemWord
        own = analysis.custom_stop_words
        if own is not None:
            words = frozenset(own)
        elif analysis.base_tokenizer.startswith("icu"):
            words = every_stop_word()  # L.index.fts.stop-words.icu
        else:
            words = stop_words(analysis.language)
        self._stop_words = words if analysis.remove_stop_words else frozenset()

    def tokens(self, text: str) -> list[tuple[str, int]]:
        """Return the tokens that are kept and their positions."""
        words, positions = self._cut(text)
        forms = map(self._forms.__getitem__, words)
        return [(form, at) for form, at in zip(forms, positions, strict=True) if form is not None]

    def forms(self, texts: Sequence[str]) -> tuple[list[str | None], Counts, Numbers]:
        """Return the forms of the words of all texts, None for those that are dropped.

        With them the number of words of each text, (texts,), and their positions, (words,).
        """
        # L.index.fts.analyzer.position
        words, counts, positions = cut_all(self._cut, texts)
        return list(map(self._forms.__getitem__, words)), counts, positions

    def _formed(self, token: str) -> str | None:
        """Return the form of a token, None when it is dropped."""
        # L.index.fts.analyzer.length, L.index.fts.analyzer.order
        analysis = self.analysis
        longest = analysis.max_token_length
        if longest is not None and len(token.encode("utf-8", "surrogatepass")) >= longest:
            return None
        if analysis.lower_case:
            token = lowered(token)
        if self._stem is not None and not _SURROGATE.search(token):
            token = self._stem(token)
        if token in self._stop_words:
            return None
        return folded(token) if analysis.ascii_folding else token
