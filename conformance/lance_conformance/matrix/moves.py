"""Moves: which outcomes differ from an earlier matrix, and which of them are new verdicts of ours.

An implementation of one version does not change. What moves is a verdict of the suite (another
answer is right now), or its adapter, or chance.
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
    verdicts = [name for name in judged if old[name]["right"] != new[name]["right"]]
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
    yield from ("", "| new verdict | right before | right now |", "|---|---|---|")
    for name in verdicts:
        yield f"| `{name}` | {old[name]['right']} | {new[name]['right']} |"


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
    for (case, label), outcome in now.items():
        found = counts.setdefault(label, Counter())
        if outcome != before.get((case, label), outcome):
            found[case in verdicts, outcome in GOOD] += 1
    return counts
