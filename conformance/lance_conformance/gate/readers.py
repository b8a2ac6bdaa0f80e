"""Readers: whether old readers accept new cases, and the new reader old cases.

The readers of both trees run in processes that import the packages of their tree; an old reader is
any adapter, such as that of a published release. The runner of this package judges all.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.golden import new_or_changed
from lance_conformance.gate.trees import Tree
from lance_conformance.gate.version_markers import all_markers, markers_of
from lance_conformance.judging import runner
from lance_conformance.judging.runner import CaseResult
from lance_conformance.outcomes import GOOD, Outcome
from lance_conformance.suite import cases
from lance_conformance.suite.cases import Case

NEW_READS_OLD = "new reader, old bytes"
OLD_READS_NEW = "old readers, new bytes"

VALID_KINDS = frozenset(
    {"read-file", "read-dataset", "take", "metadata", "forward", "backward", "index-search"}
)
"""Kinds of cases that every reader of the format must accept."""


def check_new(base: Tree, head: Tree, jobs: int) -> Check:
    """Judge the head's reader on the base's cases; compare its failures with those of the base."""
    if base.fixtures is None or base.packages is None or head.packages is None:
        return Check(NEW_READS_OLD, skipped="a tree has no reader or no fixtures")
    every = _run_cases(reference_command(head), _valid(base.fixtures), jobs)
    failed = [result for result in every if result.outcome not in GOOD]
    before = _run_cases(reference_command(base), [result.case for result in failed], jobs)
    was = {result.case.id: result.outcome for result in before}
    return Check(
        NEW_READS_OLD, tuple(_regression(result, was[result.case.id]) for result in failed)
    )


def check_old(base: Tree, head: Tree, readers: Iterable[Sequence[str]], jobs: int) -> Check:
    """Judge old readers on the valid cases that are new in the head."""
    if base.fixtures is None or head.fixtures is None:
        return Check(OLD_READS_NEW, skipped="a tree has no fixtures")
    commands = list(readers)
    if not commands:
        return Check(OLD_READS_NEW, skipped="no old reader is named (--reader)")
    names = set(new_or_changed(base.fixtures, head.fixtures))
    new = [case for case in _valid(head.fixtures) if case.id in names]
    known = all_markers(_valid(base.fixtures))
    found = (finding for command in commands for finding in _refusals(command, new, known, jobs))
    return Check(OLD_READS_NEW, tuple(found))


def reference_command(tree: Tree) -> tuple[str, ...]:
    """Return the command of the reference's adapter in a tree with packages."""
    path = os.pathsep.join(str(folder) for folder in tree.packages or ())
    python = [sys.executable, "-m", "lance_conformance.adapters.reference"]
    return ("/usr/bin/env", f"PYTHONPATH={path}", *python)


def _regression(result: CaseResult, was: Outcome) -> Finding:
    if was == result.outcome:
        return Finding(Colour.YELLOW, result.case.id, f"{was}, as before", _clause(result.case))
    text = f"{was} before, {result.outcome} now: {_first_line(result)}"
    return Finding(Colour.RED, result.case.id, text, _clause(result.case))


def _refusals(
    command: Sequence[str], new: Sequence[Case], known: frozenset[str], jobs: int
) -> Iterator[Finding]:
    """Yield the cases that an old reader does not accept.

    A case that is not claimed is yellow, and so is a refusal of bytes with a new marker; a wrong
    response is always red.
    """
    for result in _run_cases(command, new, jobs):
        if result.outcome == Outcome.PASS:
            continue
        new_markers = sorted(markers_of(result.case) - known)
        is_signalled = result.outcome == Outcome.REJECTS_VALID and new_markers
        colour = (
            Colour.YELLOW if is_signalled or result.outcome == Outcome.UNSUPPORTED else Colour.RED
        )
        marker_note = f", which {' and '.join(new_markers)} allows" if is_signalled else ""
        text = f"{' '.join(command)}: {result.outcome}{marker_note}: {_first_line(result)}"
        yield Finding(colour, result.case.id, text, _clause(result.case))


def _valid(fixtures: Path) -> list[Case]:
    return [case for case in cases.load(fixtures) if case.is_active and case.kind in VALID_KINDS]


def _run_cases(command: Sequence[str], chosen: Sequence[Case], jobs: int) -> list[CaseResult]:
    if not chosen:
        return []
    with tempfile.TemporaryDirectory(prefix="lance-gate-") as folder:
        return runner.run_adapter(command, chosen, Path(os.path.realpath(folder)), jobs=jobs)[1]


def _first_line(result: CaseResult) -> str:
    return (result.detail.splitlines() or [""])[0][:160]


def _clause(case: Case) -> str:
    return case.clauses[0] if case.clauses else ""
