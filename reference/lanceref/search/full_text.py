"""Full-text queries: words, phrases and their combinations.

Has the names of pylance's `lance.query`, which `pylanceref.query` exports. Arguments are checked
when a query is made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from types import UnionType
from typing import ClassVar, TypeVar

from lanceref.core.errors import QueryRefused
from lanceref.core.query_limits import QueryTooLarge
from lanceref.index.full_text.parameters import DocumentGranularity

MOST = 1 << 32
"""Numbers of a query lie below."""

DEPTH = 128
"""Depth of nested queries: evaluating one takes three nested calls."""

MOST_LEAVES = 4096
"""Parts of a query: a few that are joined with themselves repeatedly become very many."""

Value = TypeVar("Value")

HEAVIEST = float(1 << 20)
"""Highest weight of a column of `CombinedFieldsQuery`."""


class FullTextQueryType(Enum):
    """The kinds of full-text queries, by the names that users give."""

    MATCH = "match"
    MATCH_PHRASE = "match_phrase"
    BOOST = "boost"
    MULTI_MATCH = "multi_match"
    COMBINED_FIELDS = "combined_fields"
    BOOLEAN = "boolean"


class FullTextOperator(Enum):
    """Whether every word has to be there or any."""

    AND = "AND"
    OR = "OR"


class Occur(Enum):
    """What a part of a `BooleanQuery` does."""

    SHOULD = "SHOULD"
    MUST = "MUST"
    MUST_NOT = "MUST_NOT"


class FullTextQuery:
    """Base of all full-text queries, which find documents by their words."""

    kind: ClassVar[FullTextQueryType]

    def query_type(self) -> FullTextQueryType:
        """Return which kind of full-text query this is."""
        return self.kind

    def __and__(self, other: FullTextQuery) -> FullTextQuery:
        return BooleanQuery([(Occur.MUST, self), (Occur.MUST, other)])

    def __or__(self, other: FullTextQuery) -> FullTextQuery:
        return BooleanQuery([(Occur.SHOULD, self), (Occur.SHOULD, other)])


def _checked(value: Value, kind: type | UnionType, name: str) -> Value:
    if not isinstance(value, kind):
        raise TypeError(f"argument '{name}' of a query is a {type(value).__name__}")
    return value


def _number(value: int, most: int = MOST) -> int:
    if not 0 <= value < most:
        raise OverflowError("out of range integral type conversion attempted")
    return value


def _weights(given: Sequence[float] | None, columns: Sequence[str], name: str) -> list[float]:
    if not columns:
        raise ValueError(f"Invalid query: Cannot create {name} with no columns")
    weights = [1.0] * len(columns) if given is None else [float(one) for one in given]
    if len(weights) != len(columns):
        raise ValueError(
            "Invalid boosts: Invalid user input: The number of boosts must match the number of "
            "queries"
        )
    return weights


def _granularity(given: DocumentGranularity | None) -> DocumentGranularity | None:
    return None if given is None else DocumentGranularity(given.value)


class MatchQuery(FullTextQuery):
    """Documents with any of some words, or with all of them.

    With `fuzziness` words count that so many edits make equal, but for the first `prefix_length`
    characters; at most `max_expansions` of them.
    """

    kind = FullTextQueryType.MATCH

    def __init__(
        self,
        query: str,
        column: str,
        *,
        boost: float = 1.0,
        fuzziness: int | None = 0,
        max_expansions: int = 50,
        operator: FullTextOperator = FullTextOperator.OR,
        prefix_length: int = 0,
        document_granularity: DocumentGranularity | None = None,
    ) -> None:
        self.query, self.column = _checked(query, str, "query"), _checked(column, str, "column")
        self.boost = float(_checked(boost, int | float, "boost"))
        self.fuzziness = 0 if fuzziness is None else _number(fuzziness)
        self.max_expansions = _number(max_expansions, 1 << 64)
        self.every = FullTextOperator(operator.value) is FullTextOperator.AND
        self.prefix_length = _number(prefix_length)
        self.document_granularity = _granularity(document_granularity)


class PhraseQuery(FullTextQuery):
    """Documents with words in their order, each at most `slop` places late."""

    kind = FullTextQueryType.MATCH_PHRASE

    def __init__(
        self,
        query: str,
        column: str,
        *,
        slop: int = 0,
        document_granularity: DocumentGranularity | None = None,
    ) -> None:
        self.query, self.column = _checked(query, str, "query"), _checked(column, str, "column")
        self.slop = _number(slop)
        self.document_granularity = _granularity(document_granularity)


class BoostQuery(FullTextQuery):
    """Documents of `positive`; those that `negative` finds too lose a part of its score."""

    kind = FullTextQueryType.BOOST

    def __init__(
        self, positive: FullTextQuery, negative: FullTextQuery, *, negative_boost: float = 0.5
    ) -> None:
        self.positive, self.negative = positive, negative
        self.negative_boost = float(_checked(negative_boost, int | float, "negative_boost"))


class MultiMatchQuery(FullTextQuery):
    """Documents with words in any of some columns: the best column counts."""

    kind = FullTextQueryType.MULTI_MATCH

    def __init__(
        self,
        query: str,
        columns: list[str],
        *,
        boosts: list[float] | None = None,
        operator: FullTextOperator = FullTextOperator.OR,
    ) -> None:
        weights = _weights(boosts, columns, "MultiMatchQuery")
        self.matches = tuple(
            MatchQuery(query, column, boost=weight, operator=operator)
            for column, weight in zip(columns, weights, strict=True)
        )


class CombinedFieldsQuery(FullTextQuery):
    """Documents with words in some columns, as if these were one."""

    kind = FullTextQueryType.COMBINED_FIELDS

    def __init__(
        self,
        query: str,
        columns: list[str],
        *,
        boosts: list[float] | None = None,
        operator: FullTextOperator = FullTextOperator.OR,
    ) -> None:
        self.query = _checked(query, str, "query")
        self.weights = _weights(boosts, columns, "CombinedFieldsQuery")
        self.columns = [_checked(one, str, "columns") for one in columns]
        for column, weight in zip(self.columns, self.weights, strict=True):
            if not 1 <= weight <= HEAVIEST:
                raise ValueError(
                    f"Invalid boosts: combined_fields boost for column '{column}' must be a "
                    f"finite value in [1, 1048576], got {weight:g}"
                )
        self.every = FullTextOperator(operator.value) is FullTextOperator.AND


class BooleanQuery(FullTextQuery):
    """Documents that every MUST finds, or any SHOULD without one, and no MUST_NOT."""

    kind = FullTextQueryType.BOOLEAN

    def __init__(self, queries: list[tuple[Occur, FullTextQuery]]) -> None:
        self.queries = [(Occur(occur.value), query) for occur, query in queries]

    def of(self, occur: Occur) -> list[FullTextQuery]:
        """Return the parts that must, should or must not match."""
        return [query for own, query in self.queries if own is occur]


def leaves(query: FullTextQuery) -> list[FullTextQuery]:
    """Return the queries of columns that a query is made of. Raises QueryRefused."""
    columns: list[FullTextQuery] = []
    waiting = [(query, 1)]
    while waiting:
        one, depth = waiting.pop()
        if depth > DEPTH:
            raise QueryTooLarge(f"full-text queries are nested at most {DEPTH} deep")
        parts: Sequence[FullTextQuery] = ()
        if isinstance(one, BoostQuery):
            parts = one.positive, one.negative
        elif isinstance(one, MultiMatchQuery):
            parts = one.matches
        elif isinstance(one, BooleanQuery):
            parts = [part for _, part in one.queries]
            if not parts:
                raise QueryRefused("FTS query must contain at least one leaf query")
            if len(one.of(Occur.MUST_NOT)) == len(parts):
                raise QueryRefused("boolean query must have at least one should/must query")
        elif isinstance(one, MatchQuery) and not 0 <= one.boost < math.inf:
            raise QueryRefused(f"MatchQuery boost must be finite and >= 0, got {one.boost:g}")
        waiting += [(part, depth + 1) for part in reversed(parts)]
        columns += [] if parts else [one]
        if len(waiting) + len(columns) > MOST_LEAVES:
            raise QueryTooLarge(f"a full-text query has at most {MOST_LEAVES} parts")
    return columns
