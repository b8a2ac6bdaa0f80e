"""Full-text queries: words, phrases and their combinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import QueryTooLarge
from lanceref.index.full_text.parameters import DocumentGranularity

DEPTH = 128
"""Depth of nested queries: evaluating one takes three nested calls."""

MOST_LEAVES = 4096
"""Parts of a query: a few that are joined with themselves repeatedly become very many."""


class TextQuery:
    """Base of all full-text queries, which find documents by their words."""


@dataclass(eq=False)
class Match(TextQuery):
    """Documents with any of some words, or with `every` one of them.

    With `fuzziness` words count that so many edits make equal, but for the first `prefix_length`
    characters; at most `max_expansions` of them.
    """

    query: str
    column: str
    boost: float = 1.0
    fuzziness: int = 0
    max_expansions: int = 50
    every: bool = False
    prefix_length: int = 0
    document_granularity: DocumentGranularity | None = None


@dataclass(eq=False)
class Phrase(TextQuery):
    """Documents with words in their order, each at most `slop` places late."""

    query: str
    column: str
    slop: int = 0
    document_granularity: DocumentGranularity | None = None


@dataclass(eq=False)
class Boost(TextQuery):
    """Documents of `positive`; those that `negative` finds too lose a part of its score."""

    positive: TextQuery
    negative: TextQuery
    negative_boost: float = 0.5


@dataclass(eq=False)
class MultiMatch(TextQuery):
    """Documents that any of some queries finds, each of a column: the best column counts."""

    matches: Sequence[Match]


@dataclass(eq=False)
class CombinedFields(TextQuery):
    """Documents with words in some columns, as if these, weighted, were one."""

    query: str
    columns: Sequence[str]
    weights: Sequence[float]
    every: bool = False


@dataclass(eq=False)
class Boolean(TextQuery):
    """Documents that every `must` finds, or any `should` without one, and no `must_not`."""

    must: Sequence[TextQuery] = ()
    should: Sequence[TextQuery] = ()
    must_not: Sequence[TextQuery] = ()


MOST_WEIGHT = 3.4028234663852886e38
"""Largest weight of a part of a query: the largest float32."""


def leaves(query: TextQuery) -> list[TextQuery]:
    """Return the queries of columns that a query is made of. Raises QueryRefused."""
    columns: list[TextQuery] = []
    waiting = [(query, 1)]
    while waiting:
        one, depth = waiting.pop()
        if depth > DEPTH:
            raise QueryTooLarge(f"full-text queries are nested at most {DEPTH} deep")
        parts: Sequence[TextQuery] = ()
        if isinstance(one, Boost):
            parts = one.positive, one.negative
            if not 0 <= one.negative_boost <= MOST_WEIGHT:
                raise QueryRefused("BoostQuery negative_boost must be finite and non-negative")
        elif isinstance(one, MultiMatch):
            parts = one.matches
        elif isinstance(one, Boolean):
            parts = [*one.must, *one.should, *one.must_not]
            if not parts:
                raise QueryRefused("FTS query must contain at least one leaf query")
            if len(one.must_not) == len(parts):
                raise QueryRefused("boolean query must have at least one should/must query")
        elif isinstance(one, Match) and not 0 <= one.boost <= MOST_WEIGHT:
            raise QueryRefused(f"MatchQuery boost must be finite and >= 0, got {one.boost:g}")
        waiting += [(part, depth + 1) for part in reversed(parts)]
        columns += [] if parts else [one]
        if len(waiting) + len(columns) > MOST_LEAVES:
            raise QueryTooLarge(f"a full-text query has at most {MOST_LEAVES} parts")
    return columns
