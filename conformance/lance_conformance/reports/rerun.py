"""How to rerun and inspect one failure of a report.

The clauses of the case with their texts, the command that runs it alone, the command that explains
its bytes, and the bytes around the patch, each range with its owner.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lance_conformance.judging.runner import CaseResult
from lance_conformance.reports import hexdump
from lance_conformance.reports.jsonl import Run
from lance_conformance.suite.cases import Case
from lance_conformance.untrusted_text import printable

RANGES_BEFORE, RANGES_AFTER = 2, 2
"""Ranges shown before and after the patched ones."""


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes of one owner: their offset, hex digits and owner, and whether they are patched."""

    start: int
    hex: str
    owner: str
    patched: bool


def clauses(run: Run, case: Case) -> Iterator[str]:
    """Yield id, level and text of each clause that the case tests."""
    for clause_id in case.clauses:
        clause = run.register.get(clause_id)
        yield clause_id if clause is None else f"{clause_id} {clause.level}: {clause.text}"


def commands(run: Run, case: Case) -> tuple[str, str]:
    """Return the command that runs the case alone, and the one that explains its bytes."""
    name = shlex.quote(printable(case.id))
    own = shlex.join(run.repeat_with)
    explained = f"lance-conformance explain {name}{_fixtures(run.repeat_with)}"
    return f"lance-conformance run -v --only {name} {own}".rstrip(), explained


def patched_bytes(case: Case) -> list[ByteRange]:
    """Return the patched ranges and the adjacent ones; none without a patch."""
    view = hexdump.hex_view(case) if "patch" in case.manifest else None
    if view is None:
        return []
    ranges = [one for line in view.lines for one in _ranges(line)]
    at = [number for number, one in enumerate(ranges) if one.patched]
    return ranges[max(0, at[0] - RANGES_BEFORE) : at[-1] + 1 + RANGES_AFTER] if at else []


def rerun_lines(run: Run, result: CaseResult) -> list[str]:
    """Return the lines on the clauses of a failure and on how to rerun it."""
    rerun, explained = commands(run, result.case)
    lines = [f"clause   {printable(text)}" for text in clauses(run, result.case)]
    lines += [f"repeat   {rerun}", f"explain  {explained}"]
    ranges = patched_bytes(result.case)
    if ranges:
        lines.append("bytes around the patch (> marks it):")
    return lines + [
        f"{'>' if one.patched else ' '} {one.start:>8}  {one.hex:<47}  {one.owner}".rstrip()
        for one in ranges
    ]


def shown_command(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command as typed here, with paths relative to the working directory."""
    here = Path.cwd()

    def shown(argument: str) -> str:
        if argument == sys.executable:
            return "python"
        path = Path(argument)
        if not path.is_relative_to(here):
            return argument
        found = str(path.relative_to(here))
        return f"./{found}" if os.sep not in found and os.access(path, os.X_OK) else found

    return tuple(map(shown, command))


def _ranges(line: hexdump.Line) -> Iterator[ByteRange]:
    start = line.offset
    for segment in line.segments:
        yield ByteRange(start, segment.hex, printable(segment.title), segment.patched)
        start += len(bytes.fromhex(segment.hex))


def _fixtures(arguments: Sequence[str]) -> str:
    """Return the option `--fixtures` of another folder of cases, if any."""
    if not arguments or arguments[0] != "--fixtures":
        return ""
    return f" {shlex.join(arguments[:2])}"
