"""Queries: which rows and columns of a table somebody asks for.

The names are those of searches, as pylance's `lance.query` has them.
"""

from __future__ import annotations

from lanceref.index.full_text.granularity import DocumentGranularity
from lanceref.query.full_text import (
    BooleanQuery,
    BoostQuery,
    CombinedFieldsQuery,
    FullTextOperator,
    FullTextQuery,
    FullTextQueryType,
    MatchQuery,
    MultiMatchQuery,
    Occur,
    PhraseQuery,
)
from lanceref.query.minhash_query import MinHashQuery

__all__ = [
    "BooleanQuery",
    "BoostQuery",
    "CombinedFieldsQuery",
    "DocumentGranularity",
    "FullTextOperator",
    "FullTextQuery",
    "FullTextQueryType",
    "MatchQuery",
    "MinHashQuery",
    "MultiMatchQuery",
    "Occur",
    "PhraseQuery",
]
