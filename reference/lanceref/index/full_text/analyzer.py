"""Analyzer: text into the tokens that are indexed and asked for.

Base tokenizer, then each token: dropped when it is too long in bytes, lower case, stem, dropped
when it is a stop word, ASCII folding. Positions are those that the base tokenizer gives.

Clauses: L.index.fts.analyzer.order, L.index.fts.analyzer.length, L.index.fts.analyzer.position

ASCII folding: letters without their marks, ligatures as letters.

A character is decomposed by compatibility (NFKD) and its ASCII parts are left, after letters of
their own have been replaced. One of which nothing would be left stays as it is, so a mark alone
does.

Clauses: L.index.fts.folding
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lanceref.index.full_text.parameters import Analysis
from lanceref.index.full_text.stop_words import every_stop_word, stop_words
from lanceref.index.full_text.tokenizers import (
    Cut,
    code,
    icu,
    model,
    ngrams,
    raw,
    simple,
    split_code,
    whitespace,
)

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


MOST_KNOWN = 1 << 17
"""Tokens whose form is remembered."""

_SURROGATE = re.compile("[\ud800-\udfff]")
"""What no stem is found of: it is no text."""


def lowered(text: str) -> str:
    """Return a text in lower case, character by character: a sigma does not know its place."""
    return "".join(map(str.lower, text)) if "Σ" in text else text.lower()


def cutter(analysis: Analysis) -> Cut:
    """Return the base tokenizer of parameters. Raises ModelMissing, NotYet."""
    name = analysis.base_tokenizer
    if name == "ngram":
        return ngrams(
            analysis.min_ngram_length,
            analysis.max_ngram_length,
            prefix_only=analysis.prefix_only,
        )
    if name == "code" and analysis.split_identifiers:
        return split_code(
            operators=analysis.index_operators,
            numerics=analysis.split_on_numerics,
            whole=analysis.preserve_original,
        )
    if name == "code":
        return code(operators=analysis.index_operators)
    if name in ("icu", "icu/split"):
        return icu(split=name == "icu/split")
    known = {"simple": simple, "whitespace": whitespace, "raw": raw}
    return known[name] if name in known else model(name)


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


@dataclass(frozen=True, slots=True)
class Forms:
    """Tokens of some texts, one text behind the other, None for words that are dropped.

    `counts` says how many words each text has, `places` where they stand.
    """

    tokens: Sequence[str | None]
    counts: Sequence[int]
    places: Sequence[Sequence[int]]


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

    def forms(self, texts: Iterable[str]) -> Forms:
        """Return what becomes of every word of some texts."""
        words: list[str] = []
        counts: list[int] = []
        places: list[Sequence[int]] = []
        for text in texts:
            own, positions = self._cut(text)
            words += own
            counts.append(len(own))
            places.append(positions)
        return Forms(list(map(self._forms.__getitem__, words)), counts, places)

    def length(self, text: str) -> int:
        """Return the positions that a text takes."""
        positions = self._cut(text)[1]
        return positions[-1] + 1 if positions else 0

    def _formed(self, token: str) -> str | None:
        """Return the form of a token, None when it is dropped."""
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
