"""Analyzer: text into the tokens that are indexed and asked for.

Base tokenizer, then each token: dropped when it is too long in bytes, lower case, stem, dropped
when it is a stop word, ASCII folding. Positions count the tokens of the base tokenizer, but n-grams
all stand at 0.

Clauses: L.index.fts.analyzer.order, L.index.fts.analyzer.length, L.index.fts.analyzer.position
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lanceref.index.fulltext.folding import folded
from lanceref.index.fulltext.parameters import Analysis
from lanceref.index.fulltext.stop_words import stop_words
from lanceref.index.fulltext.tokenizers import Cut, ngrams, raw, simple, whitespace

MOST_KNOWN = 1 << 17
"""Tokens whose form is remembered."""


def lowered(text: str) -> str:
    """Return a text in lower case, character by character: a sigma does not know its place."""
    return "".join(map(str.lower, text)) if "Σ" in text else text.lower()


def cutter(analysis: Analysis) -> Cut:
    """Return the base tokenizer of parameters."""
    if analysis.base_tokenizer == "ngram":
        return ngrams(
            analysis.min_ngram_length,
            analysis.max_ngram_length,
            prefix_only=analysis.prefix_only,
        )
    return {"simple": simple, "whitespace": whitespace, "raw": raw}[analysis.base_tokenizer]


class Analyzer:
    """Makes tokens of text; the form of a token is found once."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._cut = cutter(analysis)
        self._overlapping = analysis.base_tokenizer == "ngram"
        self._forms: dict[str, str | None] = {}
        self._stem: Callable[[str], str] | None = None
        if analysis.stem:
            import snowballstemmer

            self._stem = snowballstemmer.stemmer(analysis.language.lower()).stemWord
        own = analysis.custom_stop_words
        words = stop_words(analysis.language) if own is None else frozenset(own)
        self._stop_words = words if analysis.remove_stop_words else frozenset()

    def tokens(self, text: str) -> Iterator[tuple[str, int]]:
        """Yield the tokens that are kept and their positions."""
        step = 0 if self._overlapping else 1
        for number, token in enumerate(self._cut(text)):
            form = self._form(token)
            if form is not None:
                yield form, number * step

    def length(self, text: str) -> int:
        """Return the positions that a text takes."""
        count = len(self._cut(text))
        return min(count, 1) if self._overlapping else count

    def _form(self, token: str) -> str | None:
        if token not in self._forms:
            if len(self._forms) >= MOST_KNOWN:
                self._forms.clear()
            self._forms[token] = self._formed(token)
        return self._forms[token]

    def _formed(self, token: str) -> str | None:
        """Return the form of a token, None when it is dropped."""
        analysis = self.analysis
        longest = analysis.max_token_length
        if longest is not None and len(token.encode("utf-8", "surrogatepass")) >= longest:
            return None
        if analysis.lower_case:
            token = lowered(token)
        if self._stem is not None:
            token = self._stem(token)
        if token in self._stop_words:
            return None
        return folded(token) if analysis.ascii_folding else token
