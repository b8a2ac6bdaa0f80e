"""Judging: whether two answers to a question about vectors are the same.

Rows and distances must be, to rounding. Where an answer ends, at k rows or at the end of a range,
any of the rows that are equally far may be the last ones. An answer can also end before what is
seen of it: a refined one was made of the k f rows with the nearest codes, a filtered one may have
been filtered when its k rows were found. These are asked for by themselves: where they are the same
but for the last ones, the last ones are all that may differ in the end. Codes of few values make
many rows equally far, and a walk over a graph turns where they are: what it finds is judged by a
walk that keeps every row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pylanceref

from lance_conformance.campaigns.queries.answers import counting
from lance_conformance.campaigns.queries.nearest.cases import Question
from lance_conformance.guarded import guarded
from lance_conformance.oracle import lance

Part: TypeAlias = list[tuple[int, float]]
"""Ids of rows and their distances, as they came."""

Found: TypeAlias = list[Part] | str
"""The rows of each query, or why there are none."""

Pair: TypeAlias = tuple[Found, Found]
"""What the oracle finds, and what the reference does."""


SEARCHED = "ANNSubIndex"
"""What a plan says that searches an index."""


@dataclass
class Table:
    """A table that both have open."""

    path: str

    @cached_property
    def _oracle(self) -> Any:
        return lance().dataset(self.path)

    @cached_property
    def _reference(self) -> pylanceref.LanceDataset:
        return pylanceref.dataset(self.path)

    def ask(self, question: Question) -> Pair:
        """Ask both."""
        return found(self._oracle, question), found(self._reference, question)

    def passing(self, condition: str) -> frozenset[int]:
        """Return the ids of the rows for which a condition holds."""
        rows = self._oracle.to_table(filter=condition, columns=[], with_row_id=True)
        return frozenset(rows["_rowid"].to_pylist())

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self._oracle.count_rows())

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


ROOM = 3e-5
"""By how much distances may differ, as a share of the largest, or of 1."""

LENGTH_ROOM = 1e-6
"""The same as a share of what distances are sums with: a square or product of lengths."""

MORE = 8
"""So many times as many rows are asked for to see which are as far as the last one."""

SAME, ROUNDED, TIED, WALKED, REFUSED = "same", "rounded", "tied", "walked", "refused"
"""What is fine: equal bits; equal rows; equal but for rows as far as the last one; the same when
every row is walked to; no answer."""

FINE = (SAME, ROUNDED, TIED, WALKED, REFUSED)

PUBLISHED = "D."
"""How the id of a divergence begins, which explains what differs."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges answers about one table.

    `ask` asks both, `passing` says for which rows a condition holds; of `graphs` a walk that keeps
    `num_rows` finds all. `published` returns the id of the divergence that makes two answers
    differ, or TIED, else nothing.
    """

    ask: Callable[[Question], Pair]
    passing: Callable[[str], Collection[int]]
    graphs: bool
    num_rows: int
    published: Callable[[Judge, Question, Pair], str] = lambda *_: ""

    def fine(self, question: Question, pair: Pair) -> bool:
        """Whether two answers are the same, but for what may differ, without any divergence."""
        return is_fine(replace(self, published=lambda *_: "").verdict(question, pair))

    def verdict(self, question: Question, pair: Pair) -> str:
        """Return one of `FINE`, the id of a divergence, or what differs."""
        first = compared(question, pair)
        if first in FINE:
            return first
        known = self.published(self, question, pair)
        if known:
            return known
        if isinstance(pair[0], str) or isinstance(pair[1], str):
            return first
        condition = question.late_filter
        if condition is not None:
            return self._before_filter(question, pair, condition) or first
        if self._by_candidates(question, pair):
            return TIED
        return WALKED if self.graphs and self._walked(question) else first

    def _before_filter(self, question: Question, pair: Pair, condition: str) -> str:
        """Judge what there was before rows were left out; nothing where others were."""
        whole = question.scanned(filter=None, prefilter=None)
        before, kept = self.ask(whole), self.passing(condition)
        for found, all_found in zip(pair, before, strict=True):
            if isinstance(all_found, str):
                return ""
            if found != [[row for row in part if row[0] in kept] for part in all_found]:
                return ""
        word = self.verdict(whole, before)
        return word if is_fine(word) else ""

    def _by_candidates(self, question: Question, pair: Pair) -> bool:
        """Whether only rows differ whose codes are as far as the last ones that were looked at."""
        factor = question.nearest.get("refine_factor", 1)
        codes = question.but("refine_factor", k=question.k * factor).scanned(fast_search=True)
        if codes == question:
            return False
        looked_at = self.ask(codes)
        if not is_fine(self.verdict(codes, looked_at)):
            return False
        more = self.ask(codes.but("ef", k=codes.k * MORE))
        allowed = one_sided(looked_at) | as_far(codes, looked_at, more)
        return compared(question, pair, allowed) in FINE

    def _walked(self, question: Question) -> bool:
        """Whether both are the same where walks keep all rows."""
        every = question.but(ef=max(self.num_rows, question.k) * 8)
        if question.nearest.get("ef") == every.nearest["ef"]:
            return False
        return is_fine(self.verdict(every, self.ask(every)))


def is_fine(word: str) -> bool:
    """Return whether a verdict says that nothing differs that is not known."""
    return word in FINE or word.startswith(PUBLISHED)


def compared(question: Question, pair: Pair, allowed: Collection[int] = ()) -> str:
    """Return one of `FINE`, or what differs; `allowed` rows may be in one of both alone."""
    theirs, ours = pair
    if isinstance(theirs, str) or isinstance(ours, str):
        if isinstance(theirs, str) and isinstance(ours, str):
            return REFUSED
        return "refused by one"
    if len(theirs) != len(ours):
        return "other number of answers"
    words = [_compared_part(question, *both, allowed) for both in zip(theirs, ours, strict=True)]
    return max(words, key=lambda word: FINE.index(word) if word in FINE else len(FINE))


def _compared_part(question: Question, theirs: Part, ours: Part, allowed: Collection[int]) -> str:
    if theirs == ours:
        return SAME
    room = room_of(question, [*theirs, *ours])
    for part in (theirs, ours):
        if sorted(near for _, near in part) != [near for _, near in part]:
            return "not in order"
        if len(dict(part)) != len(part):
            return "a row twice"
    wanted, found = dict(theirs), dict(ours)
    if any(abs(near - found[row]) > room for row, near in theirs if row in found):
        return "other distances"
    if wanted.keys() == found.keys():
        return ROUNDED
    for part, other in ((theirs, found), (ours, wanted)):
        full = len(other) >= question.k
        for row, near in part:
            if row in other or row in allowed:
                continue
            last = full and near >= max(other.values()) - room
            if not last and all(abs(near - end) > room for end in question.ends):
                return "other rows"
    return TIED


def room_of(question: Question, part: Part) -> float:
    """Return by how much distances of some rows may differ."""
    far = max([1.0, *(abs(near) for _, near in part)])
    return max(ROOM * far, LENGTH_ROOM * question.length)


def one_sided(pair: Pair) -> frozenset[int]:
    """Return the rows that only one of both found, for any query."""
    apart: set[int] = set()
    for theirs, ours in zip(*map(parts_of, pair), strict=True):
        apart |= dict(theirs).keys() ^ dict(ours).keys()
    return frozenset(apart)


def as_far(question: Question, looked_at: Pair, more: Pair) -> frozenset[int]:
    """Return those of more rows that are as far as the last of k, for any query."""
    found: set[int] = set()
    for first, every in zip(looked_at, more, strict=True):
        for part, own in zip(parts_of(first), parts_of(every), strict=False):
            last = part[-1][1] if len(part) >= question.k else np.inf
            room = room_of(question, part)
            found.update(row for row, near in own if abs(near - last) <= room)
    return frozenset(found)


def agreement(pair: Pair, word: str) -> float:
    """Return which share of the ten nearest rows both found; those as far as the last are alike."""
    if word in (SAME, ROUNDED, TIED):
        return 1.0
    if any(isinstance(found, str) for found in pair):
        return 0.0
    shares = []
    for theirs, ours in zip(*map(parts_of, pair), strict=False):
        wanted, found = ({row for row, _ in part[:10]} for part in (theirs, ours))
        most = max(len(wanted), len(found))
        shares.append(len(wanted & found) / most if most else 1.0)
    return sum(shares) / len(shares) if shares else 1.0


def parts_of(found: Found) -> list[Part]:
    """Return what each query found; nothing where there is no answer."""
    return [] if isinstance(found, str) else found
