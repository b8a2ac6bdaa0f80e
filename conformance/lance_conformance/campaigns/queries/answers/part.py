"""Answers part: each type of index over each type of values, asked the same by both.

Of every subject the oracle writes two tables; one gets its index by the oracle and the other by the
reference. The oracle answers random conditions without an index, and the reference has to find the
same rows by both indices, reading no more than it needs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from lance_conformance.campaigns.queries.answers.finding import find_both
from lance_conformance.campaigns.queries.answers.saving import save_once
from lance_conformance.campaigns.queries.answers.subjects import named, subjects
from lance_conformance.campaigns.runner import Outcome, Plan, Session

QUESTIONS = 200
"""Conditions on each subject."""


@contextmanager
def answers(plan: Plan) -> Iterator[Session]:
    """Open the part: as many subjects as are planned, drawn by the seed."""
    names = [one.name for one in subjects()]
    Random(plan.seed).shuffle(names)
    yield Session(names[: plan.count], lambda name: ask(name, plan.folder, plan.seed))


def ask(name: str, folder: Path, seed: int) -> Outcome:
    """Write the tables of a subject, ask them, and remove them unless something differs."""
    shutil.rmtree(folder / name, ignore_errors=True)
    wrong = save_once(name, folder, seed, QUESTIONS)
    scores = find_both(name, folder)
    wrong += [f"index by {maker}: {one}" for maker, score in scores.items() for one in score.wrong]
    counts = {
        "questions": sum(score.asked for score in scores.values()),
        "answered by the index": sum(score.by_index for score in scores.values()),
    }
    if wrong:
        return Outcome("differed", wrong, counts)
    if not scores:
        return Outcome("refused", ("no index of these values by either",), counts)
    questions = json.loads((folder / name / "questions.json").read_text("utf-8"))
    shutil.rmtree(folder / name)
    if any(one["astray"] for one in questions):
        return Outcome("known", (named(name).divergence,), counts)
    return Outcome("agreed", (), counts)
