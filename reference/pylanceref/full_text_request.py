"""Full-text requests: the query that a caller's words mean (face).

Words are looked for in every column that has an index; words in double quotes are a phrase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lanceref.core.errors import QueryRefused
from lanceref.index.full_text.granularity import DocumentGranularity
from lanceref.search.full_text import FullTextQuery, MatchQuery, MultiMatchQuery, PhraseQuery
from lanceref.search.snapshot import Snapshot
from lanceref.search.text_column import text_indices

NO_COLUMN = (
    "Cannot perform full text search unless an INVERTED index has been created on at least one "
    "column"
)


def full_text_query(given: object, snapshot: Snapshot) -> FullTextQuery | None:
    """Return the query that a caller gives: text, a query, or both words and columns by name.

    Raises QueryRefused, TypeError.
    """
    columns: Sequence[str] | None = None
    query = given
    if isinstance(given, Mapping):
        unknown = given.keys() - {"query", "columns"}
        if "query" not in given or unknown:
            raise TypeError("full_text_search() takes 'query' and 'columns'")
        query, columns = given["query"], given.get("columns")
    if isinstance(query, FullTextQuery):
        return query
    if not isinstance(query, str):
        return None
    if columns is not None and not columns:
        raise QueryRefused(NO_COLUMN)
    return _of_text(query, columns, snapshot)


def _of_text(text: str, columns: Sequence[str] | None, snapshot: Snapshot) -> FullTextQuery:
    phrase = len(text) > 2 and text[0] == text[-1] == '"'
    if phrase and columns is not None and len(columns) > 1:
        raise QueryRefused("Phrase queries cannot be used with multiple columns.")
    granularity = None
    if columns is None:
        columns, granularity = _indexed(snapshot)
    if not columns:
        raise QueryRefused(NO_COLUMN)
    if phrase and len(columns) > 1:
        raise QueryRefused("the column must be specified in the query")
    if phrase:
        return PhraseQuery(text[1:-1], columns[0], document_granularity=granularity)
    if len(columns) == 1:
        return MatchQuery(text, columns[0], document_granularity=granularity)
    return MultiMatchQuery(text, list(columns))


def _indexed(snapshot: Snapshot) -> tuple[list[str], DocumentGranularity | None]:
    """Return the columns with a full-text index; those where rows are documents if there are."""
    found: dict[bool, list[str]] = {False: [], True: []}
    for path in snapshot.indices.by_path:
        for per_element in {one.list_elements for one in text_indices(snapshot, path)}:
            found[per_element].append(path)
    return found[False], DocumentGranularity.ROW if found[True] else None
