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
from lanceref.core.integers import is_in, unique
from lanceref.index.full_text.bit_packer import Numbers
from lanceref.index.full_text.bm25 import Scores, counts, norms_at, weight
from lanceref.index.full_text.fuzzy import near
from lanceref.search.full_text import MatchQuery, PhraseQuery
from lanceref.search.text_column import TextColumn, corpus_of, count_of
from lanceref.search.text_parts import IndexedPart, Places, TextPart


@dataclass(frozen=True, slots=True)
class Hits:
    """Places of documents, ascending, and the score of each."""

    places: Places
    scores: Scores

    def among(self, places: Places) -> Hits:
        """Return those at some places."""
        kept = is_in(self.places, places)
        return Hits(self.places[kept], self.scores[kept])


NONE = Hits(np.empty(0, np.int64), np.empty(0, np.float32))
"""No document."""

NOWHERE = np.empty(0, np.uint32)

NO_POSITIONS = (
    "position is not found but required for phrase queries, try recreating the index with position"
)

MANY = 1024
"""Words of a query from which on equal ones are added at once, not one by one."""

SPARE = 4
"""Of so many times as many documents as are wanted some may be gone."""

Wanted = tuple[int, str]
"""A token that is looked for, and the place in the query that it stands for."""


class _PartScores:
    """Scores of the documents of a part, as tokens are added one by one, word after word."""

    def __init__(self, part: TextPart, statistics: Sequence[TextPart]) -> None:
        self._part, self._statistics = part, statistics
        self._corpus = corpus_of(statistics)
        self._known: dict[str, tuple[Numbers, Scores] | None] = {}
        self._words: list[list[tuple[Numbers, Scores]]] = []

    def add(self, wanted: Sequence[str]) -> None:
        """Add what the tokens that stand for a word give the documents that hold them."""
        scored = [self._score(token) for token in wanted]
        found = [one for one in scored if one is not None]
        if found:
            self._words.append(found)

    def _score(self, token: str) -> tuple[Numbers, Scores] | None:
        """Return the documents that hold a token, and what it gives them; None without any."""
        if token not in self._known:
            number = self._part.number_of(token)
            self._known[token] = None if number is None else self._scored(token, number)
        return self._known[token]

    def _scored(self, token: str, number: int) -> tuple[Numbers, Scores]:
        found = self._part.postings(number)
        own = weight(self._corpus.num_documents, count_of(self._statistics, token))
        norm = norms_at(self._part.lengths, found.documents, self._corpus.mean_length)
        return found.documents, own * counts(found.frequencies, norm)

    def _counted(self) -> list[tuple[list[tuple[Numbers, Scores]], int]]:
        """Return the words and how often each counts; of very many, equal ones are one."""
        if len(self._words) <= MANY:
            return [(forms, 1) for forms in self._words]
        alike = {tuple(id(documents) for documents, _ in forms): forms for forms in self._words}
        times = Counter(tuple(id(documents) for documents, _ in forms) for forms in self._words)
        return [(forms, times[key]) for key, forms in alike.items()]

    def with_words(self, least: int) -> tuple[Places, Scores]:
        """Return the documents that hold so many of the words, ascending, and their scores."""
        if len(self._words) < least:
            return NONE.places, NONE.scores
        if len(self._words) == 1 and len(self._words[0]) == 1:
            ((documents, scores),) = self._words[0]
            return documents.astype(np.int64), scores
        size = self._part.corpus.num_documents
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
        """Return chosen documents that are still there, at least the `best` so many of them."""
        count = len(chosen) if best is None else SPARE * (best + 1)
        while count < len(chosen):
            enough = scores >= np.partition(scores, -count)[-count]
            found = self._there(chosen[enough], scores[enough] * boost)
            if len(found.places) >= (best or 0):
                return found
            count *= SPARE
        return self._there(chosen, scores * boost)

    def _there(self, chosen: Places, scores: Scores) -> Hits:
        places = self._part.places(chosen)
        kept = places >= 0
        return Hits(places[kept], scores[kept])


def _joined(found: Sequence[Hits]) -> Hits:
    """Return the hits of parts, none of which has a place of another."""
    places = np.concatenate([NONE.places, *(one.places for one in found)])
    scores = np.concatenate([NONE.scores, *(one.scores for one in found)])
    order = np.argsort(places, kind="stable")
    return Hits(places[order], scores[order])


def match(column: TextColumn, query: MatchQuery, best: int | None = None) -> Hits:
    """Return the documents with any word of a query, or all. Raises QueryRefused, FormatError.

    Words at one place are forms of each other: one of them is enough. At least the `best` so many
    are returned.
    """
    found, boost = [], np.float32(query.boost)
    nearly: dict[Wanted, None] | None = None
    for part, statistics in column.parts():
        fuzzy = query.fuzziness > 0 and isinstance(part, IndexedPart)
        words = _by_place(column.tokens(query.query, plain=fuzzy), part)
        if fuzzy and nearly is None:  # the same for all partitions
            nearly = dict.fromkeys(_near(column, words, query))
        scored = _PartScores(part, statistics)
        for forms in _by_word(words if nearly is None or not fuzzy else nearly):
            scored.add(forms)
        least = len({place for place, _ in words}) if query.every else 1
        if words:
            found.append(scored.hits(*scored.with_words(least), boost, best))
    return _joined(found)


def _by_place(tokens: Sequence[tuple[str, int]], part: TextPart) -> list[Wanted]:
    """Return the tokens of a query by their places; in an index each counts once at a place."""
    wanted = [(place, token) for token, place in tokens]
    if isinstance(part, IndexedPart):
        wanted = [*dict.fromkeys(wanted)]
    return sorted(wanted, key=lambda one: one[0])  # L.index.fts.unindexed.repeats


def _by_word(wanted: Iterable[Wanted]) -> list[list[str]]:
    """Return the tokens that stand for each word."""
    forms: dict[int, list[str]] = {}
    for place, token in wanted:
        forms.setdefault(place, []).append(token)
    return [*forms.values()]


def _near(column: TextColumn, words: Sequence[Wanted], query: MatchQuery) -> Iterator[Wanted]:
    """Yield the tokens near words, the first ones of all partitions together."""
    left = query.max_expansions
    for place, word in words:
        prefix = column.beginning(word, query.prefix_length)
        found = [near(part.tokens, word, query.fuzziness, prefix) for part in column.indexed]
        for token, _ in groupby(merge(*found)):
            if not left:
                return
            left -= 1
            yield place, token


def phrase(column: TextColumn, query: PhraseQuery) -> Hits:
    """Return the documents with words in order. Raises QueryRefused, FormatError."""
    if not all(index.settings.analysis.with_position for _, index, _ in column.opened):
        raise QueryRefused(NO_POSITIONS)
    tokens, found = column.tokens(query.query), []
    for part, statistics in column.parts() if tokens else ():
        words = _by_place(tokens, part)
        places, forms = [place for place, _ in words], [[token] for _, token in words]
        if isinstance(part, IndexedPart):  # L.index.fts.unindexed.phrase
            places, forms = sorted({*places}), _by_word(words)
        scored = _PartScores(part, statistics)
        for one in forms:
            scored.add(one)
        chosen, scores = scored.with_words(len(forms))
        if len(forms) > 1:
            kept = _in_order(part, places, forms, chosen, query.slop)
            chosen, scores = chosen[kept], scores[kept]
        found.append(scored.hits(chosen, scores, np.float32(1)))
    return _joined(found)


def _in_order(
    part: TextPart, places: Sequence[int], words: Sequence[list[str]], chosen: Places, slop: int
) -> Places:
    """Return which documents, that hold every word in some form, hold them in order."""
    if not len(chosen):
        return np.empty(0, np.int64)
    keys = [tuple(forms) for forms in words]
    found = {forms: _standing(part, forms, chosen) for forms in dict.fromkeys(keys)}
    gaps = np.diff(places).tolist()
    kept = [
        number
        for number in range(len(chosen))
        if follows((found[forms][number] for forms in keys), gaps, slop)
    ]
    return np.array(kept, np.int64)


def _standing(part: TextPart, forms: Iterable[str], chosen: Places) -> list[Numbers]:
    """Return where a word stands, in any of its forms, in each document."""
    rows: list[list[Numbers]] = [[] for _ in chosen]
    for token in forms:
        number = part.number_of(token)
        if number is not None:
            for row, own in zip(rows, _positions(part, number, chosen), strict=True):
                row.append(own)
    return [_together(row) for row in rows]


def _positions(part: TextPart, number: int, chosen: Places) -> list[Numbers]:
    """Return where a token stands in documents, nowhere where it is not. Raises QueryRefused."""
    positions = part.positions(number)
    if positions is None:
        raise QueryRefused(NO_POSITIONS)
    documents = part.postings(number).documents
    at = np.minimum(np.searchsorted(documents, chosen), len(documents) - 1)
    here = documents[at] == chosen
    return [
        positions[one] if own else NOWHERE
        for one, own in zip(at.tolist(), here.tolist(), strict=True)
    ]


def _together(positions: Sequence[Numbers]) -> Numbers:
    """Return all positions, ascending."""
    return positions[0] if len(positions) == 1 else unique(np.concatenate(positions))


def follows(positions: Iterable[Numbers], gaps: Sequence[int], slop: int) -> bool:
    """Return whether each word can stand `gap`, or up to `slop` places more, behind the last."""
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
