"""Text matching: which documents of a column have words or a phrase, and their scores.

Clauses: L.index.fts.score, L.index.fts.match, L.index.fts.phrase, L.index.fts.fuzzy,
L.index.fts.unindexed.repeats, L.index.fts.unindexed.phrase
Divergences: D.index.fts-slop
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby

import numpy as np

from lanceref.core.errors import QueryRefused
from lanceref.core.integers import unique
from lanceref.index.full_text.bm25 import Scores, scores, weight
from lanceref.index.full_text.fst import near
from lanceref.index.full_text.packed_integers import Numbers
from lanceref.search.full_text import Match, Phrase
from lanceref.search.row_locator import Places
from lanceref.search.text_column import TextColumn, TextPart, corpus_of, count_of


@dataclass(frozen=True, slots=True)
class Hits:
    """Places of documents, ascending, and the score of each."""

    places: Places
    scores: Scores


NONE = Hits(np.empty(0, np.int64), np.empty(0, np.float32))
"""No document."""

NOWHERE = np.empty(0, np.uint32)

NO_POSITIONS = (
    "position is not found but required for phrase queries, try recreating the index with position"
)

MANY = 1024
"""Words of a query from which on equal ones are added at once, not one by one."""

SPARE = 4
"""Of so many times as many documents as are wanted some may be deleted."""

SAMPLED = 16
"""One score of so many is ranked before all are."""
Term = tuple[int, str]
"""A place in a query, and a token that may be there."""

Scored = tuple[Numbers, Scores]
"""Documents that hold a token, and what it adds to the score of each."""


class _PartScores:
    """Scores of the documents of a part, as tokens are added one by one, word after word."""

    def __init__(self, part: TextPart, statistics: Sequence[TextPart]) -> None:
        self._part, self._statistics = part, statistics
        self._corpus = corpus_of(statistics)
        self._known: dict[str, Scored | None] = {}
        self._words: list[list[Scored]] = []

    def add(self, tokens: Sequence[str]) -> None:
        """Add to the documents that hold one of a word's tokens its score."""
        scored = [self._score(token) for token in tokens]
        if any(one is not None for one in scored):
            self._words.append([one for one in scored if one is not None])

    def _score(self, token: str) -> Scored | None:
        """Return the documents that hold a token and its scores; None without any."""
        if token not in self._known:
            self._known[token] = None
            number = self._part.documents.number_of(token)
            if number is not None:
                postings = self._part.documents.postings(number)
                own = weight(self._corpus.num_documents, count_of(self._statistics, token))
                mean, documents = self._corpus.mean_length, postings.documents
                added = scores(postings.frequencies, self._part.lengths, documents, own, mean)
                self._known[token] = (documents, added)
        return self._known[token]

    def _counted(self) -> list[tuple[list[Scored], int]]:
        """Return the words and how often each counts; of very many, equal ones are one."""
        if len(self._words) <= MANY:
            return [(forms, 1) for forms in self._words]
        keys = [tuple(id(documents) for documents, _ in forms) for forms in self._words]
        times, alike = Counter(keys), dict(zip(keys, self._words, strict=True))
        return [(forms, times[key]) for key, forms in alike.items()]

    def with_words(self, least: int) -> tuple[Places, Scores]:
        """Return the documents that hold so many of the words, ascending, and their scores."""
        if len(self._words) < least:
            return NONE.places, NONE.scores
        if len(self._words) == 1 and len(self._words[0]) == 1:
            ((documents, scores),) = self._words[0]
            return documents.astype(np.int64), scores
        size = self._part.documents.corpus.num_documents
        total, words = np.zeros(size, np.float32), np.zeros(size, np.min_scalar_type(least))
        for forms, times in self._counted():
            for documents, scores in forms:
                total[documents] += scores if times == 1 else scores * np.float32(times)
            every = [documents for documents, _ in forms]
            holding = every[0] if len(every) == 1 else unique(np.concatenate(every))
            words[holding] = 1 if least < 2 else np.minimum(words[holding], least - times) + times
        chosen = np.flatnonzero(words >= least)
        return chosen, total[chosen]

    def hits(
        self, chosen: Places, scores: Scores, boost: np.float32, best: int | None = None
    ) -> Hits:
        """Return chosen documents that are not deleted, at least the `best` so many of them."""
        count = len(chosen) if best is None else SPARE * (best + 1)
        while count < len(chosen):
            enough = scores >= _greatest(scores, count)
            live = self._live(chosen[enough], scores[enough] * boost)
            if len(live.places) >= (best or 0):
                return live
            count *= SPARE
        return self._live(chosen, scores * boost)

    def _live(self, chosen: Places, scores: Scores) -> Hits:
        places = self._part.places(chosen)
        mask = places >= 0
        return Hits(places[mask], scores[mask])


def _greatest(scores: Scores, count: int) -> np.float32:
    """Return the score of that rank; it is at least that of the same rank among some of them."""
    some = scores[::SAMPLED]
    if count < len(some):
        scores = scores[scores >= np.partition(some, -count)[-count]]
    return np.float32(np.partition(scores, -count)[-count])


def join_hits(hits: Sequence[Hits]) -> Hits:
    """Return the hits of parts, none of which has a place of another."""
    places = np.concatenate([NONE.places, *(one.places for one in hits)])
    scores = np.concatenate([NONE.scores, *(one.scores for one in hits)])
    order = np.argsort(places, kind="stable")
    return Hits(places[order], scores[order])


def match(column: TextColumn, query: Match, best: int | None = None) -> Hits:
    """Return the documents with any word of a query, or all. Raises QueryRefused, FormatError.

    Words at one place are forms of each other: one of them is enough. At least the `best` so many
    are returned.
    """
    # L.index.fts.match
    hits, boost = [], np.float32(query.boost)
    similar: dict[Term, None] | None = None
    for part, statistics in column.parts():
        fuzzy = query.fuzziness > 0 and part.is_indexed
        words = _terms(column.tokens(query.query, plain=fuzzy), part)
        if fuzzy and similar is None:  # the same for all partitions
            similar = dict.fromkeys(_similar(column, words, query))
        scored = _PartScores(part, statistics)
        for forms in _forms(words if similar is None or not fuzzy else similar).values():
            scored.add(forms)
        least = len({place for place, _ in words}) if query.every else 1
        if words:
            hits.append(scored.hits(*scored.with_words(least), boost, best))
    return join_hits(hits)


def _terms(tokens: Sequence[tuple[str, int]], part: TextPart) -> list[Term]:
    """Return the tokens of a query by their places; in an index each counts once at a place."""
    terms = [(place, token) for token, place in tokens]
    if part.is_indexed:
        terms = [*dict.fromkeys(terms)]
    return sorted(terms, key=lambda one: one[0])  # L.index.fts.unindexed.repeats


def _forms(terms: Iterable[Term]) -> dict[int, list[str]]:
    forms: dict[int, list[str]] = {}
    for place, token in terms:
        forms.setdefault(place, []).append(token)
    return forms


def _similar(column: TextColumn, words: Sequence[Term], query: Match) -> Iterator[Term]:
    """Yield the tokens near words, the first ones of all partitions together."""
    # L.index.fts.fuzzy
    remaining = query.max_expansions
    for place, word in words:
        prefix = column.prefix(word, query.prefix_length)
        known = [one.documents.tokens for one in column.indexed]
        alike = [near(tokens, word, query.fuzziness, prefix) for tokens in known]
        for token, _ in groupby(merge(*alike)):
            if not remaining:
                return
            remaining -= 1
            yield place, token


def phrase(column: TextColumn, query: Phrase) -> Hits:
    """Return the documents with words in order. Raises QueryRefused, FormatError."""
    # L.index.fts.phrase
    if not all(index.settings.analysis.with_position for index, _ in column.opened):
        raise QueryRefused(NO_POSITIONS)
    tokens, hits = column.tokens(query.query), []
    for part, statistics in column.parts() if tokens else ():
        words = _terms(tokens, part)
        places, forms = [place for place, _ in words], [[token] for _, token in words]
        if part.is_indexed:  # L.index.fts.unindexed.phrase
            places, forms = sorted({*places}), [*_forms(words).values()]
        scored = _PartScores(part, statistics)
        for one in forms:
            scored.add(one)
        chosen, scores = scored.with_words(len(forms))
        if len(forms) > 1:
            ordered = _in_order(part, places, forms, chosen, query.slop)
            chosen, scores = chosen[ordered], scores[ordered]
        hits.append(scored.hits(chosen, scores, np.float32(1)))
    return join_hits(hits)


def _in_order(
    part: TextPart, places: Sequence[int], words: Sequence[list[str]], chosen: Places, slop: int
) -> Places:
    """Return which documents, that hold every word in some form, hold them in order."""
    keys = [tuple(forms) for forms in words]
    positions = {forms: _positions(part, forms, chosen) for forms in dict.fromkeys(keys)}
    gaps = np.diff(places).tolist()
    documents = zip(*(positions[forms] for forms in keys), strict=True)
    ordered = [number for number, own in enumerate(documents) if follows(own, gaps, slop)]
    return np.array(ordered, np.int64)


def _positions(part: TextPart, forms: Iterable[str], chosen: Places) -> list[Numbers]:
    """Return the positions of a word, in any of its forms, in each document.

    Raises QueryRefused where positions are not stored.
    """
    rows: list[list[Numbers]] = [[] for _ in chosen]
    for token in forms if rows else ():
        number = part.documents.number_of(token)
        if number is None:
            continue
        positions = part.documents.positions(number)
        if positions is None:
            raise QueryRefused(NO_POSITIONS)
        holding = part.documents.postings(number).documents
        at = np.minimum(np.searchsorted(holding, chosen), len(holding) - 1)
        for row in np.flatnonzero(holding[at] == chosen).tolist():
            rows[row].append(positions[at[row]])
    return [row[0] if len(row) == 1 else unique(np.concatenate([NOWHERE, *row])) for row in rows]


def follows(positions: Iterable[Numbers], gaps: Sequence[int], slop: int) -> bool:
    """Return whether each word can be `gap`, or up to `slop` places more, after the last.

    Each of `positions` is (occurrences,).
    """
    words = iter(positions)
    ends = next(words).astype(np.int64)
    for own, gap in zip(words, gaps, strict=True):
        here = own.astype(np.int64)
        before = np.searchsorted(ends, here - gap, "right")
        nearest = ends[np.maximum(before - 1, 0)]
        ends = here[(before > 0) & (here - gap - nearest <= slop)]
        if not len(ends):
            return False
    return True
