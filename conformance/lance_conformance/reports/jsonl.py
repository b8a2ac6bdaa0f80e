"""The report: one JSON object per line, a header, a line per case, a footer.

Fields have a fixed order and nothing depends on time but `started`, so that two reports can be
compared line by line. How long things took goes to `timings.jsonl` beside it.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lance_conformance import __version__
from lance_conformance.accepted import ACCEPTED
from lance_conformance.cases import Case
from lance_conformance.known import Known, Reckoning
from lance_conformance.outcomes import GOOD
from lance_conformance.register import Clause
from lance_conformance.reports import score
from lance_conformance.runner import CaseResult, CheckResult
from lance_conformance.session import Claims

SCHEMA_VERSION = 1
MAX_STDERR = 4096
"""Characters of standard error kept per case."""


@dataclass(frozen=True, slots=True)
class Run:
    """All that a report tells: who was judged, on what, with what result."""

    claims: Claims
    results: Sequence[CaseResult]
    reckoning: Reckoning
    active: Sequence[Case]
    register: Mapping[str, Clause]
    profile: str
    started: str
    exit_code: int
    scores: Mapping[str, score.Score] = field(default_factory=dict)
    levels: Mapping[str, score.Level] = field(default_factory=dict)


def lines(run: Run) -> Iterator[str]:
    """Yield the lines of `report.jsonl`."""
    objects = (_header(run), *(_case(run, result) for result in run.results), _footer(run))
    for item in objects:
        yield json.dumps(item, ensure_ascii=False) + "\n"


def _header(run: Run) -> dict[str, Any]:
    return {
        "type": "header",
        "schema": SCHEMA_VERSION,
        "suite": __version__,
        "runner": __version__,
        "profile": run.profile,
        "implementation": dict(run.claims.implementation),
        "capabilities": dict(run.claims.capabilities),
        "accepted_types": {name: list(others) for name, others in ACCEPTED.items()},
        "host": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
        },
        "started": run.started,
    }


def _case(run: Run, result: CaseResult) -> dict[str, Any]:
    case = result.case
    told: dict[str, Any] = {
        "type": "case",
        "id": case.id,
        "title": case.title,
        "kind": case.kind,
        "outcome": str(result.outcome),
        "expected": expectation(case),
    }
    entry = run.reckoning.listed.get(case.id)
    if entry is not None:
        told["known"] = _known(entry)
    told["clauses"] = case.manifest["clauses"]
    told["checks"] = [_check(check) for check in result.checks]
    told["detail"] = result.detail
    if result.stderr:
        told["stderr_tail"] = result.stderr[-MAX_STDERR:]
    return told


def expectation(case: Case) -> str:
    """Return in a few words what the case asks for."""
    words = []
    for alternative in case.manifest["expect"]:
        parts = [name for name in alternative if name != "choice"]
        if "reject" in alternative:
            parts = [f"reject at stage {alternative['reject'].get('stage', 'any')}"]
        words.append(" and ".join(parts))
    return " or ".join(words)


def _known(entry: Known) -> dict[str, str]:
    return {"outcome": str(entry.outcome), "reason": entry.reason, "issue": entry.issue}


def _check(check: CheckResult) -> dict[str, Any]:
    told: dict[str, Any] = {"name": check.name, "outcome": str(check.outcome)}
    if check.detail:
        told["detail"] = check.detail
    if check.reject:
        told["reject"] = check.reject
    return told


def _footer(run: Run) -> dict[str, Any]:
    counts = Counter(result.outcome for result in run.results)
    return {
        "type": "footer",
        "cases": len(run.results),
        "checks": sum(len(result.checks) for result in run.results),
        "outcomes": {str(outcome): counts[outcome] for outcome in sorted(counts)},
        "unexpected": [result.case.id for result in run.reckoning.unexpected],
        "stale": list(run.reckoning.stale),
        "scores": {name: _score(value) for name, value in run.scores.items()},
        "levels": {n: {"reached": v.reached, "why": v.why} for n, v in run.levels.items()},
        "exit_code": run.exit_code,
    }


def _score(value: score.Score) -> dict[str, Any]:
    return {
        "breadth": score.percent(value.breadth),
        "correctness": score.percent(value.correctness),
        "clauses": value.clauses,
        "clauses_claimed": value.clauses_claimed,
        "clauses_correct": value.clauses_correct,
        "cases": value.cases,
        "cases_claimed": value.cases_claimed,
    }


def standing(run: Run, result: CaseResult) -> str:
    """Return how a result stands: `good`, `known` or `unexpected`."""
    if result.outcome in GOOD:
        return "good"
    return "known" if result.case.id in run.reckoning.listed else "unexpected"
