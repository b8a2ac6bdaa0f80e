"""Index plan: which indices a predicate is put to, and what they know of the rows that pass.

Questions joined by AND, OR and NOT become a plan; NOT is moved down to the questions. Where an
index cannot answer one side of an AND, the other side still narrows the rows down; an OR needs
both. A plan is exact when all rows it returns pass and no filter has to be evaluated. The opposite
of a question is all rows but its own and nulls; an index that does not know the nulls leaves the
rest to the filter.

Statistics of 0.1 files are asked nothing: of a batch with a null they say nothing, and the official
reader passes over rows by them.

Divergences: D.table.filter-null-batch-0-1, D.table.filter-single-value-batch-0-1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.integers import intersection, union
from lanceref.index.indices import Index
from lanceref.index.predicate import IsNull, Within
from lanceref.index.predicate import Predicate as IndexPredicate
from lanceref.index.row_set import Keys
from lanceref.table.rows import FragmentRows

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class On:
    """A question about a column, or about a member of its documents, by its path.

    Unless it is exact, rows that pass are among those for which the answer is yes.
    """

    path: str
    question: IndexPredicate
    exact: bool = True


@dataclass(frozen=True, slots=True)
class And:
    """True for the rows for which every part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True for the rows for which at least one part is true."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """True for the rows for which the part is false."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class Unknown:
    """A condition without a structure: only its callable answers it."""


Predicate: TypeAlias = On | And | Or | Not | Unknown


@dataclass(frozen=True, slots=True)
class Known:
    """Live rows of a fragment that may pass, ascending: exactly those, or among others."""

    positions: NDArray[np.int64]
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
        if self.negated:
            others = np.ones(rows.num_rows, np.bool_)
            others[positions] = False
            if self.exact and not isinstance(self.predicate, IsNull):
                others[self.index.positions(IsNull(), rows)] = False
            positions = np.flatnonzero(others)
        return Known(positions, self.exact)

    def covers(self, fragment_id: int) -> bool:
        """Return whether the index covers a fragment."""
        return any(fragment_id in segment.covers for segment in self.index.segments)

    def possible(self, fragments: Keys) -> Mask:
        """Return for each fragment (n,), by its id, whether a row may pass as far as is known."""
        possible = self.index.possible(self.predicate, fragments)
        return np.ones(len(fragments), np.bool_) if self.negated else possible


@dataclass(frozen=True, slots=True)
class Combined:
    """Plans joined by AND or OR; of an AND some conditions may have none (not `complete`)."""

    operator: Literal["AND", "OR"]
    parts: tuple[Plan, ...]
    complete: bool = True

    def ask(self, rows: FragmentRows) -> Known | None:
        """Return what is known of a fragment, None when too few parts are covered by an index."""
        known = [one for one in (part.ask(rows) for part in self.parts) if one is not None]
        whole = self.complete and len(known) == len(self.parts)
        if not known or (self.operator == "OR" and not whole):
            return None
        join = intersection if self.operator == "AND" else union
        positions = reduce(join, [one.positions for one in known])
        return Known(positions, whole and all(one.exact for one in known))

    def covers(self, fragment_id: int) -> bool:
        """Return whether the index of every part covers a fragment."""
        return all(part.covers(fragment_id) for part in self.parts)

    def possible(self, fragments: Keys) -> Mask:
        """Return for each fragment (n,), by its id, whether a row may pass as far as is known."""
        join = np.logical_and if self.operator == "AND" else np.logical_or
        return np.asarray(join.reduce([part.possible(fragments) for part in self.parts]))


Plan = Question | Combined


def select(
    predicate: Predicate, indices: Mapping[str, Sequence[Index]], *, negated: bool = False
) -> Plan | None:
    """Return the plan of a predicate or its opposite by indices of columns, None without help."""
    if isinstance(predicate, Not):
        return select(predicate.part, indices, negated=not negated)
    if isinstance(predicate, On):
        own, path = indices.get(predicate.path, ()), predicate.path
        return _best(own, path, predicate.question, negated, predicate.exact)
    if not isinstance(predicate, And | Or):
        return None
    sides = [select(one, indices, negated=negated) for one in predicate.parts]
    parts = tuple(side for side in sides if side is not None)
    if isinstance(predicate, Or) == negated:  # by De Morgan an OR that is denied is an AND
        return Combined("AND", merge_ranges(parts), len(parts) == len(sides)) if parts else None
    return Combined("OR", parts) if len(parts) == len(sides) else None


def _best(
    indices: Sequence[Index], path: str, predicate: IndexPredicate, negated: bool, exact: bool
) -> Question | None:
    """Return the question to the index of a column that answers it best."""
    best: Question | None = None
    for index in indices:
        answer = index.answers(predicate)
        if answer is None or (negated and not (answer and exact)):
            continue
        if best is None or (answer and not best.exact):
            knows_nulls = index.answers(IsNull()) is True
            is_sure = answer and exact and (not negated or knows_nulls)
            best = Question(index, predicate, is_sure, negated, path)
    return best


def merge_ranges(parts: Sequence[Plan]) -> tuple[Plan, ...]:
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
