"""Moves: which outcomes differ from an earlier matrix, and which of them are new verdicts of ours.

An implementation of one version does not change. What moves is a verdict of the suite (the case
is of another kind now, or its clauses ask something else of a reader), or its adapter, or chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lance_conformance.outcomes import GOOD

Cell = tuple[str, str]
"""A case, and the label of an implementation."""


def lines(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Return the part of the page that says what has moved between two matrices."""
    old, new = ({row["case"]: row for row in matrix["read"]} for matrix in (before, now))
    judged = sorted(new.keys() & old.keys())
    verdicts = [name for name in judged if _verdict(old[name]) != _verdict(new[name])]
    counts = _counts(_cells(before), _cells(now), set(verdicts))
    yield from ("", "## Since the results before", "")
    yield f"{len(new.keys() - old.keys())} cases are new, {len(old.keys() - new.keys())} are gone,"
    yield f"{len(verdicts)} have a new verdict of ours. Cases of both whose outcome has moved:"
    yield from (
        "",
        "| implementation | new verdict: better | worse | same verdict: better | worse |",
    )
    yield "|---|---|---|---|---|"
    for label, found in counts.items():
        cells = [found[key] for key in ((True, True), (True, False), (False, True), (False, False))]
        yield f"| {label} | {' | '.join(str(cell) for cell in cells)} |"
    yield from ("", "| new verdict | before | now |", "|---|---|---|")
    for name in verdicts:
        yield f"| `{name}` | {_verdict(old[name])} | {_verdict(new[name])} |"


def _verdict(row: Mapping[str, Any]) -> str:
    return f"{row['kind']}, {row['violation']}"


def _cells(matrix: Mapping[str, Any]) -> dict[Cell, str]:
    found: dict[Cell, str] = {}
    for row in matrix["read"]:
        told = {f"pylance {release}": outcome for release, outcome in row["releases"].items()}
        found |= {(row["case"], label): one for label, one in (told | row["others"]).items()}
    return found


def _counts(
    before: Mapping[Cell, str], now: Mapping[Cell, str], verdicts: set[str]
) -> dict[str, Counter[tuple[bool, bool]]]:
    """Count moves by implementation: whether the verdict is new, whether the outcome is better."""
    counts: dict[str, Counter[tuple[bool, bool]]] = {}
    for cell in now.keys() & before.keys():
        found = counts.setdefault(cell[1], Counter())
        if now[cell] != before[cell]:
            found[cell[0] in verdicts, now[cell] in GOOD] += 1
    return dict(sorted(counts.items()))
