"""History: a sequence of lines drawn from a seed, what came of it, and the shortest one like it.

The next line is drawn for the tables there are.
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
from lance_conformance.campaigns.histories.view import View, views
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.shrink.minimal import minimal

Rule = Callable[[Random, View], str | None]
"""Draws a line; None where it makes no sense. Its name is that of the operation."""


@dataclass(frozen=True, slots=True)
class Script:
    """What histories are made of: rules and how often each is drawn, columns, file versions."""

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
"""Operations that change rows which indices are over, and those on the indices."""

PAST = 0.08
"""How often an operation begins at an old version."""


def first_line(random: Random, script: Script) -> Line:
    """Return the line that makes the table."""
    version = random.choice(script.storage)
    stable = random.random() < 0.5
    most = random.choice((5, 8, 1000))
    schema = schema_text(random, script.columns, nullable=version != "0.1")
    text = (
        f"lance.write_dataset(rows({schema}, {random.randrange(10_000)}, 20), "
        f"root + '/t', data_storage_version={version!r}, enable_stable_row_ids={stable}, "
        f"max_rows_per_file={most})"
    )
    return Line(text, random.random() < 0.5, name="create")


def next_line(random: Random, root: Path, script: Script) -> Line:
    """Return a line that makes sense on one of the tables below a folder, or makes the first.

    At an old version only where none after it is gone: on the oracle commits over others are lost
    (D.txn.gone-versions).
    """
    found = views(root / "left")
    while found:
        view = random.choice(found)
        if random.random() < PAST:
            known = sorted(view.versions, reverse=True)
            kept = [one for place, one in enumerate(known) if one == known[0] - place]
            view = view.at(random.choice(kept))
        (rule,) = random.choices(list(script.rules), list(script.rules.values()))
        text = rule(random, view)
        if text is not None:
            return Line(text, random.random() < 0.5, rule.__name__)
    return first_line(random, script)


def run_history(seed: int, script: Script) -> Outcome:
    """Draw a history and follow it to its end, or until the tables differ.

    Lines are counted by the names of their operations. Of a history that differs the details end
    with the lines of the shortest one that does so.
    """
    random, told = Random(seed), list[Step]()
    with tempfile.TemporaryDirectory() as folder:
        pair = Lockstep(Path(folder))
        while len(told) < STEPS and not (told and told[-1].differences):
            told.append(pair.follow(next_line(random, Path(folder), script)))
    counts = Counter(steps=len(told))
    for step in told:
        became = "refused by both" if step.refused[0] else "done"
        counts[f"{step.line.name}, {became}"] += 1
    if not told[-1].differences:
        return Outcome("agreed", (), counts)
    lines, last = shortest([step.line for step in told], told[-1])
    shown = [f"{'crossed' if line.crossed else 'straight'}: {line.text}" for line in lines]
    return Outcome("differed", [*last.differences[:3], *shown], counts)


TRIES = 80
"""Shorter histories that are tried for one that differs."""


def shortest(lines: list[Line], last: Step) -> tuple[list[Line], Step]:
    """Leave out what the difference at the end does not need; return the step that differs too."""
    tries, ends = count(), [last]

    def differs(some: list[Line]) -> bool:
        if next(tries) >= TRIES:
            return False
        with tempfile.TemporaryDirectory() as folder:
            steps = map(Lockstep(Path(folder)).follow, some)
            found = [*islice((step for step in steps if step.differences), 1)]
        ends.extend(found)
        return bool(found)

    return minimal(lines, differs), ends[-1]


STEPS = 30
"""Operations of a history."""


def _part(name: str, size: int, script: Script) -> Part:
    """Return the part of a script, each of whose operations must be done at least once."""

    def opened(plan: Plan) -> Iterator[Session]:
        yield Session(map(str, plan.seeds), lambda case: run_history(int(case), script))

    return Part(name, size, opened, {"": [f"{rule.__name__}, done" for rule in script.rules]})


PARTS = (_part("plain", 500, PLAIN), _part("indexed", 200, INDEXED))
