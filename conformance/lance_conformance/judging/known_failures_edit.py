"""Edits of a list of known failures: the file is rewritten entry by entry, with its comments.

The text is split before every `[[known]]` and the comment lines directly above it. Pruning drops
the entries of cases that no longer fail; updating also corrects outcomes and appends new failures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lance_conformance import __version__
from lance_conformance.judging.known_failures import ISSUE, KnownFailure, load, stale_cases
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import GOOD

_OUTCOME = re.compile(r'(?m)^(outcome\s*=\s*)"[^"]*"')
ABSOLUTE_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[\w.-]+/)+")
"""The folders of an absolute path, which are specific to a machine."""

MAX_REASON = 120
"""Maximum number of characters of a reason that `update` writes."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The new text of a list, and the cases whose entries changed."""

    text: str
    dropped: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def prune(path: Path, results: Sequence[CaseResult]) -> Edit:
    """Return the list without the entries of cases that no longer fail."""
    header, blocks = _parse_list(path)
    retained, dropped = [], []
    for block, entry in blocks:
        fitting = [result for result in results if entry.matches(result.case.id)]
        if fitting and len(stale_cases(entry, results)) == len(fitting):
            dropped.append(entry.case)
        else:
            retained.append(block)
    return Edit(_join(header, retained), tuple(dropped))


def update(path: Path, results: Sequence[CaseResult], issue: str) -> Edit:
    """Return the pruned list with current outcomes and an entry for each new failure."""
    header, blocks = _parse_list(path)
    retained, dropped, changed, added = [], [], [], []
    for block, entry in blocks:
        fitting = [result for result in results if entry.matches(result.case.id)]
        failing = [result for result in fitting if result.outcome not in GOOD]
        if fitting and not failing:
            dropped.append(entry.case)
            continue
        outcomes = {result.outcome for result in failing}
        if len(outcomes) == 1 and not entry.allows(found := outcomes.pop()):
            retained.append(_OUTCOME.sub(rf'\g<1>"{found}"', block))
            changed.append(entry.case)
        else:
            retained.append(block)
    entries = [entry for _, entry in blocks]
    for result in results:
        if result.outcome not in GOOD and not any(e.matches(result.case.id) for e in entries):
            retained.append(_entry_text(result, issue))
            added.append(result.case.id)
    return Edit(_join(header, retained), tuple(dropped), tuple(changed), tuple(added))


def _parse_list(path: Path) -> tuple[str, list[tuple[str, KnownFailure]]]:
    """Return the text before the first entry, and each entry with its text."""
    if not path.exists():
        return f'suite = "{__version__}"\n', []
    lines = path.read_text("utf-8").splitlines()
    starts = [_comment_start(lines, at) for at, line in enumerate(lines) if _is_header(line)]
    ends = [*starts[1:], len(lines)]
    blocks = [_tidy(lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    header = _tidy(lines[: starts[0]] if starts else lines)
    return header, list(zip(blocks, load(path), strict=True))


def _is_header(line: str) -> bool:
    return line.split("#", maxsplit=1)[0].strip() == "[[known]]"


def _comment_start(lines: Sequence[str], at: int) -> int:
    """Return the first line of the comment directly above line `at`."""
    while at > 0 and lines[at - 1].startswith("#"):
        at -= 1
    return at


def _tidy(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip() + "\n"


def _join(header: str, blocks: Sequence[str]) -> str:
    return "\n".join([header, *blocks])


def _entry_text(result: CaseResult, issue: str) -> str:
    lines = (result.detail or result.outcome).splitlines()
    reason = ABSOLUTE_FOLDERS.sub("…/", lines[0])[:MAX_REASON]
    values = {
        "case": result.case.id,
        "clause": result.case.clauses[0],
        "outcome": str(result.outcome),
        "reason": reason,
        "issue": issue,
    }
    members = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return "\n".join(["[[known]]", *members]) + "\n"


def is_issue(text: str) -> bool:
    """Whether a text is a valid `issue` of an entry."""
    return ISSUE.fullmatch(text) is not None
