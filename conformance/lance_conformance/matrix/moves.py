"""Moves: which outcomes differ from an earlier matrix, and which of them are new verdicts of ours.

An implementation of one version does not change. What moves is a verdict of the suite (another
answer is right now), or its adapter, or chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lance_conformance.outcomes import Outcome

VERDICT, SAME = "new verdict: ", "same verdict: "
PASSES, FAILS, OTHER = "passes now", "fails now", "fails otherwise"
CLAIM = "claimed in one alone"
MOVES = (*(verdict + move for verdict in (VERDICT, SAME) for move in (PASSES, FAILS, OTHER)), CLAIM)
"""Kinds of moves, the columns of a table."""

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
    yield from ("", f"| implementation | {' | '.join(MOVES)} |", "|---" * (1 + len(MOVES)) + "|")
    for label, found in counts.items():
        yield f"| {label} | {' | '.join(str(found[move]) for move in MOVES)} |"
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
) -> dict[str, Counter[str]]:
    """Count the moves of each implementation by their kind."""
    counts: dict[str, Counter[str]] = {}
    for (case, label), outcome in now.items():
        found = counts.setdefault(label, Counter())
        earlier = before.get((case, label), outcome)
        if outcome == earlier:
            continue
        if Outcome.UNSUPPORTED in (earlier, outcome):
            found[CLAIM] += 1
        else:
            move = FAILS if earlier == Outcome.PASS else OTHER
            move = PASSES if outcome == Outcome.PASS else move
            found[(VERDICT if case in verdicts else SAME) + move] += 1
    return counts
