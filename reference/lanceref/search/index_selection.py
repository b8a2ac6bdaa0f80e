"""Index selection: which indices are asked about a predicate, and what they are asked.

Questions joined by AND, OR and NOT become a plan; NOT is moved down to the questions. Where an
index cannot answer one side of an AND, the other side still narrows the rows down; an OR needs
both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lanceref.index.indices import Index
from lanceref.index.predicate import Among
from lanceref.index.predicate import Predicate as Asked
from lanceref.search.index_plan import Either, Every, Plan, Question, joined, knows_nulls
from lanceref.search.predicate import And, Not, On, Or, Predicate

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
