"""History: a random sequence of lines run in lockstep, and the shortest one that still differs.

Each line is drawn for the tables that exist before it.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from random import Random

from lance_conformance.campaigns.histories import index_rules, rules, values
from lance_conformance.campaigns.histories.lockstep import Line, Lockstep, Step
from lance_conformance.campaigns.histories.values import STORAGE, schema_text
from lance_conformance.campaigns.histories.view import View, list_views
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.shrink.minimal import minimal

Rule = Callable[[Random, View], str | None]
"""Draws a line, or returns None where it does not apply. Its name is that of the operation."""


@dataclass(frozen=True, slots=True)
class Script:
    """Distribution of histories: rules with their weights, columns, file versions."""

    rules: dict[Rule, int]
    columns: str
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
    values.PLAIN,
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
    values.INDEXED,
    STORAGE[1:],
)
"""Operations on rows of indexed columns, and on the indices."""

OLD_VERSION_SHARE, MAX_TRIES = 0.08, 80
"""Share of operations that start from an old version; most shorter histories that are tried."""


def first_line(random: Random, script: Script) -> Line:
    """Return the line that creates the table."""
    version = random.choice(script.storage)
    stable = random.random() < 0.5
    max_rows = random.choice((5, 8, 1000))
    schema = schema_text(random, script.columns, nullable=version != "0.1")
    text = (
        f"lance.write_dataset(rows({schema}, {random.randrange(10_000)}, 20), "
        f"root + '/t', data_storage_version={version!r}, enable_stable_row_ids={stable}, "
        f"max_rows_per_file={max_rows})"
    )
    return Line(text, random.random() < 0.5, name="create")


def next_line(random: Random, root: Path, script: Script) -> Line:
    """Return a line that applies to one of the tables below a folder, or that creates the first.

    Old versions are only those without a removed later one: the oracle loses commits otherwise
    (D.txn.gone-versions).
    """
    views = list_views(root / "left")
    while views:
        view = random.choice(views)
        if random.random() < OLD_VERSION_SHARE:
            known = sorted(view.versions, reverse=True)
            consecutive = [one for offset, one in enumerate(known) if one == known[0] - offset]
            view = view.at(random.choice(consecutive))
        (rule,) = random.choices(list(script.rules), list(script.rules.values()))
        text = rule(random, view)
        if text is not None:
            return Line(text, random.random() < 0.5, rule.__name__)
    return first_line(random, script)


def run_history(seed: int, script: Script) -> Outcome:
    """Draw and run a history until its end, or until the tables differ.

    Lines are counted by their operations. The details of a history that differs end with the lines
    of a shorter one that still differs.
    """
    random, steps = Random(seed), list[Step]()
    with tempfile.TemporaryDirectory() as folder:
        pair = Lockstep(Path(folder))
        while len(steps) < STEPS and not (steps and steps[-1].differences):
            steps.append(pair.run(next_line(random, Path(folder), script)))
    counts = Counter(steps=len(steps))
    for step in steps:
        result = "refused by both" if step.errors[0] else "done"
        counts[f"{step.line.name}, {result}"] += 1
    if not steps[-1].differences:
        return Outcome("agreed", (), counts)
    lines, last = shorten([step.line for step in steps], steps[-1])
    texts = [f"{'crossed' if line.crossed else 'straight'}: {line.text}" for line in lines]
    return Outcome("differed", [*last.differences[:3], *texts], counts)


def shorten(lines: list[Line], last: Step) -> tuple[list[Line], Step]:
    """Remove lines that the difference at the end does not need; return the step that differs."""
    tries, differing = count(), [last]

    def differs(some: list[Line]) -> bool:
        if next(tries) >= MAX_TRIES:
            return False
        with tempfile.TemporaryDirectory() as folder:
            steps = map(Lockstep(Path(folder)).run, some)
            first = [*islice((step for step in steps if step.differences), 1)]
        differing.extend(first)
        return bool(first)

    return minimal(lines, differs), differing[-1]


STEPS = 30
"""Operations of a history."""


def _part(name: str, size: int, script: Script) -> Part:
    """Return the part of a script; each of its operations must succeed at least once."""

    def open_session(plan: Plan) -> Iterator[Session]:
        yield Session(map(str, plan.seeds), lambda case: run_history(int(case), script))

    required = {"": [f"{rule.__name__}, done" for rule in script.rules]}
    return Part(name, size, open_session, required)


PARTS = (_part("plain", 500, PLAIN), _part("indexed", 200, INDEXED))
