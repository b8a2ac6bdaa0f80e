"""Violation policies: the required reaction of a reader to the clauses that a case breaks.

The label of a clause about bytes has the policy REFUSE, EITHER or READ. The kind of a case, and so
the verdict, follows from the clauses that it breaks; `tools/register.py` checks this for all cases.

| policies of the clauses | kind | correct answers |
|---|---|---|
| one of them `refuse` | negative | a refusal |
| `either`, none `refuse` | negative | a refusal, or the rows of the case before it was damaged |
| `refuse` or `either` | lint: the operation does not need the part | the rows, or a refusal |
| `read` | lint | the rows |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from lance_conformance.specification import register
from lance_conformance.suite.cases import Case

REFUSE, EITHER, READ = "refuse", "either", "read"


def policy_of(case: Case) -> str:
    """Return the strictest policy of the clauses that a case breaks; READ without any."""
    broken = [named["id"] for named in case.manifest["clauses"] if named["role"] == "negative"]
    return strictest(_policies()[clause] for clause in broken if clause in _policies())


def correct_answers(case: Case) -> str:
    """Return the correct answers to a case in words: the last column of the table above."""
    word = policy_of(case)
    if case.is_negative:
        return "a refusal, or the rows" if word == EITHER else "a refusal"
    return "the rows, or a refusal" if case.kind == "lint" and word != READ else "the rows"


def strictest(words: Iterable[str]) -> str:
    """Return the policy that leaves a reader the least choice."""
    distinct = set(words)
    return next((word for word in (REFUSE, EITHER) if word in distinct), READ)


@cache
def must_clauses() -> frozenset[str]:
    """Return the ids of the mandatory clauses."""
    return frozenset(clause.id for clause in register.load().values() if clause.is_must)


@cache
def _policies() -> Mapping[str, str]:
    return {clause.id: clause.violation for clause in register.load().values()}
