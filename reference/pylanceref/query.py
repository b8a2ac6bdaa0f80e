"""Query: the searches for words and for similar sets, under the names of `lance.query`.

Arguments are checked when a query is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from types import UnionType
from typing import TypeVar

from lanceref.core.integers import unsigned
from lanceref.index.full_text.parameters import DocumentGranularity
from lanceref.search import full_text
from lanceref.search.minhash_search import MinHashQuery

__all__ = ["BooleanQuery", "BoostQuery", "CombinedFieldsQuery", "DocumentGranularity"]
__all__ += ["FullTextOperator", "FullTextQuery", "MatchQuery", "MinHashQuery"]
__all__ += ["MultiMatchQuery", "Occur", "PhraseQuery"]

HEAVIEST = float(1 << 20)
"""Highest weight of a column of `CombinedFieldsQuery`."""

Value = TypeVar("Value")


class FullTextOperator(Enum):
    """Whether every word has to be there or any."""

    AND = "AND"
    OR = "OR"


class Occur(Enum):
    """What a part of a `BooleanQuery` does."""

    SHOULD = "SHOULD"
    MUST = "MUST"
    MUST_NOT = "MUST_NOT"


class FullTextQuery(full_text.TextQuery):
    """Base of all full-text queries, which find documents by their words."""

    def __and__(self, other: FullTextQuery) -> FullTextQuery:
        return BooleanQuery([(Occur.MUST, self), (Occur.MUST, other)])

    def __or__(self, other: FullTextQuery) -> FullTextQuery:
        return BooleanQuery([(Occur.SHOULD, self), (Occur.SHOULD, other)])


def _checked(value: Value, kind: type | UnionType, name: str) -> Value:
    if not isinstance(value, kind):
        raise TypeError(f"argument '{name}' of a query is a {type(value).__name__}")
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


def _is_and(operator: FullTextOperator) -> bool:
    return FullTextOperator(operator.value) is FullTextOperator.AND


class MatchQuery(FullTextQuery, full_text.Match):
    """Documents with any of some words, or with all of them.

    With `fuzziness` words count that so many edits make equal, but for the first `prefix_length`
    characters; at most `max_expansions` of them.
    """

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
        super().__init__(
            _checked(query, str, "query"),
            _checked(column, str, "column"),
            boost=float(_checked(boost, int | float, "boost")),
            fuzziness=0 if fuzziness is None else unsigned(fuzziness, 32),
            max_expansions=unsigned(max_expansions),
            every=_is_and(operator),
            prefix_length=unsigned(prefix_length, 32),
            document_granularity=_granularity(document_granularity),
        )


class PhraseQuery(FullTextQuery, full_text.Phrase):
    """Documents with words in their order, each at most `slop` places late."""

    def __init__(
        self,
        query: str,
        column: str,
        *,
        slop: int = 0,
        document_granularity: DocumentGranularity | None = None,
    ) -> None:
        texts = _checked(query, str, "query"), _checked(column, str, "column")
        super().__init__(*texts, unsigned(slop, 32), _granularity(document_granularity))


class BoostQuery(FullTextQuery, full_text.Boost):
    """Documents of `positive`; those that `negative` finds too lose a part of its score."""

    def __init__(
        self, positive: FullTextQuery, negative: FullTextQuery, *, negative_boost: float = 0.5
    ) -> None:
        share = float(_checked(negative_boost, int | float, "negative_boost"))
        super().__init__(positive, negative, share)


class MultiMatchQuery(FullTextQuery, full_text.MultiMatch):
    """Documents with words in any of some columns: the best column counts."""

    def __init__(
        self,
        query: str,
        columns: list[str],
        *,
        boosts: list[float] | None = None,
        operator: FullTextOperator = FullTextOperator.OR,
    ) -> None:
        pairs = zip(columns, _weights(boosts, columns, "MultiMatchQuery"), strict=True)
        super().__init__(
            [MatchQuery(query, one, boost=weight, operator=operator) for one, weight in pairs]
        )


class CombinedFieldsQuery(FullTextQuery, full_text.CombinedFields):
    """Documents with words in some columns, as if these were one."""

    def __init__(
        self,
        query: str,
        columns: list[str],
        *,
        boosts: list[float] | None = None,
        operator: FullTextOperator = FullTextOperator.OR,
    ) -> None:
        text = _checked(query, str, "query")
        weights = _weights(boosts, columns, "CombinedFieldsQuery")
        names = [_checked(one, str, "columns") for one in columns]
        for column, weight in zip(names, weights, strict=True):
            if not 1 <= weight <= HEAVIEST:
                told = f"boost of column '{column}' must be in [1, {HEAVIEST:.0f}], got {weight:g}"
                raise ValueError(f"Invalid boosts: {told}")
        super().__init__(text, names, weights, _is_and(operator))


class BooleanQuery(FullTextQuery, full_text.Boolean):
    """Documents that every MUST finds, or any SHOULD without one, and no MUST_NOT."""

    def __init__(self, queries: list[tuple[Occur, FullTextQuery]]) -> None:
        parts: dict[Occur, list[FullTextQuery]] = {one: [] for one in Occur}
        for occur, query in queries:
            parts[Occur(occur.value)].append(query)
        super().__init__(parts[Occur.MUST], parts[Occur.SHOULD], parts[Occur.MUST_NOT])
