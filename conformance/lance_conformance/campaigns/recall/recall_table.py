"""Table of the recall campaign: means over several builds, and whether they are good enough.

With the oracle's model ours has to be as good as the oracle but for 0.01, over one index and over
one of our own encoding; trained apart, but for 0.02 on the average. Clusters start from a random
draw and recall varies with it by 0.01, so that indices trained apart are compared from five builds
on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SAME_MODEL, TRAINED_APART = 0.01, 0.02
"""How much less recall is allowed."""

FEWEST_BUILDS = 5
"""Number of builds from which indices that were trained apart are compared."""

REFINED = (None, 4)
"""Refine factors that are asked with."""

HEADING = (
    "over             oracle    oracle     given     given      ours      ours  seconds to build\n"
    "type    refine by oracle   by ours by oracle   by ours by oracle   by ours  oracle    ours"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """Recall of one side over one index, and the processor seconds that this took to be built.

    `over` is "oracle", "ours", or "given": ours with the oracle's model.
    """

    over: str
    by: str
    refine: int | None
    recall: float
    seconds: float

    @property
    def values(self) -> tuple[str, str, int | None, float, float]:
        """What it is made of."""
        return self.over, self.by, self.refine, self.recall, self.seconds


def table(name: str, builds: Sequence[Sequence[Measured]]) -> str:
    """Return the lines of a type, whose indices were built several times."""
    every = [one for build in builds for one in build]
    lines = []
    for refine in REFINED:
        found = {
            (over, by): float(np.mean([one.recall for one in every if _is(one, over, by, refine)]))
            for over in ("oracle", "given", "ours")
            for by in ("oracle", "ours")
        }
        oracle = found["oracle", "oracle"]
        good = min(found["oracle", "ours"], found["given", "ours"]) >= oracle - SAME_MODEL and (
            len(builds) < FEWEST_BUILDS or found["ours", "ours"] >= oracle - TRAINED_APART
        )
        shown = " ".join(f"{one:9.4f}" for one in found.values())
        seconds = " ".join(
            f"{np.mean([one.seconds for one in every if one.over == over]):7.2f}"
            for over in ("oracle", "ours")
        )
        word = "" if good else "  below"
        lines.append(f"{name:14} {refine or '-':>1} {shown} {seconds}{word}")
    return "\n".join(lines)


def _is(one: Measured, over: str, by: str, refine: int | None) -> bool:
    return (one.over, one.by, one.refine) == (over, by, refine)
