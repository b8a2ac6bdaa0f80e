"""Known failures: the list of cases that an implementation currently fails.

A TOML file of `[[known]]` entries: `case` (an id, or a wildcard), `outcome`, `reason`, `issue` (a
link or a divergence id), and optionally `clause` and `until` (a date). Listed cases are always
run. An entry whose case passes is stale; another outcome than the listed one is unexpected. Of
`crash` and `flaky-crash` either is expected where the other is listed.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lance_conformance.command_error import CommandError
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.specification.register import Clause, has_must
from lance_conformance.suite.cases import matches_pattern

_ENTRY_KEYS = {"case", "outcome", "reason", "issue", "clause", "until"}
_DEATHS = {Outcome.CRASH, Outcome.FLAKY_CRASH}
_ADVISED_OUTCOMES = {Outcome.REJECTS_VALID, Outcome.ACCEPTS_INVALID}
ISSUE = re.compile(r"https?://\S+|D\.[a-z0-9-]+(\.[a-z0-9-]+)+")
"""Form of `issue`: a link, or the id of a divergence."""


class KnownError(CommandError):
    """The list is not valid; the message names file and entry."""


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """One entry of the list."""

    case: str
    outcome: Outcome
    reason: str
    issue: str
    clause: str = ""
    until: datetime.date | None = None

    def matches(self, case_id: str) -> bool:
        """Whether the entry applies to a case."""
        return matches_pattern(self.case, case_id)

    def allows(self, outcome: Outcome) -> bool:
        """Whether an outcome is the listed one, or both are kinds of crash."""
        return outcome == self.outcome or {outcome, self.outcome} == _DEATHS


@dataclass(frozen=True, slots=True)
class Triage:
    """Results compared with a list: unexpected results, and entries that are out of date.

    `advised` are cases without a MUST that were refused or read against the advice of a clause,
    `changed` the entries of unexpected results that are listed with another outcome or date.
    """

    listed: Mapping[str, KnownFailure] = field(default_factory=dict)
    unexpected: tuple[CaseResult, ...] = ()
    stale: tuple[str, ...] = ()
    advised: tuple[CaseResult, ...] = ()
    changed: Mapping[str, KnownFailure] = field(default_factory=dict)


def load(path: Path) -> list[KnownFailure]:
    """Read a list. Raises KnownError."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KnownError(f"{path}: {error}") from error
    unknown = document.keys() - {"suite", "known"}
    if unknown:
        raise KnownError(f"{path}: unknown keys {sorted(unknown)}")
    return [_entry(path, n, item) for n, item in enumerate(document.get("known", []), start=1)]


def _entry(path: Path, number: int, item: Mapping[str, Any]) -> KnownFailure:
    where = f"{path}, entry {number} ({item.get('case', 'no case')})"
    absent = {"case", "outcome", "reason", "issue"} - item.keys()
    if absent or item.keys() - _ENTRY_KEYS:
        raise KnownError(
            f"{where}: lacks {sorted(absent)}, unknown {sorted(item.keys() - _ENTRY_KEYS)}"
        )
    if item["outcome"] not in set(Outcome) - GOOD:
        raise KnownError(f"{where}: {item['outcome']} is not the outcome of a failure")
    if not ISSUE.fullmatch(item["issue"]):
        raise KnownError(f"{where}: issue must be a link or a divergence id")
    until = item.get("until")
    if isinstance(until, str):
        try:
            until = datetime.date.fromisoformat(until)
        except ValueError as error:
            raise KnownError(f"{where}: until is not a date: {error}") from error
    return KnownFailure(
        item["case"],
        Outcome(item["outcome"]),
        item["reason"],
        item["issue"],
        item.get("clause", ""),
        until,
    )


def triage(
    results: Sequence[CaseResult],
    known: Sequence[KnownFailure],
    all_ids: Sequence[str],
    today: datetime.date,
    register: Mapping[str, Clause],
) -> Triage:
    """Compare results with a list; `all_ids` are the cases of the suite, run or not."""
    listed: dict[str, KnownFailure] = {}
    changed: dict[str, KnownFailure] = {}
    unexpected: list[CaseResult] = []
    advised: list[CaseResult] = []
    for result in results:
        if result.outcome in GOOD:
            continue
        entry = matching_entry(result, known, today)
        if entry is not None:
            listed[result.case.id] = entry
            continue
        changed.update((result.case.id, one) for one in known if one.matches(result.case.id))
        if result.outcome in _ADVISED_OUTCOMES and not has_must(result.case.clauses, register):
            advised.append(result)
        else:
            unexpected.append(result)
    stale = [text for entry in known if (text := _stale_text(entry, results, all_ids, today))]
    return Triage(listed, tuple(unexpected), tuple(stale), tuple(advised), changed)


def matching_entry(
    result: CaseResult, known: Sequence[KnownFailure], today: datetime.date
) -> KnownFailure | None:
    """Return the entry of a failure that lists its outcome and has not expired."""
    entry = next((k for k in known if k.matches(result.case.id)), None)
    if entry is None or not entry.allows(result.outcome) or _is_expired(entry, today):
        return None
    return entry


def stale_cases(entry: KnownFailure, results: Sequence[CaseResult]) -> list[str]:
    """Return the cases of an entry that no longer fail.

    Never any for an entry of a flaky crash, whose case may pass.
    """
    if entry.outcome == Outcome.FLAKY_CRASH:
        return []
    return [r.case.id for r in results if entry.matches(r.case.id) and r.outcome in GOOD]


def _stale_text(
    entry: KnownFailure, results: Sequence[CaseResult], all_ids: Sequence[str], today: datetime.date
) -> str | None:
    fitting = [name for name in all_ids if entry.matches(name)]
    if not fitting:
        return f'remove the entry case = "{entry.case}": no case of the suite has this id'
    wrong_clause = entry.clause and not any(
        entry.clause in r.case.clauses for r in results if entry.matches(r.case.id)
    )
    was_run = any(entry.matches(r.case.id) for r in results)
    if was_run and wrong_clause:
        return f'entry case = "{entry.case}": none of its cases tests {entry.clause}'
    good = stale_cases(entry, results)
    if good and len(good) == len(fitting):
        return f'remove the entry case = "{entry.case}": it no longer fails'
    if good:
        remaining = ", ".join(f'"{name}"' for name in fitting if name not in good)
        return (
            f'replace the entry case = "{entry.case}" by {remaining}: {", ".join(good)} do not fail'
        )
    if _is_expired(entry, today):
        return f'entry case = "{entry.case}": until = {entry.until} has passed'
    return None


def _is_expired(entry: KnownFailure, today: datetime.date) -> bool:
    return entry.until is not None and entry.until < today
