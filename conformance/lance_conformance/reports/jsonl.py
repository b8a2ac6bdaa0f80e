"""The report: one JSON object per line, a header, a line per case, a footer.

Fields have a fixed order and only `started` depends on time, so that two reports can be compared
line by line. Durations are in `timings.jsonl`.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lance_conformance import __version__
from lance_conformance.comparison.accepted_types import ACCEPTED_TYPES
from lance_conformance.judging.known_failures import KnownFailure, Triage
from lance_conformance.judging.runner import CaseResult, CheckResult
from lance_conformance.outcomes import GOOD
from lance_conformance.protocol.session import Claims
from lance_conformance.reports import score
from lance_conformance.specification.register import Clause
from lance_conformance.suite.cases import Case
from lance_conformance.untrusted_text import printable_json

SCHEMA_VERSION = 1
MAX_STDERR = 4096
"""Maximum number of characters of standard error per case."""


@dataclass(frozen=True, slots=True)
class Run:
    """The content of a report: the implementation, the cases and the results.

    `incomplete` is the reason why selected cases have no result, `subset` a line on cases that the
    folder lacks, `repeat_with` the arguments after `run --only ID` that run a case again.
    """

    claims: Claims
    results: Sequence[CaseResult]
    triage: Triage
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
    def numbers(self) -> Mapping[str, score.Ratio]:
        """The headline numbers of every report."""
        return score.numbers(self.results)


def lines(run: Run) -> Iterator[str]:
    """Yield the lines of `report.jsonl`."""
    head = header(run.claims, run.profile, run.selection, run.started, run.incomplete, run.subset)
    yield line(head)
    for result in run.results:
        yield line(case_entry(result, run.triage.listed.get(result.case.id)))
    yield line(_footer(run))


def line(item: Mapping[str, Any]) -> str:
    """Return the line of an object."""
    return json.dumps(printable_json(item), ensure_ascii=False) + "\n"


def header(
    claims: Claims,
    profile: str,
    selection: Mapping[str, Any],
    started: str,
    incomplete: str,
    subset: str = "",
) -> dict[str, Any]:
    """Return the header: the implementation and the selection."""
    document: dict[str, Any] = {
        "type": "header",
        "schema": SCHEMA_VERSION,
        "suite": __version__,
        "runner": __version__,
        "profile": profile,
        "selection": dict(selection),
        "implementation": dict(claims.implementation),
        "capabilities": dict(claims.capabilities),
        "accepted_types": {name: list(others) for name, others in ACCEPTED_TYPES.items()},
        "host": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
        },
        "started": started,
    }
    last = {"subset": subset, "incomplete": incomplete}
    return document | {key: text for key, text in last.items() if text}


def case_entry(result: CaseResult, entry: KnownFailure | None = None) -> dict[str, Any]:
    """Return the report entry of a result; `entry` is its known failure, if any."""
    case = result.case
    document: dict[str, Any] = {
        "type": "case",
        "id": case.id,
        "title": case.title,
        "kind": case.kind,
        "outcome": str(result.outcome),
        "expected": expectation(case),
    }
    if entry is not None:
        document["known"] = _known_entry(entry)
    document["clauses"] = case.manifest["clauses"]
    document["checks"] = [_check_entry(check) for check in result.checks]
    document["detail"] = result.detail
    if result.stderr:
        document["stderr_tail"] = result.stderr[-MAX_STDERR:]
    return document


def expectation(case: Case) -> str:
    """Return a short description of the expectation of a case."""
    words = []
    for alternative in case.manifest["expect"]:
        parts = [name for name in alternative if name != "choice"]
        if "reject" in alternative:
            parts = [f"reject at stage {alternative['reject'].get('stage', 'any')}"]
        words.append(" and ".join(parts))
    return " or ".join(words)


def _known_entry(entry: KnownFailure) -> dict[str, str]:
    return {"outcome": str(entry.outcome), "reason": entry.reason, "issue": entry.issue}


def _check_entry(check: CheckResult) -> dict[str, Any]:
    document: dict[str, Any] = {"name": check.name, "outcome": str(check.outcome)}
    if check.detail:
        document["detail"] = check.detail
    if check.reject:
        document["reject"] = check.reject
    return document


def _footer(run: Run) -> dict[str, Any]:
    counts = Counter(result.outcome for result in run.results)
    return {
        "type": "footer",
        "cases": len(run.results),
        "checks": sum(len(result.checks) for result in run.results),
        "outcomes": {str(outcome): counts[outcome] for outcome in sorted(counts)},
        "unexpected": [result.case.id for result in run.triage.unexpected],
        "advised": [result.case.id for result in run.triage.advised],
        "stale": list(run.triage.stale),
        "numbers": {
            name: {"good": part.good, "cases": part.cases, "share": score.percent(part.share)}
            for name, part in run.numbers.items()
        },
        "scores": {name: _score_entry(value) for name, value in run.scores.items()},
        "levels": {name: _level_entry(value) for name, value in run.levels.items()},
        "exit_code": run.exit_code,
    }


def _score_entry(value: score.Score) -> dict[str, Any]:
    return {
        "breadth": score.percent(value.breadth),
        "correctness": score.percent(value.correctness),
        "clauses": value.clauses,
        "clauses_claimed": value.clauses_claimed,
        "clauses_correct": value.clauses_correct,
        "cases": value.cases,
        "cases_claimed": value.cases_claimed,
    }


def _level_entry(value: score.Level) -> dict[str, Any]:
    return {
        "reached": value.reached,
        "passed": value.passed,
        "total": value.total,
        "why": value.why,
    }


def result_status(run: Run, result: CaseResult) -> str:
    """Return the status of a result: `good`, `known`, `advised` or `unexpected`."""
    if result.outcome in GOOD:
        return "good"
    if result in run.triage.advised:
        return "advised"
    return "known" if result.case.id in run.triage.listed else "unexpected"
