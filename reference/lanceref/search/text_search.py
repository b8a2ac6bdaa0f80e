"""Text search: full-text queries, evaluated.

Clauses: L.index.fts.boolean, L.index.fts.boost, L.index.fts.multi-match, L.index.fts.combined
Divergences: D.index.fts-replaced-texts, D.index.fts-compacted-ids, D.index.fts-null-texts,
D.index.fts-fuzzy-elements
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import pyarrow as pa

from lanceref.core.errors import NotYet, QueryRefused
from lanceref.core.integers import difference, intersection, union
from lanceref.index.full_text.bm25 import Scores, counts, norms, weight
from lanceref.index.full_text.parameters import DocumentGranularity
from lanceref.index.full_text.posting_blocks import SMALL
from lanceref.search import full_text
from lanceref.search.row_locator import Places
from lanceref.search.snapshot import Snapshot
from lanceref.search.text_column import ELEMENT_BITS, TextColumn, corpus_of, count_of, text_column
from lanceref.search.text_matching import NONE, Hits, join_hits, phrase
from lanceref.search.text_matching import match as match_query

ZERO = np.float32(0)

SCORE = pa.field("_score", pa.float32())
_PLACE = pa.field("item", pa.uint32(), nullable=False)
ELEMENT = pa.field("_doc_index", pa.list_(_PLACE), nullable=False)
"""Columns that a search adds: score, and place of the element of a list."""


class TextSearch:
    """One query over a version of a table. Raises QueryRefused, NotYet."""

    def __init__(
        self, snapshot: Snapshot, query: full_text.TextQuery, *, fast: bool = False
    ) -> None:
        self._snapshot, self.query, self._fast = snapshot, query, fast
        self.columns: dict[tuple[str, DocumentGranularity | None], TextColumn] = {}
        kinds = set()
        for one in full_text.leaves(query):
            own = {column.list_elements for column in self._of(one)}
            if isinstance(one, full_text.CombinedFields) and True in own:
                raise NotYet(
                    "combined_fields (BM25F) scores whole rows and needs a Row document "
                    "granularity FTS index on every target column"
                )
            kinds |= own
        if len(kinds) > 1:
            raise QueryRefused("FTS queries cannot mix Row and ListElement document granularities")
        if kinds == {True} and len({one.path for one in self.columns.values()}) > 1:
            raise QueryRefused("all leaves of a ListElement FTS query must use the same field")
        self.levels = max(one.levels for one in self.columns.values())

    def _of(self, query: full_text.TextQuery) -> list[TextColumn]:
        if isinstance(query, full_text.CombinedFields):
            columns = [self._column(path, None) for path in query.columns]
            analyzers = [one.analyzer for one in columns if one.opened]
            if not analyzers:
                raise QueryRefused("combined_fields needs an FTS index on a target column")
            same = {"with_position": False, "block_size": SMALL}  # they do not decide on tokens
            if len({replace(one.analysis, **same) for one in analyzers}) > 1:  # type: ignore[arg-type]
                raise QueryRefused("combined_fields needs columns of one tokenizer")
            for one in columns:
                if not one.opened:
                    one.borrowed = analyzers[0]
                    one.__dict__.pop("analyzer", None)
            return columns
        assert isinstance(query, full_text.Match | full_text.Phrase)
        return [self._column(query.column, query.document_granularity)]

    def _column(self, path: str, granularity: DocumentGranularity | None) -> TextColumn:
        key = (path, granularity)
        if key not in self.columns:
            self.columns[key] = text_column(self._snapshot, path, granularity, fast=self._fast)
        return self.columns[key]

    @property
    def found(self) -> list[pa.Field]:
        """Columns that the search adds to those of the rows."""
        return [ELEMENT, SCORE] if self.levels else [SCORE]

    def hits(self, allowed: Places | None = None, best: int | None = None) -> Hits:
        """Return the documents that the query finds, of `allowed` rows only.

        These are positions in the table, ascending; where the `best` so many are enough, others may
        be left out. `allowed` (rows,), ascending. Raises QueryRefused, FormatError.
        """
        for column in self.columns.values():
            column.allowed = allowed
            column.__dict__.pop("read", None)
        if allowed is None and isinstance(self.query, full_text.Match):
            return match_query(self._of(self.query)[0], self.query, best)
        hits = self._hits(self.query)
        if allowed is None:
            return hits
        mask = np.isin(hits.places >> ELEMENT_BITS, allowed)
        return Hits(hits.places[mask], hits.scores[mask])

    def _hits(self, query: full_text.TextQuery) -> Hits:
        # L.index.fts.boost, L.index.fts.multi-match
        match query:
            case full_text.Match():
                return match_query(self._of(query)[0], query)
            case full_text.Phrase():
                return phrase(self._of(query)[0], query)
            case full_text.MultiMatch():
                return reduce(_better, [self._hits(one) for one in query.matches])
            case full_text.Boost():
                hits, less = self._hits(query.positive), self._hits(query.negative)
                share = np.float32(query.negative_boost)
                return Hits(hits.places, hits.scores - share * _scores_at(hits.places, less))
            case full_text.CombinedFields():
                return self._combined(query)
        assert isinstance(query, full_text.Boolean)
        return self._boolean(query)

    def _boolean(self, query: full_text.Boolean) -> Hits:
        # L.index.fts.boolean
        musts = [self._hits(one) for one in query.must]
        shoulds = [self._hits(one) for one in query.should]
        places = reduce(union, [one.places for one in shoulds], NONE.places)
        if musts:
            places = reduce(intersection, [one.places for one in musts])
        for one in query.must_not:
            places = difference(places, self._hits(one).places)
        scores = np.zeros(len(places), np.float32)
        for hits in (*musts, *shoulds):
            scores += _scores_at(places, hits)
        return Hits(places, scores)

    def _combined(self, query: full_text.CombinedFields) -> Hits:
        """Score documents as if some columns were one."""
        # L.index.fts.combined
        columns = self._of(query)
        weights = [np.float32(one) for one in query.weights]
        parts = [one.whole for one in columns]
        corpora = [corpus_of(one) for one in parts]
        num_documents = max(one.num_documents for one in corpora)
        pairs = zip(weights, corpora, strict=True)
        num_tokens = sum(float(own) * corpus.num_tokens for own, corpus in pairs)
        words = list(dict.fromkeys(token for token, _ in columns[0].tokens(query.query)))
        hits = [[_frequencies(column, token) for column in columns] for token in words]
        places = reduce(union, [one.places for word in hits for one in word], NONE.places)
        if self._fast:  # rows that a column's index does not cover have no score there
            for one in columns:
                places = places[np.isin(places >> ELEMENT_BITS, one.covered)]
        if not len(places):
            return NONE
        lengths = _weighted(weights, [_lengths(one) for one in columns], places)
        norm = norms(lengths, np.float32(num_tokens) / np.float32(num_documents))
        scores, present = np.zeros(len(places), np.float32), np.zeros(len(places), np.int64)
        for token, word in zip(words, hits, strict=True):
            frequencies = _weighted(weights, word, places)
            own = weight(num_documents, max(count_of(one, token) for one in parts))
            scores += np.where(frequencies > 0, own * counts(frequencies, norm), np.float32(0))
            present += frequencies > 0
        mask = present >= (len(words) if query.every else 1)
        return Hits(places[mask], scores[mask])


def _better(one: Hits, other: Hits) -> Hits:
    places, least = union(one.places, other.places), np.float32(-np.inf)
    scores = [_scores_at(places, hits, least) for hits in (one, other)]
    return Hits(places, np.maximum(*scores))


def _scores_at(places: Places, hits: Hits, missing: np.float32 = ZERO) -> Scores:
    """Return the score at each place, `missing` where there is none."""
    scores = np.full(len(places), missing, np.float32)
    if len(hits.places):
        at = np.minimum(np.searchsorted(hits.places, places), len(hits.places) - 1)
        own = hits.places[at] == places
        scores[own] = hits.scores[at][own]
    return scores


def _frequencies(column: TextColumn, token: str) -> Hits:
    parts = []
    for part in column.whole:
        number = part.documents.number_of(token)
        if number is not None:
            postings = part.documents.postings(number)
            places = part.places(postings.documents)
            parts.append(Hits(places, postings.frequencies.astype(np.float32)))
    return _live(parts)


def _lengths(column: TextColumn) -> Hits:
    """Return how many tokens the documents of a column have, not rounded."""
    parts = []
    for part in column.whole:
        count = part.documents.corpus.num_documents
        if count:
            lengths = part.documents.lengths.astype(np.float32)
            parts.append(Hits(part.places(np.arange(count)), lengths))
    return _live(parts)


def _live(parts: Sequence[Hits]) -> Hits:
    """Return the hits of parts that are not deleted."""
    hits = join_hits(parts)
    first = int(np.searchsorted(hits.places, 0))
    return Hits(hits.places[first:], hits.scores[first:])


def _weighted(weights: Sequence[np.float32], columns: Sequence[Hits], places: Places) -> Scores:
    total = np.zeros(len(places), np.float32)
    for own, one in zip(weights, columns, strict=True):
        total += own * _scores_at(places, one)
    return total
