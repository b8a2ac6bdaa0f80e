"""History: a sequence of lines drawn from a seed, what came of it, and the shortest one like it.

The next line is drawn for the tables there are.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from lance_conformance.campaigns.histories import index_rules, rules
from lance_conformance.campaigns.histories.lockstep import Line, Lockstep, Step
from lance_conformance.campaigns.histories.values import (
    COLUMNS,
    INDEXED_COLUMNS,
    STORAGE,
    Columns,
    schema_text,
)
from lance_conformance.campaigns.histories.view import View, views
from lance_conformance.campaigns.runner import Outcome, Plan, Session

Rule = Callable[[Random, View], str | None]
"""Draws a line; None where it makes no sense. Its name is that of the operation."""


@dataclass(frozen=True, slots=True)
class Script:
    """What histories are made of: rules and how often each is drawn, columns, file versions."""

    rules: dict[Rule, int]
    columns: Columns
    storage: tuple[str, ...]


EDITS: dict[Rule, int] = {
    rules.append: 5,
    rules.insert: 1,
    rules.delete: 6,
    rules.update: 5,
    rules.merge_insert: 6,
    rules.compact: 4,
    rules.add_computed: 2,
    rules.drop: 2,
    rules.alter: 3,
    rules.replace_data: 1,
    rules.update_columns: 1,
    rules.overwrite: 2,
    rules.branch: 2,
    rules.clone: 1,
    rules.clean_up: 1,
    rules.restore: 2,
}

PLAIN = Script(
    {
        **EDITS,
        rules.add_nulls: 1,
        rules.add_read: 1,
        rules.add_mapped: 1,
        rules.merge: 1,
        rules.detach: 1,
        index_rules.create_index: 2,
        rules.config: 2,
        rules.field_metadata: 1,
        rules.tag: 2,
    },
    COLUMNS,
    STORAGE,
)
"""Every operation."""

INDEXED = Script(
    {
        **EDITS,
        rules.overwrite: 1,
        rules.branch: 1,
        index_rules.create_index: 8,
        index_rules.drop_index: 1,
        index_rules.optimize_indices: 5,
        index_rules.segments: 4,
        index_rules.compact_deferred: 3,
    },
    INDEXED_COLUMNS,
    STORAGE[1:],
)
"""Operations that change rows which indices are over, and those on the indices."""

PAST = 0.08
"""How often an operation begins at an old version."""


def first_line(random: Random, script: Script) -> Line:
    """Return the line that makes the table."""
    version = random.choice(script.storage)
    stable = random.random() < 0.5
    most = random.choice((5, 8, 1000))
    schema = schema_text(random, nullable=version != "0.1", columns=script.columns)
    text = (
        f"lance.write_dataset(rows({schema}, {random.randrange(10_000)}, 20), "
        f"root + '/t', data_storage_version={version!r}, enable_stable_row_ids={stable}, "
        f"max_rows_per_file={most})"
    )
    return Line(text, random.random() < 0.5, name="create")


def next_line(random: Random, root: Path, script: Script) -> Line:
    """Return a line that makes sense on one of the tables below a folder, or makes the first."""
    found = views(root / "left")
    while found:
        view = random.choice(found)
        if random.random() < PAST:
            view = view.at(random.choice(view.versions_to_write))
        (rule,) = random.choices(list(script.rules), list(script.rules.values()))
        text = rule(random, view)
        if text is not None:
            return Line(text, random.random() < 0.5, rule.__name__)
    return first_line(random, script)


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
