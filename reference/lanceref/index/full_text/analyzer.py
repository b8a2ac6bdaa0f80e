"""Analyzer: rows into documents, and their text into the tokens that are indexed.

A text is a document; the texts of a list are one, with blanks between, or each is one; of a JSON
document every scalar is a token "path,type,value", a text as many as it has words. The lists of
stop words in `stop_words.txt` are those that other writers were found to use.

Clauses: L.index.fts.analyzer.order, L.index.fts.analyzer.length, L.index.fts.analyzer.position,
L.index.fts.stop-words, L.index.fts.folding, L.index.fts.documents.empty,
L.index.fts.documents.list, L.index.fts.documents.json, L.index.fts.unindexed.list
Divergences: D.index.fts-stop-words-after-stemming
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.compute import pc
from lanceref.core.context import Context
from lanceref.core.errors import FormatError, LimitExceeded, Place
from lanceref.index.full_text import tokenizers
from lanceref.index.full_text.packed_integers import Counts, Numbers, ranges
from lanceref.index.full_text.parameters import Analysis, is_list
from lanceref.index.training import BINARY, is_any
from lanceref.json.jsonb import texts

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
def _lists(file: str = "stop_words.txt") -> dict[str, frozenset[str]]:
    from importlib import resources  # only an index with stop words needs it

    text = resources.files(__package__).joinpath(file).read_text("utf-8")
    parts = (part.partition("]") for part in text.split("[")[1:])
    return {name: frozenset(words.split()) for name, _, words in parts}


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language."""
    # L.index.fts.stop-words
    return _lists()[language]


def earlier_stop_words(language: str) -> frozenset[str]:
    """Return words of a language that only releases before 14 take for stop words, folded too."""
    words = _lists("earlier_stop_words.txt").get(language, frozenset())
    return words | frozenset(map(folded, words))


@cache
def every_stop_word() -> frozenset[str]:
    """Return the stop words of all languages together, and of Korean, but for ambiguous ones."""
    lists = dict(_lists())
    ambiguous = lists.pop("ambiguous")
    return frozenset().union(*lists.values()) - ambiguous


def lowered(text: str) -> str:
    """Return a text in lower case, each character by itself: a final sigma is as any other."""
    return "".join(map(str.lower, text)) if "Σ" in text else text.lower()


def cutter(analysis: Analysis) -> tokenizers.Cut:
    """Return the base tokenizer of parameters. Raises OperationRefused, NotYet."""
    own = analysis
    match own.base_tokenizer:
        case "simple":
            return tokenizers.simple
        case "whitespace":
            return tokenizers.whitespace
        case "raw":
            return tokenizers.raw
        case "ngram":
            least, most = own.min_ngram_length, own.max_ngram_length
            return tokenizers.ngrams(least, most, prefix_only=own.prefix_only)
        case "code":
            find = partial(tokenizers.code, operators=own.index_operators)
            numerics, whole = own.split_on_numerics, own.preserve_original
            return find(split=own.split_identifiers, numerics=numerics, whole=whole)
        case "icu" | "icu/split":
            return tokenizers.icu(split=own.base_tokenizer == "icu/split")
        case name:
            return tokenizers.model(name)


class Analyzer:
    """Makes tokens of text; the form of a token is found once."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._cut = cutter(analysis)
        self._form = lru_cache(MOST_KNOWN)(self._formed)
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
        self.stop_words = words if analysis.remove_stop_words else frozenset()

    def tokens(self, text: str) -> list[tuple[str, int]]:
        """Return the tokens that are kept and their positions."""
        words, positions = self._cut(text)
        forms = zip(map(self._form, words), positions, strict=True)
        return [(form, at) for form, at in forms if form is not None]

    def forms(self, texts: Sequence[str]) -> tuple[list[str | None], Counts, Numbers]:
        """Return the forms of the words of all texts, None for those that are dropped.

        With them the number of words of each text, (texts,), and their positions, (words,).
        """
        # L.index.fts.analyzer.position
        words, counts, positions = tokenizers.cut_all(self._cut, texts)
        return list(map(self._form, words)), counts, positions

    def _formed(self, token: str) -> str | None:
        # L.index.fts.analyzer.length, L.index.fts.analyzer.order
        analysis = self.analysis
        longest = analysis.max_token_length
        if longest is not None and len(token.encode("utf-8", "surrogatepass")) >= longest:
            return None
        if analysis.lower_case:
            token = lowered(token)
        if self._stem is not None and not _SURROGATE.search(token):
            token = self._stem(token)
        if token in self.stop_words:
            return None
        return folded(token) if analysis.ascii_folding else token


def filtered_tokens(
    forms: Sequence[str | None], counts: Counts
) -> tuple[list[str], Counts, NDArray[np.bool_]]:
    """Return the forms that are not None, how many each text has, and which of all these are.

    `counts` are the words of each text; they and the second result (texts,), the last (words,).
    """
    mask = np.array([form is not None for form in forms], np.bool_)
    owners = np.repeat(np.arange(len(counts)), counts)[mask]
    tokens = [form for form in forms if form is not None]
    return tokens, np.bincount(owners, minlength=len(counts)), mask


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents of a run of rows: number of the row and number of tokens of each, uint32.

    `elements` (documents, levels), uint32, are their places in each list around them, the outermost
    first; a row that is a document has no level. `tokens` and `positions` are those of all
    documents, one document after the other.
    """

    rows: Numbers
    elements: Numbers
    lengths: Numbers
    tokens: Sequence[str]
    positions: Numbers


def gather(values: pa.Array, analyzer: Analyzer, *, list_elements: bool) -> Documents:
    """Return the documents of values: text, lists of text, or JSON as it is stored."""
    find = _json_forms if analyzer.analysis.is_json else Analyzer.forms
    if is_list(values.type):
        find = Analyzer.forms
        # L.index.fts.documents.list, L.index.fts.unindexed.list
        values = values if list_elements else joined(values)
    of_lists = is_list(values.type)
    rows, elements, items = _items(values)
    if of_lists:
        texts = [text or "" for text in items.to_pylist()]
    else:
        rows, texts = np.flatnonzero(values.is_valid()), as_text(values.drop_null())
    forms, counts, positions = find(analyzer, texts)
    tokens, counts, mask = filtered_tokens(forms, counts)
    if not of_lists:  # L.index.fts.documents.empty
        rows, counts = rows[counts > 0], counts[counts > 0]
        elements = elements[rows]
    own, places, lengths = (one.astype(np.uint32) for one in (rows, elements, counts))
    return Documents(own, places, lengths, tokens, positions[mask])


def _items(values: pa.Array) -> tuple[Counts, Counts, pa.Array]:
    """Return the items of nested lists: rows (items,), places in lists (items, levels), values."""
    rows, places = np.arange(len(values)), np.empty((len(values), 0), np.int64)
    while is_list(values.type):
        sizes = np.asarray(pc.fill_null(pc.list_value_length(values), 0), np.int64)
        own = ranges(np.zeros(len(sizes), np.int64), sizes)
        rows, places = np.repeat(rows, sizes), np.column_stack((np.repeat(places, sizes, 0), own))
        values = values.flatten()
    return rows, places, values


def as_text(values: pa.Array) -> list[str]:
    """Return values without nulls as text, JSON as it is written."""
    if is_any(values.type, *BINARY):
        ctx = Context("")
        values = texts(values.cast(pa.large_binary()), ctx, ctx.at(0))
    return values.to_pylist()  # type: ignore[no-any-return]


def joined(values: pa.Array) -> pa.Array:
    """Return lists of texts as one text each, a blank between two; what is null adds nothing."""
    texts: list[list[str]] = [[] for _ in range(len(values))]
    rows, _, items = _items(values)
    for row, text in zip(rows.tolist(), items.to_pylist(), strict=True):
        if text or (text is not None and texts[row]):  # no blank before the first word
            texts[row].append(text)
    return pa.array(map(" ".join, texts), pa.large_string())


def _json_forms(
    analyzer: Analyzer, texts: Iterable[str]
) -> tuple[Sequence[str | None], Counts, Numbers]:
    """Return the tokens of JSON documents as `Analyzer.forms` does."""
    tokens = [json_tokens(text, analyzer) for text in texts]
    counts = np.array([len(own) for own in tokens], np.int64)
    positions = ranges(np.zeros(len(tokens), np.int64), counts).astype(np.uint32)
    return list(chain(*tokens)), counts, positions


def json_tokens(text: str, analyzer: Analyzer) -> list[str]:
    """Return the tokens of a JSON document. Raises LimitExceeded where it nests too deep."""
    # L.index.fts.documents.json
    place = Place("a document of a text index", 0, len(text))
    try:
        document = json.loads(text, parse_int=_Number, parse_float=_Number)
    except RecursionError as error:
        found, wanted = "a document that nests too deep", "fewer objects and arrays in each other"
        raise LimitExceeded("L.json.column", place, found, wanted) from error
    except ValueError as error:
        clause = "L.index.fts.documents.json"
        raise FormatError(clause, place, f"{error}", "a JSON document") from error
    tokens: list[str] = []
    stack: list[tuple[str, object]] = [("", document)]
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict):
            inner = [(f"{path}.{key}" if path else key, one) for key, one in value.items()]
            stack += reversed(inner)
        elif isinstance(value, list):
            stack += [(path, one) for one in reversed(value)]
        elif isinstance(value, _Number):
            tokens.append(f"{path},number,{value}")
        elif isinstance(value, str):
            tokens += [f"{path},str,{token}" for token, _ in analyzer.tokens(value)]
        elif value is None:
            tokens.append(f"{path},null,null")
        else:
            tokens.append(f"{path},bool,{'true' if value else 'false'}")
    return tokens


class _Number(str):
    """A number as it is written."""

    __slots__ = ()
