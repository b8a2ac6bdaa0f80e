"""Edits of a list of known failures: the file is rewritten entry by entry, comments stay.

The text is cut in front of every `[[known]]`, taking the comment lines right above it along.
Pruning drops the entries of cases that do not fail any more; updating also corrects outcomes and
appends what is new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lance_conformance import __version__
from lance_conformance.known import ISSUE, Known, load, stale_cases
from lance_conformance.outcomes import GOOD
from lance_conformance.runner import CaseResult

_OUTCOME = re.compile(r'(?m)^(outcome\s*=\s*)"[^"]*"')
FOLDERS = re.compile(r"(?<![\w:/.])/(?:[\w.-]+/)+")
"""The folders of an absolute path: they say something of a machine, and nothing of the failure."""

MAX_REASON = 120
"""Characters of a reason that `update` writes."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The new text of a list, and what was done to it."""

    text: str
    dropped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def prune(path: Path, results: Sequence[CaseResult]) -> Edit:
    """Return the list without the entries of cases that do not fail any more."""
    header, blocks = _cut(path)
    kept, dropped = [], []
    for block, entry in blocks:
        fitting = [result for result in results if entry.fits(result.case.id)]
        if fitting and len(stale_cases(entry, results)) == len(fitting):
            dropped.append(entry.case)
        else:
            kept.append(block)
    return Edit(_join(header, kept), tuple(dropped))


def update(path: Path, results: Sequence[CaseResult], issue: str) -> Edit:
    """Return the list pruned, with today's outcomes, and with an entry for each new failure."""
    header, blocks = _cut(path)
    kept, dropped, changed, added = [], [], [], []
    for block, entry in blocks:
        fitting = [result for result in results if entry.fits(result.case.id)]
        failing = [result for result in fitting if result.outcome not in GOOD]
        if fitting and not failing:
            dropped.append(entry.case)
            continue
        outcomes = {result.outcome for result in failing}
        if len(outcomes) == 1 and not entry.foresees(found := outcomes.pop()):
            kept.append(_OUTCOME.sub(rf'\g<1>"{found}"', block))
            changed.append(entry.case)
        else:
            kept.append(block)
    entries = [entry for _, entry in blocks]
    for result in results:
        if result.outcome not in GOOD and not any(e.fits(result.case.id) for e in entries):
            kept.append(_block(result, issue))
            added.append(result.case.id)
    return Edit(_join(header, kept), tuple(dropped), tuple(changed), tuple(added))


def _cut(path: Path) -> tuple[str, list[tuple[str, Known]]]:
    """Return what lies before the first entry, and the text of each entry with its meaning."""
    if not path.exists():
        return f'suite = "{__version__}"\n', []
    lines = path.read_text("utf-8").splitlines()
    starts = [_with_comments(lines, at) for at, line in enumerate(lines) if _is_header(line)]
    ends = [*starts[1:], len(lines)]
    blocks = [_tidy(lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    header = _tidy(lines[: starts[0]] if starts else lines)
    return header, list(zip(blocks, load(path), strict=True))


def _is_header(line: str) -> bool:
    return line.split("#", maxsplit=1)[0].strip() == "[[known]]"


def _with_comments(lines: Sequence[str], at: int) -> int:
    """Return where the comment right above line `at` begins."""
    while at > 0 and lines[at - 1].startswith("#"):
        at -= 1
    return at


def _tidy(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip() + "\n"


def _join(header: str, blocks: Sequence[str]) -> str:
    return "\n".join([header, *blocks])


def _block(result: CaseResult, issue: str) -> str:
    lines = (result.detail or result.outcome).splitlines()
    reason = FOLDERS.sub("…/", lines[0])[:MAX_REASON]
    values = {
        "case": result.case.id,
        "clause": result.case.clauses[0],
        "outcome": str(result.outcome),
        "reason": reason,
        "issue": issue,
    }
    told = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return "\n".join(["[[known]]", *told]) + "\n"


def is_issue(text: str) -> bool:
    """Whether a text may stand as `issue` of an entry."""
    return ISSUE.fullmatch(text) is not None
