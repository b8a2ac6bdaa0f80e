"""Known failures: the list an implementation keeps of what it gets wrong today.

A TOML file of `[[known]]` entries: `case` (an id, or a wildcard), `outcome`, `reason`, `issue` (a
link or a divergence id), and optionally `clause` and `until` (a date). Known cases are always
run. An entry whose case passes is stale; another outcome than the listed one is unexpected. A death
that is listed may be of either kind: a case that dies in one run may die now and then in the next.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lance_conformance.cases import matches
from lance_conformance.failures import Failure
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.register import Clause, has_must
from lance_conformance.runner import CaseResult

_KEYS = {"case", "outcome", "reason", "issue", "clause", "until"}
_DEATHS = {Outcome.CRASH, Outcome.FLAKY_CRASH}
_CHOICES = {Outcome.REJECTS_VALID, Outcome.ACCEPTS_INVALID}
ISSUE = re.compile(r"https?://\S+|D\.[a-z0-9-]+(\.[a-z0-9-]+)+")
"""What `issue` may be: a link, or the id of a divergence."""


class KnownError(Failure):
    """The list is not what it must be; the text names file and entry."""


@dataclass(frozen=True, slots=True)
class Known:
    """One entry."""

    case: str
    outcome: Outcome
    reason: str
    issue: str
    clause: str = ""
    until: datetime.date | None = None

    def fits(self, case_id: str) -> bool:
        """Whether the entry is about a case."""
        return matches(self.case, case_id)

    def foresees(self, outcome: Outcome) -> bool:
        """Whether the entry lists an outcome, or a death where another kind of death is listed."""
        return outcome == self.outcome or {outcome, self.outcome} == _DEATHS


@dataclass(frozen=True, slots=True)
class Reckoning:
    """Results held against a list: what nobody expected, and which entries are out of date.

    `advised` are cases without a MUST that were refused or read where a clause advises otherwise,
    `changed` the entries of unexpected results that are listed with another outcome or date.
    """

    listed: Mapping[str, Known] = field(default_factory=dict)
    unexpected: tuple[CaseResult, ...] = ()
    stale: tuple[str, ...] = ()
    advised: tuple[CaseResult, ...] = ()
    changed: Mapping[str, Known] = field(default_factory=dict)


def load(path: Path) -> list[Known]:
    """Read a list. Raises KnownError."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise KnownError(f"{path}: {error}") from error
    unknown = document.keys() - {"suite", "known"}
    if unknown:
        raise KnownError(f"{path}: unknown keys {sorted(unknown)}")
    return [_entry(path, n, item) for n, item in enumerate(document.get("known", []), start=1)]


def _entry(path: Path, number: int, item: Mapping[str, Any]) -> Known:
    where = f"{path}, entry {number} ({item.get('case', 'no case')})"
    absent = {"case", "outcome", "reason", "issue"} - item.keys()
    if absent or item.keys() - _KEYS:
        raise KnownError(f"{where}: lacks {sorted(absent)}, unknown {sorted(item.keys() - _KEYS)}")
    if item["outcome"] not in set(Outcome) - GOOD:
        raise KnownError(f"{where}: {item['outcome']} is no outcome of a failure")
    if not ISSUE.fullmatch(item["issue"]):
        raise KnownError(f"{where}: issue must be a link or a divergence id")
    until = item.get("until")
    if isinstance(until, str):
        try:
            until = datetime.date.fromisoformat(until)
        except ValueError as error:
            raise KnownError(f"{where}: until is no date: {error}") from error
    return Known(
        item["case"],
        Outcome(item["outcome"]),
        item["reason"],
        item["issue"],
        item.get("clause", ""),
        until,
    )


def reckon(
    results: Sequence[CaseResult],
    known: Sequence[Known],
    all_ids: Sequence[str],
    today: datetime.date,
    register: Mapping[str, Clause],
) -> Reckoning:
    """Hold results against a list; `all_ids` are the cases of the suite, run or not."""
    listed: dict[str, Known] = {}
    changed: dict[str, Known] = {}
    unexpected: list[CaseResult] = []
    advised: list[CaseResult] = []
    for result in results:
        if result.outcome in GOOD:
            continue
        entry = entry_for(result, known, today)
        if entry is not None:
            listed[result.case.id] = entry
            continue
        changed.update((result.case.id, one) for one in known if one.fits(result.case.id))
        if result.outcome in _CHOICES and not has_must(result.case.clauses, register):
            advised.append(result)
        else:
            unexpected.append(result)
    stale = [text for entry in known if (text := _staleness(entry, results, all_ids, today))]
    return Reckoning(listed, tuple(unexpected), tuple(stale), tuple(advised), changed)


def entry_for(result: CaseResult, known: Sequence[Known], today: datetime.date) -> Known | None:
    """Return the entry by which a failure is known: its outcome, and not past its date."""
    entry = next((k for k in known if k.fits(result.case.id)), None)
    if entry is None or not entry.foresees(result.outcome) or _is_past(entry, today):
        return None
    return entry


def stale_cases(entry: Known, results: Sequence[CaseResult]) -> list[str]:
    """Return the cases an entry is about that do not fail any more.

    None for an entry of a flaky crash: that a case passes now and then is what it says.
    """
    if entry.outcome == Outcome.FLAKY_CRASH:
        return []
    return [r.case.id for r in results if entry.fits(r.case.id) and r.outcome in GOOD]


def _staleness(
    entry: Known, results: Sequence[CaseResult], all_ids: Sequence[str], today: datetime.date
) -> str | None:
    fitting = [name for name in all_ids if entry.fits(name)]
    if not fitting:
        return f'remove the entry case = "{entry.case}": no case of the suite has this id'
    wrong_clause = entry.clause and not any(
        entry.clause in r.case.clauses for r in results if entry.fits(r.case.id)
    )
    ran = any(entry.fits(r.case.id) for r in results)
    if ran and wrong_clause:
        return f'entry case = "{entry.case}": no case of it tests {entry.clause}'
    good = stale_cases(entry, results)
    if good and len(good) == len(fitting):
        return f'remove the entry case = "{entry.case}": it does not fail any more'
    if good:
        left = ", ".join(f'"{name}"' for name in fitting if name not in good)
        return f'replace the entry case = "{entry.case}" by {left}: {", ".join(good)} do not fail'
    if _is_past(entry, today):
        return f'entry case = "{entry.case}": until = {entry.until} has passed'
    return None


def _is_past(entry: Known, today: datetime.date) -> bool:
    return entry.until is not None and entry.until < today
