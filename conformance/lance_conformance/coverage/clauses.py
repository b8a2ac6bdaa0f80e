"""Coverage of clauses: the numbers of cases that keep and break each MUST."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lance_conformance.specification.register import Clause
from lance_conformance.suite.cases import Case


@dataclass(slots=True)
class ClauseCases:
    """Numbers of cases of one clause."""

    positive: int = 0
    negative: int = 0


def count_cases(clauses: Mapping[str, Clause], cases: Iterable[Case]) -> dict[str, ClauseCases]:
    """Return the numbers of cases of every testable MUST, by clause id."""
    counted = (clause for clause in clauses.values() if clause.is_must and not clause.untestable)
    pairs = {clause.id: ClauseCases() for clause in counted}
    for case in (case for case in cases if case.is_active):
        for named in case.manifest["clauses"]:
            if named["id"] in pairs and named["role"] != "context":
                pairs[named["id"]].negative += named["role"] == "negative"
                pairs[named["id"]].positive += named["role"] == "positive"
    return pairs
