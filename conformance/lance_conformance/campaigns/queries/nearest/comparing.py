"""Comparing: whether two results of a vector search are equivalent.

Distances must be equal up to rounding; a row that only one implementation finds must have the same
distance by the other one, in a search for all rows. Intermediate results are searched separately:
the rows before a postfilter, and the k f rows with the nearest codes before refinement. Searches of
graphs depend on the order of ties, so that they are compared by searches that visit every row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pylanceref

from lance_conformance.campaigns.queries.answers import count_bytes
from lance_conformance.campaigns.queries.nearest.cases import ALL, Search
from lance_conformance.guarded_call import guarded
from lance_conformance.oracle import lance

Neighbors: TypeAlias = list[tuple[int, float]]
"""Ids of rows and their distances, in the order of the result."""

Result: TypeAlias = list[Neighbors] | str
"""The neighbors of each query vector, or an error."""

Pair: TypeAlias = tuple[Result, Result]
"""Results of the oracle and of the reference."""


INDEX_NODE = "ANNSubIndex"
"""Node of a plan that searches an index."""


class Table:
    """A table, opened by both implementations."""

    def __init__(self, path: str) -> None:
        self.path, self._oracle = path, lance().dataset(path)
        self._reference = pylanceref.dataset(path)

    def search(self, search: Search) -> Pair:
        """Run a search by both implementations."""
        return run_search(self._oracle, search), run_search(self._reference, search)

    def passing(self, condition: str) -> frozenset[int]:
        """Return the ids of the rows that pass a filter."""
        rows = self._oracle.to_table(filter=condition, columns=[], with_row_id=True)
        return frozenset(rows["_rowid"].to_pylist())

    def distant(self, search: Search) -> float:
        """Return the distance of a distant row, as the oracle finds it."""
        farther = search.with_nearest(k=60).with_scan(filter=None, prefilter=None)
        results = neighbors_of(run_search(self._oracle, farther))
        return next((rows[-1][1] for rows in reversed(results) if rows), 1.0)

    def read_error(self, search: Search) -> str:
        """Return an unnecessary or missing read of the reference, or an empty text.

        Checked for searches by the index alone: without a filter, and with its distances.
        """
        is_exact = not {"refine_factor", "use_index", "metric"}.isdisjoint(search.nearest)
        if is_exact or "filter" in search.scan:
            return ""
        fast = search.with_scan(fast_search=True)
        plan = guarded(lambda: scanner(self._oracle, fast).explain_plan()).value
        if plan is None or INDEX_NODE not in str(plan):
            return ""
        dataset = pylanceref.dataset(self.path)
        stats = count_bytes(dataset)
        if isinstance(run_search(dataset, fast), str):
            return ""
        if not stats["_indices"].read_bytes:
            return "the index is not read"
        read = stats["data"].read_bytes
        return f"{read} bytes of data are read" if read else ""


def run_search(dataset: Any, search: Search) -> Result:
    """Return the result of a search."""
    call = guarded(lambda: split_queries(scanner(dataset, search).to_table(), search))
    return call.value if isinstance(call.value, list) else call.error


def scanner(dataset: Any, search: Search) -> Any:
    """Return the scanner of a search."""
    return dataset.scanner(
        nearest=search.nearest, columns=["_distance"], with_row_id=True, **search.scan
    )


def split_queries(table: pa.Table, search: Search) -> list[Neighbors]:
    """Return the neighbors of each query vector."""
    rows = list(zip(table["_rowid"].to_pylist(), table["_distance"].to_pylist(), strict=True))
    if "query_index" not in table.schema.names:
        return [rows]
    pairs = zip(table["query_index"].to_pylist(), rows, strict=True)
    by_query = {
        number: [row for _, row in group] for number, group in groupby(pairs, itemgetter(0))
    }
    return [by_query.get(number, []) for number in range(len(np.atleast_2d(search.nearest["q"])))]


LENGTH_TOLERANCE = 1e-6
"""Tolerance of distances, as a share of squared lengths of vectors, which they are sums of."""

SAME, ROUNDED, TIED, WALKED, REFUSED = "same", "rounded", "tied", "walked", "refused"
"""Results of comparisons: equal bits; equal rows; equal except rows of equal distance; equal in a
search of all nodes of a graph; refused by both."""

ALLOWED = (SAME, ROUNDED, TIED, WALKED, REFUSED)

ONE_REFUSED, OTHER_NUMBER = "refused by one", "other number of answers"
NOT_IN_ORDER, TWICE = "not in order", "a row twice"
DEFINITE = (ONE_REFUSED, OTHER_NUMBER, NOT_IN_ORDER, TWICE)
"""Differences that further searches cannot explain."""


@dataclass(frozen=True, slots=True)
class Comparer:
    """Compares results of one table with an index of a `metric`.

    `search` runs a search by both implementations; `passing` returns the rows of a filter.
    """

    search: Callable[[Search], Pair]
    passing: Callable[[str], Collection[int]]
    metric: str
    has_graphs: bool

    def compare_pair(self, search: Search, pair: Pair) -> str:
        """Return one of `ALLOWED`, or the difference."""
        word = compare(search, pair)
        if word == TIED and not self._found_by_both(search, pair):
            return "rows that the other does not find"
        if word in (*ALLOWED, *DEFINITE):
            return word
        if search.postfilter is not None:
            return self._before_postfilter(search, pair, search.postfilter) or word
        if self._is_refinement(search, pair):
            return TIED
        full = search.with_nearest(ef=ALL * 8)
        if self.has_graphs and search != full:
            return WALKED if self.compare_pair(full, self.search(full)) in ALLOWED else word
        return word

    def _found_by_both(self, search: Search, pair: Pair) -> bool:
        """Whether each implementation finds the rows of the other in a search for all rows."""
        is_late = search.postfilter is not None
        full = search.with_scan(filter=None, prefilter=None) if is_late else search
        results = self.search(full.with_nearest(k=ALL, ef=ALL * 8))
        return not any(isinstance(one, str) for one in results) and all(
            abs(distance - dict(all_rows).get(row, np.inf)) <= tolerance_of(search, rows)
            for result, other in zip(pair, reversed(results), strict=True)
            for rows, all_rows in zip(neighbors_of(result), neighbors_of(other), strict=True)
            for row, distance in rows
        )

    def _before_postfilter(self, search: Search, pair: Pair, condition: str) -> str:
        """Return the allowed result for the rows before the postfilter, or an empty text."""
        unfiltered = search.with_scan(filter=None, prefilter=None)
        before, passing = self.search(unfiltered), self.passing(condition)
        for result, complete in zip(pair, before, strict=True):
            lists = neighbors_of(complete)
            if result != [[row for row in rows if row[0] in passing] for rows in lists]:
                return ""
        word = self.compare_pair(unfiltered, before)
        return word if word in ALLOWED else ""

    def _is_refinement(self, search: Search, pair: Pair) -> bool:
        """Whether both results are the nearest of the k f rows with the nearest codes.

        Rows outside the index have no codes: a search that is not fast visits all of them, and
        refines the others even without a factor.
        """
        full = search.with_nearest("refine_factor", k=ALL, ef=ALL * 8)
        codes = full.with_scan(fast_search=True)
        exactly = {"use_index": False, "metric": search.nearest.get("metric", self.metric)}
        flat = full.with_nearest("ef", **exactly).with_scan(fast_search=None)
        by_codes, (every, _), (exact, _) = map(self.search, (codes, full, flat))
        is_complete = not any(isinstance(one, str) for one in (*by_codes, every, exact))
        if search == codes or not is_complete or self.compare_pair(codes, by_codes) not in ALLOWED:
            return False
        outside = [
            dict(rows).keys() - dict(coded).keys()
            for rows, coded in zip(neighbors_of(every), neighbors_of(by_codes[0]), strict=True)
        ]
        return all(
            is_refined(search, *lists)
            for result, coded in zip(pair, by_codes, strict=True)
            for lists in zip(
                *(neighbors_of(result), neighbors_of(coded), outside, neighbors_of(exact)),
                strict=True,
            )
        )


def is_refined(
    search: Search, rows: Neighbors, codes: Neighbors, outside: Collection[int], exact: Neighbors
) -> bool:
    """Return whether rows are the nearest of those outside the index and those by codes.

    Their distances must be exact. Of the codes with the distance of the last of k f, any may have
    been refined.
    """
    tolerance, distances = tolerance_of(search, codes), dict(exact)
    count = search.k * search.nearest.get("refine_factor", 1)
    limit = max([distance for _, distance in codes][:count][-1:], default=0.0)
    worst = rows[-1][1] if len(rows) == search.k else np.inf
    candidates = {row for row, distance in codes if distance <= limit + tolerance} | {*outside}
    required = {row for row, distance in codes if distance < limit - tolerance} | {*outside}
    are_exact = all(
        row in candidates
        and abs(distance - distances.get(row, np.inf)) <= tolerance_of(search, exact)
        for row, distance in rows
    )
    return are_exact and all(
        row in dict(rows) or distances.get(row, np.inf) >= worst - tolerance for row in required
    )


def compare(search: Search, pair: Pair) -> str:
    """Return one of `ALLOWED`, or the difference; the worst of several query vectors."""
    theirs, ours = pair
    if isinstance(theirs, str) or isinstance(ours, str):
        return REFUSED if isinstance(theirs, str) and isinstance(ours, str) else ONE_REFUSED
    if len(theirs) != len(ours):
        return OTHER_NUMBER
    words = [_compare_neighbors(search, *both) for both in zip(theirs, ours, strict=True)]
    return max(words, key=lambda word: ALLOWED.index(word) if word in ALLOWED else len(ALLOWED))


def _compare_neighbors(search: Search, theirs: Neighbors, ours: Neighbors) -> str:
    """Compare the neighbors of one query vector; rows at the bounds of a range are optional."""
    if theirs == ours:
        return SAME
    tolerance = tolerance_of(search, [*theirs, *ours])
    for rows in (theirs, ours):
        if sorted(distance for _, distance in rows) != [distance for _, distance in rows]:
            return NOT_IN_ORDER
        if len(dict(rows)) != len(rows):
            return TWICE
    expected, found = (
        [one for one in rows if all(abs(one[1] - bound) > tolerance for bound in search.bounds)]
        for rows in (theirs, ours)
    )
    if len(expected) != len(found):
        return "other number of rows"
    pairs = [(first, second) for (_, first), (_, second) in zip(expected, found, strict=True)]
    pairs += [(distance, dict(theirs).get(row, distance)) for row, distance in ours]
    if any(abs(first - second) > tolerance for first, second in pairs):
        return "other distances"
    return ROUNDED if dict(expected).keys() == dict(found).keys() else TIED


def tolerance_of(search: Search, rows: Neighbors) -> float:
    """Return the tolerance of the distances of rows."""
    largest = max([1.0, *(abs(distance) for _, distance in rows)])
    return max(search.tolerance * largest, LENGTH_TOLERANCE * search.squared_length)


def agreement(pair: Pair) -> float:
    """Return the share of rows that are in both results."""
    sums = [
        (len(dict(first).keys() & dict(second).keys()), max(len(first), len(second)))
        for first, second in zip(*map(neighbors_of, pair))
    ]
    return sum(common for common, _ in sums) / max(1, sum(most for _, most in sums))


def neighbors_of(result: Result) -> list[Neighbors]:
    """Return the neighbors of each query vector, or an empty list for an error."""
    return [] if isinstance(result, str) else result
