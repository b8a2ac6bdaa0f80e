"""Questions: what the indices of a table are asked about the rows of a filter.

A plan of questions knows of each fragment which rows may pass. It is exact when all of these do and
nothing is left to be looked at. What is denied is all rows without those found and without nulls;
an index that does not know these leaves the rest to be looked at.

Index selection: which indices are asked about a predicate, and what they are asked.

Questions joined by AND, OR and NOT become a plan; NOT is moved down to the questions. Where an
index cannot answer one side of an AND, the other side still narrows the rows down; an OR needs
both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.indices import Index
from lanceref.index.predicate import Among, IsNull, Within
from lanceref.index.predicate import Predicate as Asked
from lanceref.search.filter import And, Not, On, Or, Predicate
from lanceref.search.plan import Candidates
from lanceref.table.rows import FragmentRows

Mask = NDArray[np.bool_]

SPELLED_OUT = 3
"""Values of a list that a plan shows one by one; more are shown as a list."""


@dataclass(frozen=True, slots=True)
class Known:
    """Live rows of a fragment that may pass: exactly those, or among others."""

    mask: Mask
    exact: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A predicate that an index is asked for, or for its opposite."""

    index: Index
    predicate: Asked
    exact: bool
    negated: bool = False
    path: str = ""

    def ask(self, rows: FragmentRows) -> Known | None:
        """Return what is known of a fragment, None when the index does not cover it."""
        found = self.index.positions(self.predicate, rows)
        if found is None:
            return None
        mask = np.zeros(rows.num_rows, np.bool_)
        mask[found] = True
        if self.negated:
            mask = ~mask
            if self.exact and not isinstance(self.predicate, IsNull):
                mask[self.index.positions(IsNull(), rows)] = False
        return Known(mask, self.exact)

    def __str__(self) -> str:
        asked = self.predicate
        if isinstance(asked, Among) and 1 < len(asked.values) <= SPELLED_OUT:
            return reduce(self._joined, (self._text(Among((one,))) for one in asked.values))
        return self._text(asked)

    def _joined(self, first: str, second: str) -> str:
        return f"{'AND' if self.negated else 'OR'}({first},{second})"

    def _text(self, predicate: Asked) -> str:
        asked = predicate.told(self.path)
        if self.index.kind.json_path is not None:
            asked = f"Json({asked}->{self.index.kind.json_path})"
        text = f"[{asked}]@{self.index.name}({self.index.kind.shown})"
        return f"NOT({text})" if self.negated else text


@dataclass(frozen=True, slots=True)
class Every:
    """Plans joined by AND; some conditions may have none (`complete` is false)."""

    parts: tuple[Plan, ...]
    complete: bool

    def ask(self, rows: FragmentRows) -> Known | None:
        """Return what is known of a fragment, None when no index covers it."""
        known = [found for found in (part.ask(rows) for part in self.parts) if found is not None]
        if not known:
            return None
        exact = self.complete and len(known) == len(self.parts)
        mask = np.logical_and.reduce([one.mask for one in known])
        return Known(mask, exact and all(one.exact for one in known))

    @property
    def exact(self) -> bool:
        """Whether nothing is left to be looked at where the indices cover the rows."""
        return self.complete and all(part.exact for part in self.parts)

    def __str__(self) -> str:
        return (
            f"AND({','.join(map(str, self.parts))})" if len(self.parts) > 1 else f"{self.parts[0]}"
        )


@dataclass(frozen=True, slots=True)
class Either:
    """Plans joined by OR."""

    parts: tuple[Plan, ...]

    def ask(self, rows: FragmentRows) -> Known | None:
        """Return what is known of a fragment, None unless indices cover it for every part."""
        known = [part.ask(rows) for part in self.parts]
        given = [one for one in known if one is not None]
        if len(given) < len(known):
            return None
        mask = np.logical_or.reduce([one.mask for one in given])
        return Known(mask, all(one.exact for one in given))

    @property
    def exact(self) -> bool:
        """Whether nothing is left to be looked at where the indices cover the rows."""
        return all(part.exact for part in self.parts)

    def __str__(self) -> str:
        return f"OR({','.join(map(str, self.parts))})"


def joined(parts: Sequence[Plan]) -> tuple[Plan, ...]:
    """Return plans joined by AND: two ends of one column that an index knows are one range."""
    if len(parts) == 2 and all(isinstance(part, Question) for part in parts):
        low, high = parts
        if isinstance(low, Question) and isinstance(high, Question):
            both = _range(low, high) or _range(high, low)
            return tuple(parts) if both is None else (both,)
    return tuple(parts)


def _range(low: Question, high: Question) -> Question | None:
    """Return the range from the end of one question to that of another, None when it is none."""
    first, last = low.predicate, high.predicate
    one_index = low.index is high.index and low.path == high.path
    if not one_index or low.negated or high.negated or low.exact != high.exact:
        return None
    if not isinstance(first, Within) or not isinstance(last, Within):
        return None
    if first.low is None or first.high is not None or last.high is None or last.low is not None:
        return None
    between = Within(first.low, last.high, first.low_closed, last.high_closed)
    return replace(low, predicate=between)


def knows_nulls(index: Index) -> bool:
    """Return whether an index says which rows are null; else what it denies has to be looked at."""
    return index.answers(IsNull()) is True


Plan = Question | Every | Either


@dataclass(frozen=True, slots=True)
class IndexSource:
    """Knows from indices where the rows of a filter are."""

    plan: Plan

    @property
    def explained(self) -> str:
        """The questions, as a step of a plan."""
        return f"ScalarIndexQuery: query={self.plan}"

    def candidates(self, rows: FragmentRows) -> Candidates | None:
        """Return the rows of a fragment that may pass, None where no index covers it."""
        known = self.plan.ask(rows)
        if known is None:
            return None
        return Candidates(positions=np.flatnonzero(known.mask), exact=known.exact)


ByPath = Mapping[str, Sequence[Index]]
"""Indices of each column."""


def select(predicate: Predicate, indices: ByPath, *, negated: bool = False) -> Plan | None:
    """Return the plan of a predicate or of its opposite, None when no index helps."""
    if isinstance(predicate, Not):
        return select(predicate.part, indices, negated=not negated)
    if isinstance(predicate, On):
        return _asked(predicate, indices, negated=negated)
    if not isinstance(predicate, And | Or):
        return None
    sides = [select(one, indices, negated=negated) for one in predicate.parts]
    parts = tuple(side for side in sides if side is not None)
    if isinstance(predicate, Or) == negated:  # by De Morgan an OR that is denied is an AND
        return Every(joined(parts), len(parts) == len(sides)) if parts else None
    return Either(parts) if len(parts) == len(sides) else None


def _asked(one: On, indices: ByPath, *, negated: bool) -> Plan | None:
    """Return the plan of one question; whatever is not false is asked for as true."""
    question, own = one.question, indices.get(one.path, ())
    values = question.values if isinstance(question, Among) else ()
    if not negated or pa.scalar(False) not in values:
        return _best(own, one.path, question, negated, one.exact)
    truth = _best(own, one.path, Among((pa.scalar(True),)), False)
    if truth is None or pa.scalar(True) not in values:
        return truth
    denied = _best(own, one.path, Among((pa.scalar(True),)), True)
    return Every((truth,) if denied is None else (denied, truth), denied is not None)


def _best(
    indices: Sequence[Index], path: str, asked: Asked, negated: bool, exact: bool = True
) -> Question | None:
    """Return the question to the index of a column that answers it best."""
    best: Question | None = None
    for index in indices:
        answer = index.answers(asked)
        if answer is None or (negated and not (answer and exact)):
            continue
        if best is None or (answer and not best.exact):
            is_sure = answer and exact and (not negated or knows_nulls(index))
            best = Question(index, asked, is_sure, negated, path)
    return best
