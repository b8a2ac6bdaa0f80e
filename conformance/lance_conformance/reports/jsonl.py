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
from lance_conformance.outside_text import cleaned
from lance_conformance.register import Clause
from lance_conformance.reports import score
from lance_conformance.runner import CaseResult, CheckResult
from lance_conformance.session import Claims

SCHEMA_VERSION = 1
MAX_STDERR = 4096
"""Characters of standard error kept per case."""


@dataclass(frozen=True, slots=True)
class Run:
    """All that a report tells: who was judged, on what, with what result.

    `incomplete` says why there is not a result for every case of the selection, `subset` what the
    folder of cases lacks of the suite, `repeat_with` what follows `run --only ID` to run a case of
    it again.
    """

    claims: Claims
    results: Sequence[CaseResult]
    reckoning: Reckoning
    active: Sequence[Case]
    register: Mapping[str, Clause]
    profile: str
    started: str
    exit_code: int
    selection: Mapping[str, Any] = field(default_factory=dict)
    incomplete: str = ""
    subset: str = ""
    repeat_with: Sequence[str] = ()
    scores: Mapping[str, score.Score] = field(default_factory=dict)
    levels: Mapping[str, score.Level] = field(default_factory=dict)

    @property
    def numbers(self) -> Mapping[str, score.Part]:
        """The numbers that lead every report."""
        return score.numbers(self.results)


def lines(run: Run) -> Iterator[str]:
    """Yield the lines of `report.jsonl`."""
    head = header(run.claims, run.profile, run.selection, run.started, run.incomplete, run.subset)
    yield line(head)
    for result in run.results:
        yield line(case_object(result, run.reckoning.listed.get(result.case.id)))
    yield line(_footer(run))


def line(item: Mapping[str, Any]) -> str:
    """Return the line of an object."""
    return json.dumps(cleaned(item), ensure_ascii=False) + "\n"


def header(
    claims: Claims,
    profile: str,
    selection: Mapping[str, Any],
    started: str,
    incomplete: str,
    subset: str = "",
) -> dict[str, Any]:
    """Return the header: who is judged, on what."""
    told: dict[str, Any] = {
        "type": "header",
        "schema": SCHEMA_VERSION,
        "suite": __version__,
        "runner": __version__,
        "profile": profile,
        "selection": dict(selection),
        "implementation": dict(claims.implementation),
        "capabilities": dict(claims.capabilities),
        "accepted_types": {name: list(others) for name, others in ACCEPTED.items()},
        "host": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
        },
        "started": started,
    }
    last = {"subset": subset, "incomplete": incomplete}
    return told | {key: text for key, text in last.items() if text}


def case_object(result: CaseResult, entry: Known | None = None) -> dict[str, Any]:
    """Return what the report tells of a result; `entry` is the known failure it is."""
    case = result.case
    told: dict[str, Any] = {
        "type": "case",
        "id": case.id,
        "title": case.title,
        "kind": case.kind,
        "outcome": str(result.outcome),
        "expected": expectation(case),
    }
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
        "advised": [result.case.id for result in run.reckoning.advised],
        "stale": list(run.reckoning.stale),
        "numbers": {
            name: {"good": part.good, "cases": part.cases, "share": score.percent(part.share)}
            for name, part in run.numbers.items()
        },
        "scores": {name: _score(value) for name, value in run.scores.items()},
        "levels": {name: _level(value) for name, value in run.levels.items()},
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


def _level(value: score.Level) -> dict[str, Any]:
    return {
        "reached": value.reached,
        "passed": value.passed,
        "total": value.total,
        "why": value.why,
    }


def standing(run: Run, result: CaseResult) -> str:
    """Return how a result stands: `good`, `known`, `advised` or `unexpected`."""
    if result.outcome in GOOD:
        return "good"
    if result in run.reckoning.advised:
        return "advised"
    return "known" if result.case.id in run.reckoning.listed else "unexpected"
