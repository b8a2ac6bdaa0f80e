"""Readers: whether old readers take what is new, and the new reader what is old.

The readers of both trees run in processes that import the packages of their tree; an old reader is
any adapter, such as that of a published release. All are judged by the runner of this package.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lance_conformance import cases, runner
from lance_conformance.cases import Case
from lance_conformance.gate.checks import Check, Colour, Finding
from lance_conformance.gate.golden import brought
from lance_conformance.gate.marks import carried, marks
from lance_conformance.gate.trees import Tree
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.runner import CaseResult

NEW_READS_OLD = "new reader, old bytes"
OLD_READS_NEW = "old readers, new bytes"

VALID = frozenset(
    {"read-file", "read-dataset", "take", "metadata", "forward", "backward", "index-search"}
)
"""Kinds whose bytes every reader that knows the format must take."""


def check_new(base: Tree, head: Tree, jobs: int) -> Check:
    """Judge the head's reader on the base's cases; where it fails, see whether the base's did."""
    if base.fixtures is None or base.packages is None or head.packages is None:
        return Check(NEW_READS_OLD, skipped="a tree has no reader or no fixtures")
    every = _judged(adapter(head), _valid(base.fixtures), jobs)
    failed = [result for result in every if result.outcome not in GOOD]
    before = _judged(adapter(base), [result.case for result in failed], jobs)
    was = {result.case.id: result.outcome for result in before}
    return Check(NEW_READS_OLD, tuple(_turned(result, was[result.case.id]) for result in failed))


def check_old(base: Tree, head: Tree, readers: Iterable[Sequence[str]], jobs: int) -> Check:
    """Judge old readers on the valid cases that the base does not have."""
    if base.fixtures is None or head.fixtures is None:
        return Check(OLD_READS_NEW, skipped="a tree has no fixtures")
    commands = list(readers)
    if not commands:
        return Check(OLD_READS_NEW, skipped="no old reader is named (--reader)")
    names = set(brought(base.fixtures, head.fixtures))
    new = [case for case in _valid(head.fixtures) if case.id in names]
    known = carried(_valid(base.fixtures))
    found = (finding for command in commands for finding in _refusals(command, new, known, jobs))
    return Check(OLD_READS_NEW, tuple(found))


def adapter(tree: Tree) -> tuple[str, ...]:
    """Return the command of the reference's adapter in a tree with packages."""
    path = os.pathsep.join(str(folder) for folder in tree.packages or ())
    python = [sys.executable, "-m", "lance_conformance.adapters.reference"]
    return ("/usr/bin/env", f"PYTHONPATH={path}", *python)


def _turned(result: CaseResult, was: Outcome) -> Finding:
    if was == result.outcome:
        return Finding(Colour.YELLOW, result.case.id, f"{was}, as before", _clause(result.case))
    text = f"{was} before, {result.outcome} now: {_first_line(result)}"
    return Finding(Colour.RED, result.case.id, text, _clause(result.case))


def _refusals(
    command: Sequence[str], new: Sequence[Case], known: frozenset[str], jobs: int
) -> Iterator[Finding]:
    """Yield what an old reader does not take.

    Not claiming it is yellow, and so is refusing bytes that carry a new mark; a wrong answer is red
    whatever the bytes say.
    """
    for result in _judged(command, new, jobs):
        if result.outcome == Outcome.PASS:
            continue
        fresh = sorted(marks(result.case) - known)
        told = result.outcome == Outcome.REJECTS_VALID and fresh
        colour = Colour.YELLOW if told or result.outcome == Outcome.UNSUPPORTED else Colour.RED
        floor = f", which {' and '.join(fresh)} allows" if told else ""
        text = f"{' '.join(command)}: {result.outcome}{floor}: {_first_line(result)}"
        yield Finding(colour, result.case.id, text, _clause(result.case))


def _valid(fixtures: Path) -> list[Case]:
    return [case for case in cases.load(fixtures) if case.is_active and case.kind in VALID]


def _judged(command: Sequence[str], chosen: Sequence[Case], jobs: int) -> list[CaseResult]:
    if not chosen:
        return []
    with tempfile.TemporaryDirectory(prefix="lance-gate-") as folder:
        return runner.run(command, chosen, Path(os.path.realpath(folder)), jobs=jobs)[1]


def _first_line(result: CaseResult) -> str:
    return (result.detail.splitlines() or [""])[0][:160]


def _clause(case: Case) -> str:
    return case.clauses[0] if case.clauses else ""
