"""Index plan: which indices a predicate is put to, and what they know of the rows that pass.

Questions joined by AND, OR and NOT become a plan; NOT is moved down to the questions. Where an
index cannot answer one side of an AND, the other side still narrows the rows down; an OR needs
both. A plan is exact when all rows it returns pass and no filter has to be evaluated. The opposite
of a question is all rows but its own and nulls; an index that does not know the nulls leaves the
rest to the filter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.index.indices import Index
from lanceref.index.predicate import Among, IsNull, Within, plan_text
from lanceref.index.predicate import Predicate as IndexPredicate
from lanceref.search.filter import And, Not, On, Or, Predicate
from lanceref.table.rows import FragmentRows

SPELLED_OUT = 3
"""Values of a list that a plan shows one by one; more are shown as a list."""

ByPath = Mapping[str, Sequence[Index]]
"""Indices of each column."""


@dataclass(frozen=True, slots=True)
class Known:
    """Live rows of a fragment that may pass: exactly those, or among others."""

    mask: NDArray[np.bool_]
    exact: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A predicate put to an index, or its opposite."""

    index: Index
    predicate: IndexPredicate
    exact: bool
    negated: bool = False
    path: str = ""

    def ask(self, rows: FragmentRows) -> Known | None:
        """Return what is known of a fragment, None when the index does not cover it."""
        positions = self.index.positions(self.predicate, rows)
        if positions is None:
            return None
        mask = np.zeros(rows.num_rows, np.bool_)
        mask[positions] = True
        if self.negated:
            mask = ~mask
            if self.exact and not isinstance(self.predicate, IsNull):
                mask[self.index.positions(IsNull(), rows)] = False
        return Known(mask, self.exact)

    def __str__(self) -> str:
        values = self.predicate.values if isinstance(self.predicate, Among) else ()
        if not 1 < len(values) <= SPELLED_OUT:
            return self._text(self.predicate)
        joint = "AND" if self.negated else "OR"
        texts = (self._text(Among((one,))) for one in values)
        return reduce(lambda first, second: f"{joint}({first},{second})", texts)

    def _text(self, predicate: IndexPredicate) -> str:
        text = plan_text(predicate, self.path)
        if self.index.kind.json_path is not None:
            text = f"Json({text}->{self.index.kind.json_path})"
        text = f"[{text}]@{self.index.name}({self.index.kind.shown})"
        return f"NOT({text})" if self.negated else text


@dataclass(frozen=True, slots=True)
class Every:
    """Plans joined by AND; some conditions may have none (`complete` is false)."""

    parts: tuple[Plan, ...]
    complete: bool

    def ask(self, rows: FragmentRows) -> Known | None:
        """Return what is known of a fragment, None when no index covers it."""
        known = _known(self.parts, rows)
        if not known:
            return None
        exact = self.complete and len(known) == len(self.parts) and all(one.exact for one in known)
        return Known(np.logical_and.reduce([one.mask for one in known]), exact)

    def __str__(self) -> str:
        texts = ",".join(map(str, self.parts))
        return f"AND({texts})" if len(self.parts) > 1 else texts


@dataclass(frozen=True, slots=True)
class Either:
    """A plan whose rows are those of any of its parts."""

    parts: tuple[Plan, ...]

    def ask(self, rows: FragmentRows) -> Known | None:
        """Return what is known of a fragment, None unless indices cover it for every part."""
        known = _known(self.parts, rows)
        if len(known) < len(self.parts):
            return None
        mask = np.logical_or.reduce([one.mask for one in known])
        return Known(mask, all(one.exact for one in known))

    def __str__(self) -> str:
        return f"OR({','.join(map(str, self.parts))})"


def _known(parts: Sequence[Plan], rows: FragmentRows) -> list[Known]:
    return [known for known in (part.ask(rows) for part in parts) if known is not None]


Plan = Question | Every | Either


def select(predicate: Predicate, indices: ByPath, *, negated: bool = False) -> Plan | None:
    """Return the plan of a predicate or of its opposite, None when no index helps."""
    if isinstance(predicate, Not):
        return select(predicate.part, indices, negated=not negated)
    if isinstance(predicate, On):
        return _plan_of(predicate, indices, negated=negated)
    if not isinstance(predicate, And | Or):
        return None
    sides = [select(one, indices, negated=negated) for one in predicate.parts]
    parts = tuple(side for side in sides if side is not None)
    if isinstance(predicate, Or) == negated:  # by De Morgan an OR that is denied is an AND
        return Every(unite_ends(parts), len(parts) == len(sides)) if parts else None
    return Either(parts) if len(parts) == len(sides) else None


def _plan_of(one: On, indices: ByPath, *, negated: bool) -> Plan | None:
    """Return the plan of one question; "is not false" becomes "is true"."""
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
    indices: Sequence[Index], path: str, asked: IndexPredicate, negated: bool, exact: bool = True
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


def knows_nulls(index: Index) -> bool:
    """Return whether an index tells which rows are null."""
    return index.answers(IsNull()) is True


def unite_ends(parts: Sequence[Plan]) -> tuple[Plan, ...]:
    """Return plans joined by AND: two ends of one column in one index become one range."""
    if len(parts) != 2 or not all(isinstance(part, Question) for part in parts):
        return tuple(parts)
    for low, high in (parts, parts[::-1]):
        assert isinstance(low, Question)
        assert isinstance(high, Question)
        alike = low.index is high.index and low.path == high.path and low.exact == high.exact
        match low.predicate, high.predicate:
            case (
                Within(pa.Scalar() as first, None, closed),
                Within(None, pa.Scalar() as last, _, end_closed),
            ) if alike and not low.negated and not high.negated:
                return (replace(low, predicate=Within(first, last, closed, end_closed)),)
    return tuple(parts)
