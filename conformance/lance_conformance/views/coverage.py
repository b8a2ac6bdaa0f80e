"""Views of the coverage of the fixtures: text of 80 columns, and JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lance_conformance.coverage.clauses import ClauseCases
from lance_conformance.coverage.exclusions import EXCLUSIONS, find_exclusion
from lance_conformance.coverage.messages import Fact
from lance_conformance.coverage.survey import Survey

WIDTH = 80


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """Coverage of the fixtures: the survey, the axes, and the cases of each clause."""

    survey: Survey
    axes: Mapping[str, tuple[str, ...]]
    pairs: Mapping[str, ClauseCases]

    @property
    def missing(self) -> list[Fact]:
        """Members that occur in no valid case, excluded or not."""
        read = self.survey.read
        every = ((axis, member) for axis, members in self.axes.items() for member in members)
        return [fact for fact in every if not read[fact]]

    @property
    def gaps(self) -> list[Fact]:
        """Members that are missing and not excluded."""
        return [fact for fact in self.missing if find_exclusion(fact) is None]

    @property
    def unpaired(self) -> dict[str, ClauseCases]:
        """Clauses without a positive or without a negative case."""
        return {
            clause: pair
            for clause, pair in self.pairs.items()
            if not (pair.positive and pair.negative)
        }


def to_text(report: CoverageReport) -> Iterator[str]:
    """Yield the counts of all members, the missing ones, and the totals."""
    for axis, members in report.axes.items():
        read = report.survey.read
        seen = [f"{member} x{read[axis, member]}" for member in members if read[axis, member]]
        title = f"{axis}: {len(seen)} of {len(members)}"
        yield from textwrap.wrap(title, WIDTH, subsequent_indent="  ")
        yield from _wrapped(", ".join(seen))
    yield "never, and cannot:"
    for one in EXCLUSIONS:
        yield from _wrapped(f"{one.axis}, {one.member}: {one.reason}")
    yield "never, and could:"
    gaps: dict[str, list[str]] = {}
    for axis, member in report.gaps:
        refused = "" if not report.survey.refused[axis, member] else " (only refused)"
        gaps.setdefault(axis, []).append(member + refused)
    for axis, named in gaps.items():
        yield from _wrapped(f"{axis}: {', '.join(named)}")
    yield "clauses without their pair of cases:"
    for clause, pair in report.unpaired.items():
        yield f"  {clause}: {pair.positive} positive, {pair.negative} negative"
    yield from totals(report)


def totals(report: CoverageReport) -> Iterator[str]:
    """Yield the totals, a line each."""
    found = report.survey
    owned = found.num_bytes - sum(found.unowned.values())
    share = 100 * owned / max(1, found.num_bytes)
    yield f"bytes with an owner: {share:.2f} % of {found.num_bytes} in {found.num_files} files"
    yield from (f"  {name}: {size} bytes without" for name, size in found.unowned.items())
    members = sum(map(len, report.axes.values()))
    yield (
        f"value space: {members - len(report.missing)} of {members} occur, "
        f"{len(report.missing) - len(report.gaps)} cannot, {len(report.gaps)} are missing"
    )
    whole = len(report.pairs) - len(report.unpaired)
    yield f"clauses: {whole} of {len(report.pairs)} MUST have a positive and a negative case"


def to_json(report: CoverageReport) -> str:
    """Return the counts of every member, the gaps, the clauses and the bytes as one object."""
    found = report.survey
    return json.dumps(
        {
            "files": found.num_files,
            "bytes": found.num_bytes,
            "unowned": found.unowned,
            "axes": {
                axis: {
                    member: {
                        "read": found.read[axis, member],
                        "refused": found.refused[axis, member],
                    }
                    for member in members
                }
                for axis, members in report.axes.items()
            },
            "gaps": report.gaps,
            "excused": [[one.axis, one.member, one.reason] for one in EXCLUSIONS],
            "clauses": {
                clause: {"positive": pair.positive, "negative": pair.negative}
                for clause, pair in report.pairs.items()
            },
        },
        indent=1,
    )


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
