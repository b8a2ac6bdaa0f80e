"""Judging: whether two answers to a question about vectors are the same.

Distances must be, to rounding, one by one; a row that only one of both found must be as far to the
other, which finds it when it is asked for all rows. What an answer was made of is asked for by
itself: the rows that a filter left out once they were found, and the k f rows with the nearest
codes that were then refined. A walk over a graph turns where rows are equally far: what it finds is
judged by a walk that keeps every row.
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

from lance_conformance.campaigns.queries.answers import counting
from lance_conformance.campaigns.queries.nearest.cases import ALL, Question
from lance_conformance.guarded_call import guarded
from lance_conformance.oracle import lance

Part: TypeAlias = list[tuple[int, float]]
"""Ids of rows and their distances, as they came."""

Found: TypeAlias = list[Part] | str
"""The rows of each query, or why there are none."""

Pair: TypeAlias = tuple[Found, Found]
"""What the oracle finds, and what the reference does."""


SEARCHED = "ANNSubIndex"
"""What a plan says that searches an index."""


class Table:
    """A table that both have open."""

    def __init__(self, path: str) -> None:
        self.path, self._oracle = path, lance().dataset(path)
        self._reference = pylanceref.dataset(path)

    def ask(self, question: Question) -> Pair:
        """Ask both."""
        return found(self._oracle, question), found(self._reference, question)

    def passing(self, condition: str) -> frozenset[int]:
        """Return the ids of the rows for which a condition holds."""
        rows = self._oracle.to_table(filter=condition, columns=[], with_row_id=True)
        return frozenset(rows["_rowid"].to_pylist())

    def far(self, question: Question) -> float:
        """Return the distance of a row that is far, by those that the oracle finds."""
        some = found(self._oracle, question.but(k=60).scanned(filter=None, prefilter=None))
        return next((part[-1][1] for part in reversed(parts_of(some)) if part), 1.0)

    def misread(self, question: Question) -> str:
        """Say what ours reads that it need not, or does not read that it should; else nothing.

        What an index answers alone is asked: without a filter, with its own distances.
        """
        alone = {"refine_factor", "use_index", "metric"}.isdisjoint(question.nearest)
        if not alone or "filter" in question.scan:
            return ""
        asked = question.scanned(fast_search=True)
        plan = guarded(lambda: scanner(self._oracle, asked).explain_plan()).value
        if plan is None or SEARCHED not in str(plan):
            return ""
        dataset = pylanceref.dataset(self.path)
        counted = counting(dataset)
        if isinstance(found(dataset, asked), str):
            return ""
        if not counted["_indices"].read_bytes:
            return "the index is not read"
        read = counted["data"].read_bytes
        return f"{read} bytes of data are read" if read else ""


def found(dataset: Any, question: Question) -> Found:
    """Return what a question finds in a table."""
    told = guarded(lambda: parts(scanner(dataset, question).to_table(), question))
    return told.value if isinstance(told.value, list) else told.error


def scanner(dataset: Any, question: Question) -> Any:
    """Return the scan that a question is."""
    return dataset.scanner(
        nearest=question.nearest, columns=["_distance"], with_row_id=True, **question.scan
    )


def parts(table: pa.Table, question: Question) -> list[Part]:
    """Cut what is found into what each query of several has."""
    rows = list(zip(table["_rowid"].to_pylist(), table["_distance"].to_pylist(), strict=True))
    if "query_index" not in table.schema.names:
        return [rows]
    numbered = zip(table["query_index"].to_pylist(), rows, strict=True)
    own = {number: [row for _, row in some] for number, some in groupby(numbered, itemgetter(0))}
    return [own.get(number, []) for number in range(len(np.atleast_2d(question.nearest["q"])))]


LENGTH_ROOM = 1e-6
"""By how much distances may differ, as a share of what they are sums with: squared lengths."""

SAME, ROUNDED, TIED, WALKED, REFUSED = "same", "rounded", "tied", "walked", "refused"
"""What is fine: equal bits; equal rows; equal but for rows as far as others; the same when every
row is walked to; no answer."""

FINE = (SAME, ROUNDED, TIED, WALKED, REFUSED)

ONE_REFUSED, OTHER_NUMBER = "refused by one", "other number of answers"
NOT_IN_ORDER, TWICE = "not in order", "a row twice"
WRONG = (ONE_REFUSED, OTHER_NUMBER, NOT_IN_ORDER, TWICE)
"""What nothing explains."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges answers about one table with an index of a `metric`.

    `ask` asks both, `passing` says for which rows a condition holds; of `graphs` a walk that keeps
    all rows finds all.
    """

    ask: Callable[[Question], Pair]
    passing: Callable[[str], Collection[int]]
    metric: str
    graphs: bool

    def verdict(self, question: Question, pair: Pair) -> str:
        """Return one of `FINE`, or what differs."""
        word = compared(question, pair)
        if word == TIED and not self._found_by_both(question, pair):
            return "rows that the other does not find"
        if word in (*FINE, *WRONG):
            return word
        if question.late_filter is not None:
            return self._before_filter(question, pair, question.late_filter) or word
        if self._refined(question, pair):
            return TIED
        every = question.but(ef=ALL * 8)
        if self.graphs and question != every and self.verdict(every, self.ask(every)) in FINE:
            return WALKED
        return word

    def _found_by_both(self, question: Question, pair: Pair) -> bool:
        """Whether each of both finds the rows of the other, as far, when it is asked for all."""
        whole = question.scanned(filter=None, prefilter=None) if question.late_filter else question
        every = self.ask(whole.but(k=ALL, ef=ALL * 8))
        return not any(isinstance(one, str) for one in every) and all(
            abs(near - dict(all_rows).get(row, np.inf)) <= room_of(question, part)
            for found, other in zip(pair, reversed(every), strict=True)
            for part, all_rows in zip(parts_of(found), parts_of(other), strict=True)
            for row, near in part
        )

    def _before_filter(self, question: Question, pair: Pair, condition: str) -> str:
        """Judge what there was before rows were left out; nothing where others were."""
        whole = question.scanned(filter=None, prefilter=None)
        before, kept = self.ask(whole), self.passing(condition)
        for found, all_found in zip(pair, before, strict=True):
            if found != [[row for row in part if row[0] in kept] for part in parts_of(all_found)]:
                return ""
        word = self.verdict(whole, before)
        return word if word in FINE else ""

    def _refined(self, question: Question, pair: Pair) -> bool:
        """Whether both have the nearest of the k f rows with the nearest codes, which are alike.

        Rows outside the index have no codes: a search that is not fast looks at all of them, and
        refines the others even without a factor.
        """
        whole = question.but("refine_factor", k=ALL, ef=ALL * 8)
        codes = whole.scanned(fast_search=True)
        exactly = {"use_index": False, "metric": question.nearest.get("metric", self.metric)}
        plain = whole.but("ef", **exactly).scanned(fast_search=None)
        by_codes, (every, _), (exact, _) = map(self.ask, (codes, whole, plain))
        answered = not any(isinstance(one, str) for one in (*by_codes, every, exact))
        if question == codes or not answered or self.verdict(codes, by_codes) not in FINE:
            return False
        outside = [
            dict(all_rows).keys() - dict(coded).keys()
            for all_rows, coded in zip(parts_of(every), parts_of(by_codes[0]), strict=True)
        ]
        return all(
            is_refined(question, *some)
            for found, own in zip(pair, by_codes, strict=True)
            for some in zip(parts_of(found), parts_of(own), outside, parts_of(exact), strict=True)
        )


def is_refined(
    question: Question, found: Part, codes: Part, outside: Collection[int], exact: Part
) -> bool:
    """Return whether rows found are the nearest of those outside the index and those by codes.

    Their distances are exact. Of the codes that are as far as the last of k f any may have been
    looked at.
    """
    room, distances = room_of(question, codes), dict(exact)
    last = [near for _, near in codes][: question.k * question.nearest.get("refine_factor", 1)][-1:]
    far, worst = max(last, default=0.0), found[-1][1] if len(found) == question.k else np.inf
    looked_at = {row for row, near in codes if near <= far + room} | {*outside}
    needed = {row for row, near in codes if near < far - room} | {*outside}
    right = all(
        row in looked_at and abs(near - distances.get(row, np.inf)) <= room_of(question, exact)
        for row, near in found
    )
    return right and all(
        row in dict(found) or distances.get(row, np.inf) >= worst - room for row in needed
    )


def compared(question: Question, pair: Pair) -> str:
    """Return one of `FINE`, or what differs; of several queries the worst."""
    theirs, ours = pair
    if isinstance(theirs, str) or isinstance(ours, str):
        return REFUSED if isinstance(theirs, str) and isinstance(ours, str) else ONE_REFUSED
    if len(theirs) != len(ours):
        return OTHER_NUMBER
    words = [_compared_part(question, *both) for both in zip(theirs, ours, strict=True)]
    return max(words, key=lambda word: FINE.index(word) if word in FINE else len(FINE))


def _compared_part(question: Question, theirs: Part, ours: Part) -> str:
    """Compare the answers to one query; rows at the end of a range may be in it or not."""
    if theirs == ours:
        return SAME
    room = room_of(question, [*theirs, *ours])
    for part in (theirs, ours):
        if sorted(near for _, near in part) != [near for _, near in part]:
            return NOT_IN_ORDER
        if len(dict(part)) != len(part):
            return TWICE
    wanted, found = (
        [one for one in part if all(abs(one[1] - end) > room for end in question.ends)]
        for part in (theirs, ours)
    )
    if len(wanted) != len(found):
        return "other number of rows"
    pairs = [(near, other) for (_, near), (_, other) in zip(wanted, found, strict=True)]
    pairs += [(near, dict(theirs).get(row, near)) for row, near in ours]
    if any(abs(near - other) > room for near, other in pairs):
        return "other distances"
    return ROUNDED if dict(wanted).keys() == dict(found).keys() else TIED


def room_of(question: Question, part: Part) -> float:
    """Return by how much distances of some rows may differ."""
    far = max([1.0, *(abs(near) for _, near in part)])
    return max(question.room * far, LENGTH_ROOM * question.length)


def agreement(pair: Pair) -> float:
    """Return which share of the rows that both found is the same."""
    sums = [
        (len(dict(part).keys() & dict(other).keys()), max(len(part), len(other)))
        for part, other in zip(*map(parts_of, pair), strict=False)
    ]
    return sum(alike for alike, _ in sums) / max(1, sum(most for _, most in sums))


def parts_of(found: Found) -> list[Part]:
    """Return what each query found; nothing where there is no answer."""
    return [] if isinstance(found, str) else found
