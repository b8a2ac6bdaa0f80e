"""History: a sequence of lines drawn from a seed, what came of it, and the shortest one like it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from lance_conformance.campaigns.histories.drawing import INDEXED, PLAIN, next_line
from lance_conformance.campaigns.histories.lockstep import Line, Lockstep, Step
from lance_conformance.campaigns.runner import Outcome, Plan, Session

TRIES = 80
"""Shorter histories that are tried for one that differs."""


@dataclass(slots=True)
class History:
    """What became of a seed; `lines` are those of the shortest history that differs.

    `done` and `refused` count lines by the names of their operations, both sides alike.
    """

    seed: int
    steps: int
    done: dict[str, int]
    refused: dict[str, int]
    lines: list[tuple[str, bool]] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)


def run_history(seed: int, steps: int, *, indexed: bool = False) -> History:
    """Draw a history and follow it to its end, or until the tables differ."""
    script = INDEXED if indexed else PLAIN
    random, told = Random(seed), list[Step]()
    with tempfile.TemporaryDirectory() as folder:
        pair = Lockstep(Path(folder))
        while len(told) < steps:
            told.append(pair.follow(next_line(random, Path(folder), script)))
            if told[-1].differences:
                break
    done = Counter(step.line.name for step in told if not step.refused[0])
    refused = Counter(step.line.name for step in told if step.refused[0])
    history = History(seed, len(told), dict(done), dict(refused))
    if told[-1].differences:
        lines, last = shortest([step.line for step in told], told[-1])
        history.lines = [(line.text, line.crossed) for line in lines]
        history.differences = last.differences
    return history


def replay(lines: Iterable[Line]) -> Step | None:
    """Follow lines; return the first step after which the tables differ."""
    with tempfile.TemporaryDirectory() as folder:
        pair = Lockstep(Path(folder))
        return next((step for step in map(pair.follow, lines) if step.differences), None)


def shortest(lines: list[Line], last: Step) -> tuple[list[Line], Step]:
    """Leave out whatever the difference at the end does not need."""
    tries, size = TRIES, max(len(lines) // 2, 1)
    while tries and size:
        start, before = 0, len(lines)
        while tries and start < len(lines):
            shorter = lines[:start] + lines[start + size :]
            tries -= 1
            if (found := replay(shorter)) is not None:
                lines, last = shorter, found
            else:
                start += size
        if size > 1 or len(lines) == before:
            size //= 2
    return lines, last


STEPS = 30
"""Operations of a history."""


@contextmanager
def plain(plan: Plan) -> Iterator[Session]:
    """Open the part: histories of every operation."""
    yield Session(_seeds(plan), lambda case: judged_history(run_history(int(case), STEPS)))


@contextmanager
def indexed(plan: Plan) -> Iterator[Session]:
    """Open the part: histories of tables with indices of every type."""
    yield Session(
        _seeds(plan), lambda case: judged_history(run_history(int(case), STEPS, indexed=True))
    )


def _seeds(plan: Plan) -> list[str]:
    return [str(seed) for seed in range(plan.seed, plan.seed + plan.count)]


def judged_history(history: History) -> Outcome:
    """Return the outcome of a history; its details begin with the lines that repeat it."""
    counts = {"steps": history.steps}
    counts |= {f"{name}, done": count for name, count in history.done.items()}
    counts |= {f"{name}, refused by both": count for name, count in history.refused.items()}
    if not history.differences:
        return Outcome("agreed", (), counts)
    lines = [f"{'crossed' if crossed else 'straight'}: {text}" for text, crossed in history.lines]
    return Outcome("differed", [*history.differences[:3], *lines], counts)
