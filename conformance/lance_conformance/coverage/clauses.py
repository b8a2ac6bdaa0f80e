"""Clauses: how many cases keep and break each MUST of the register."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lance_conformance.cases import Case
from lance_conformance.register import Clause


@dataclass(slots=True)
class Pairs:
    """Cases of one clause."""

    positive: int = 0
    negative: int = 0


def count(clauses: Mapping[str, Clause], cases: Iterable[Case]) -> dict[str, Pairs]:
    """Return the cases of every MUST that can be tested, by clause id."""
    counted = (clause for clause in clauses.values() if clause.is_must and not clause.untestable)
    pairs = {clause.id: Pairs() for clause in counted}
    for case in (case for case in cases if case.is_active):
        for named in case.manifest["clauses"]:
            if named["id"] in pairs and named["role"] != "context":
                pairs[named["id"]].negative += named["role"] == "negative"
                pairs[named["id"]].positive += named["role"] == "positive"
    return pairs
