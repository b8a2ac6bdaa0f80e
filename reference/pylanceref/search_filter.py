"""Search filter: a search whose rows another search is kept to (face).

A search for vectors may be kept to rows that have words, one for words to rows whose vectors are
near. Before it, the other search is run over the table; behind it, what has no word goes, or what
is not among the nearest of what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lanceref.core.compute import pc
from lanceref.core.errors import QueryRefused
from lanceref.index.row_set import RowSet, row_set
from lanceref.search.full_text import FullTextQuery, MatchQuery
from lanceref.search.row_allowlist import Restricted
from lanceref.table.lineage import ROW_ID

from pylanceref.scan_arguments import ScanArguments
from pylanceref.scanner import LanceScanner

Run = Callable[[object, ScanArguments], LanceScanner]
"""Describes a search over the table: with a filter, and arguments."""


class VectorSearchQuery:
    """A search for vectors as a filter; the arguments are those of `nearest`."""

    def __init__(
        self,
        column: str,
        q: object,
        k: int | None = None,
        metric: str | None = None,
        nprobes: int | None = None,
        minimum_nprobes: int | None = None,
        maximum_nprobes: int | None = None,
        refine_factor: int | None = None,
        use_index: bool = True,
        ef: int | None = None,
        query_parallelism: int | None = None,
        approx_mode: str = "normal",
        search_effort: float | None = None,
    ) -> None:
        asked = {
            "column": column,
            "q": q,
            "k": k,
            "metric": metric,
            "nprobes": nprobes,
            "minimum_nprobes": minimum_nprobes,
            "maximum_nprobes": maximum_nprobes,
            "refine_factor": refine_factor,
            "use_index": use_index,
            "ef": ef,
            "query_parallelism": query_parallelism,
            "approx_mode": approx_mode,
            "search_effort": search_effort,
        }
        self._inner = {name: value for name, value in asked.items() if value is not None}

    def inner(self) -> dict[str, object]:
        """Return the arguments."""
        return dict(self._inner)


def with_search(given: object, arguments: ScanArguments, run: Run) -> object:
    """Return a filter of rows for one that may be a search, or hold one by the side of another.

    The other search is run when the first row is looked at. Raises QueryRefused where no search is
    kept to it, and then for another than one for words behind a search.
    """
    filter, search = _parts(given)
    if search is None:
        return filter
    _check(search, arguments)
    if isinstance(search, VectorSearchQuery):
        return _near(filter, search, arguments, run)
    return Restricted(filter, lambda: _with_words(search, arguments, run))


def _with_words(search: FullTextQuery, arguments: ScanArguments, run: Run) -> RowSet:
    """Return the rows that have words. Raises QueryRefused."""
    if not arguments.get("prefilter") and not isinstance(search, MatchQuery):
        raise QueryRefused(
            "Not supported: Only Match queries are supported currently when using FTS as a "
            "post-filter"
        )
    return _rows(run(None, {"full_text_query": search}))


def _near(
    filter: object, search: VectorSearchQuery, arguments: ScanArguments, run: Run
) -> Restricted:
    """Return a filter of the rows that are near: of all that pass, or of those with the words."""
    if arguments.get("prefilter"):
        before = filter
    else:
        words: ScanArguments = {"full_text_query": arguments.get("full_text_query")}
        before = Restricted(None, lambda: _rows(run(None, words)))
    near: ScanArguments = {"nearest": search.inner(), "prefilter": True}
    return Restricted(filter, lambda: _rows(run(before, near)))


def _rows(scan: LanceScanner) -> RowSet:
    return row_set(scan.to_table()[ROW_ID].to_numpy())


def _parts(given: object) -> tuple[object, FullTextQuery | VectorSearchQuery | None]:
    """Return the filter of rows, None for none, and the search, None for none."""
    if isinstance(given, FullTextQuery | VectorSearchQuery):
        return None, given
    if not isinstance(given, Mapping):
        return given, None
    filter, search = given.get("expr_filter"), given.get("search_filter")
    if isinstance(search, str | pc.Expression):
        return search, None  # what is said last counts
    return filter, search


def _check(search: FullTextQuery | VectorSearchQuery, arguments: ScanArguments) -> None:
    """Raise QueryRefused unless a search of the other kind is kept to this one."""
    near = arguments.get("nearest") is not None
    if not near and arguments.get("full_text_query") is None:
        raise QueryRefused(
            "Invalid user input: Query filter can only be used with full text search or vector "
            "search"
        )
    if near and isinstance(search, VectorSearchQuery):
        raise QueryRefused("Invalid user input: Query filter can't be used with vector search")
    if not near and isinstance(search, FullTextQuery):
        raise QueryRefused("Invalid user input: Fts filter can't be used with fts search")
