"""Moves: the outcomes that differ from an earlier matrix, by reason.

A version of an implementation does not change, so that the reason is a new verdict of the suite,
its adapter, or a random result.
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
    """Yield the section of the page about the changes between two matrices."""
    old, new = ({row["case"]: row for row in matrix["read"]} for matrix in (before, now))
    judged = sorted(new.keys() & old.keys())
    verdicts = [name for name in judged if old[name]["right"] != new[name]["right"]]
    counts = _counts(_cells(before), _cells(now), set(verdicts))
    yield from ("", "## Since the results before", "")
    yield f"{len(new.keys() - old.keys())} cases are new, {len(old.keys() - new.keys())} are gone,"
    yield f"{len(verdicts)} have a new verdict of ours. Cases of both whose outcome has moved:"
    yield from ("", f"| implementation | {' | '.join(MOVES)} |", "|---" * (1 + len(MOVES)) + "|")
    for label, moves in counts.items():
        yield f"| {label} | {' | '.join(str(moves[move]) for move in MOVES)} |"
    yield from ("", "| new verdict | right before | right now |", "|---|---|---|")
    for name in verdicts:
        yield f"| `{name}` | {old[name]['right']} | {new[name]['right']} |"


def _cells(matrix: Mapping[str, Any]) -> dict[Cell, str]:
    cells: dict[Cell, str] = {}
    for row in matrix["read"]:
        outcomes = {f"pylance {release}": outcome for release, outcome in row["releases"].items()}
        cells |= {(row["case"], label): one for label, one in (outcomes | row["others"]).items()}
    return cells


def _counts(
    before: Mapping[Cell, str], now: Mapping[Cell, str], verdicts: set[str]
) -> dict[str, Counter[str]]:
    """Count the moves of each implementation by their kind."""
    counts: dict[str, Counter[str]] = {}
    for (case, label), outcome in now.items():
        moves = counts.setdefault(label, Counter())
        earlier = before.get((case, label), outcome)
        if outcome == earlier:
            continue
        if Outcome.UNSUPPORTED in (earlier, outcome):
            moves[CLAIM] += 1
        else:
            move = FAILS if earlier == Outcome.PASS else OTHER
            move = PASSES if outcome == Outcome.PASS else move
            moves[(VERDICT if case in verdicts else SAME) + move] += 1
    return counts
