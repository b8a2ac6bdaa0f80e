"""Violations: what the clauses that a case breaks ask of a reader.

A clause about bytes says so in its label: REFUSE, EITHER or READ. The kind of a case, and so the
verdict, follows from the clauses that it breaks; `tools/register.py` holds all cases to this.

| the clauses say | kind | right is |
|---|---|---|
| one of them `refuse` | negative | a refusal |
| `either`, none `refuse` | negative | a refusal, or the rows of the case before it was damaged |
| `refuse` or `either` | lint: the operation does not need the part | the rows, or a refusal |
| `read` | lint | the rows |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from lance_conformance import register
from lance_conformance.cases import Case

REFUSE, EITHER, READ = "refuse", "either", "read"


def of(case: Case) -> str:
    """Return the strictest word of the clauses that a case breaks; READ when it breaks none."""
    broken = [named["id"] for named in case.manifest["clauses"] if named["role"] == "negative"]
    return strictest(_words()[clause] for clause in broken if clause in _words())


def right(case: Case) -> str:
    """Return which answers to a case are right, in words: the last column of the table above."""
    word = of(case)
    if case.is_negative:
        return "a refusal, or the rows" if word == EITHER else "a refusal"
    return "the rows, or a refusal" if case.kind == "lint" and word != READ else "the rows"


def strictest(words: Iterable[str]) -> str:
    """Return the word that leaves a reader the least choice."""
    given = set(words)
    return next((word for word in (REFUSE, EITHER) if word in given), READ)


@cache
def musts() -> frozenset[str]:
    """Return the ids of the clauses that leave no choice."""
    return frozenset(clause.id for clause in register.load().values() if clause.is_must)


@cache
def _words() -> Mapping[str, str]:
    return {clause.id: clause.violation for clause in register.load().values()}
