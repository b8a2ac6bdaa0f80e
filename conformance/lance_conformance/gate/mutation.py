"""Mutation score of the parsers, before and after a change.

The score is the share of mutants that some case detects. Measuring takes hours, so a tree stores
the last result, and the gate compares the stored results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from lance_conformance.gate.findings import Check, Colour, Finding
from lance_conformance.gate.trees import Tree

NAME = "mutation score"

SCORE = "conformance/results/mutation.json"
"""File of the result: mutants judged, mutants detected, and the target share in percent."""

TOLERATED_POINTS = 2.0
"""Tolerated decrease of the score in percentage points."""


@dataclass(frozen=True, slots=True)
class Score:
    """A measured score and its target."""

    judged: int
    noticed: int
    bar: float

    @property
    def percent(self) -> float:
        """Share of detected mutants in percent."""
        return 100 * self.noticed / max(1, self.judged)


def check(base: Tree, head: Tree) -> Check:
    """Return the check that the score neither fell nor is below its target."""
    after = _score(head)
    if after is None:
        return Check(NAME, skipped=f"the head keeps no {SCORE}")
    return Check(NAME, tuple(_findings(_score(base), after)))


def _findings(before: Score | None, after: Score) -> Iterator[Finding]:
    counts = f"{after.noticed} of {after.judged} mutants are noticed, {after.percent:.1f} %"
    if before is not None and after.percent < before.percent - TOLERATED_POINTS:
        yield Finding(Colour.RED, SCORE, f"{counts}; before {before.percent:.1f} %")
    if after.percent < after.bar:
        old = before is not None and before.percent < after.bar
        colour = Colour.YELLOW if old else Colour.RED
        yield Finding(colour, SCORE, f"{counts}; wanted {after.bar:g} %{', as before' * old}")


def _score(tree: Tree) -> Score | None:
    path = tree.root / SCORE
    if not path.is_file():
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    return Score(document["judged"], document["noticed"], document["bar"])
