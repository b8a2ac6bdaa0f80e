"""Mutation: the score that a tree keeps of its parsers, before and after a change.

The score is the share of mutants that some case notices. It takes hours to find out, so a tree
keeps what was last measured, and the gate compares what both trees keep.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from lance_conformance.gate.checks import Check, Colour, Finding
from lance_conformance.gate.trees import Tree

NAME = "mutation score"

SCORE = "conformance/results/mutation.json"
"""What a tree keeps: mutants judged, those noticed, and the share wanted, in percent."""

POINTS = 2.0
"""A score may be so much lower than before."""


@dataclass(frozen=True, slots=True)
class Score:
    """What was measured, and what is wanted."""

    judged: int
    noticed: int
    bar: float

    @property
    def percent(self) -> float:
        """The share that some case noticed."""
        return 100 * self.noticed / max(1, self.judged)


def check(base: Tree, head: Tree) -> Check:
    """Return whether the score fell, or is below the bar."""
    after = _score(head)
    if after is None:
        return Check(NAME, skipped=f"the head keeps no {SCORE}")
    return Check(NAME, tuple(_findings(_score(base), after)))


def _findings(before: Score | None, after: Score) -> Iterator[Finding]:
    told = f"{after.noticed} of {after.judged} mutants are noticed, {after.percent:.1f} %"
    if before is not None and after.percent < before.percent - POINTS:
        yield Finding(Colour.RED, SCORE, f"{told}; before {before.percent:.1f} %")
    if after.percent < after.bar:
        old = before is not None and before.percent < after.bar
        colour = Colour.YELLOW if old else Colour.RED
        yield Finding(colour, SCORE, f"{told}; wanted {after.bar:g} %{', as before' * old}")


def _score(tree: Tree) -> Score | None:
    path = tree.root / SCORE
    if not path.is_file():
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    return Score(document["judged"], document["noticed"], document["bar"])
