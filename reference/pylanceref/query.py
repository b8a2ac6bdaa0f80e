"""Query: the searches for words and for similar sets, under the names of `lance.query`."""

from __future__ import annotations

from lanceref.index.full_text.parameters import DocumentGranularity
from lanceref.search.full_text import (
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
from lanceref.search.minhash_search import MinHashQuery

__all__ = ["BooleanQuery", "BoostQuery", "CombinedFieldsQuery", "DocumentGranularity"]
__all__ += ["FullTextOperator", "FullTextQuery", "FullTextQueryType", "MatchQuery", "MinHashQuery"]
__all__ += ["MultiMatchQuery", "Occur", "PhraseQuery"]
