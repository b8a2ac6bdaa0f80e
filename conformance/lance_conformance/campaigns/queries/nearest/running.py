"""Running: a case's table is made, both are asked, and what comes of it is kept."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random

from lance_conformance.campaigns.histories.guarded import Told, guarded
from lance_conformance.campaigns.queries.nearest.asking import Table
from lance_conformance.campaigns.queries.nearest.cases import SIDES, Case, Side, cases
from lance_conformance.campaigns.queries.nearest.judging import (
    FINE,
    REFUSED,
    Judge,
    agreement,
    is_fine,
)
from lance_conformance.campaigns.queries.nearest.published import Published
from lance_conformance.campaigns.queries.nearest.questions import question
from lance_conformance.campaigns.queries.nearest.tables import Maker, shape
from lance_conformance.campaigns.runner import Outcome, Plan, Session

MODULES: dict[Side, str] = {"oracle": "lance", "reference": "pylanceref"}
"""Who makes tables."""


@dataclass(slots=True)
class Answers:
    """What became of a case; `alike` is the sum of agreements over `answered` questions.

    `words` count verdicts, `steps` the divergences that kept a step from being made.
    """

    case: str
    seed: int
    words: dict[str, int] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    answered: int = 0
    alike: float = 0.0
    no_index: str = ""
    differences: list[str] = field(default_factory=list)


class Run:
    """One case with one seed, its table at `path`."""

    def __init__(self, case: Case, seed: int, path: Path) -> None:
        rng = Random(f"{case.name} {seed}")
        self.outcome = Answers(case.name, seed)
        self._case, self._path, self._rng = case, path, rng
        self._drawn, self._numbers = shape(case, rng), rng.randrange(1 << 32)
        self._maker = Maker(case, self._drawn, self._numbers)
        self._table = Table(str(path))
        self._published = Published(case, self._drawn, self._table.ask, self._table.passing)

    def run(self, questions: int) -> Answers:
        """Make the table and ask."""
        made = self._made(self._maker, self._case.side)
        if made.error:
            (other,) = (side for side in SIDES if side != self._case.side)
            self.outcome.no_index = made.error
            if not self._made(Maker(self._case, self._drawn, self._numbers), other).error:
                self._differs(f"only {self._case.side} makes no index: {made.error}")
            return self.outcome
        for step in self._drawn.steps:
            self._change(step)
        words: Counter[str] = Counter()
        for _ in range(questions):
            words[self._ask()] += 1
        self.outcome.words = dict(words)
        return self.outcome

    def _made(self, maker: Maker, side: Side) -> Told:
        """Let one side make the table, over what was there."""
        shutil.rmtree(self._path, ignore_errors=True)
        return guarded(lambda: maker.make(import_module(MODULES[side]), str(self._path)))

    def _change(self, step: str) -> None:
        """Let one side do a step, or else the other; neither may be able to."""
        one, other = self._rng.sample(SIDES, 2)
        told = self._changed(one, step)
        if not told.error or self._changed(other, step).error:
            return
        known = self._published.of_step(one, step, told.error)
        if known:
            self.outcome.steps.append(known)
        else:
            self._differs(f"{one} alone does not {step}: {told.error}")

    def _changed(self, side: Side, step: str) -> Told:
        module, path = import_module(MODULES[side]), str(self._path)
        return guarded(lambda: self._maker.change(module, path, step))

    def _ask(self) -> str:
        """Ask a question; return the verdict."""
        table, outcome = self._table, self.outcome
        asked = table.with_range(question(self._case, self._maker.vectors, self._rng))
        pair = table.ask(asked)
        graphs = self._case.graphs
        judge = Judge(table.ask, table.passing, graphs, table.num_rows, self._published.of_answer)
        word = judge.verdict(asked, pair)
        if not is_fine(word) or (word in FINE and word != REFUSED):
            outcome.answered += 1
            outcome.alike += agreement(pair, word)
        wrong = table.misread(asked) if is_fine(word) else word
        if wrong:
            theirs, ours = (str(found)[:400] for found in pair)
            told = f"{wrong}: {asked.told}"
            self._differs(f"{told}\n    oracle    {theirs}\n    reference {ours}\n    table")
        return word

    def _differs(self, what: str) -> None:
        self.outcome.differences.append(f"{what} {self._drawn}")


LEAST_AGREEMENT = 0.97
"""Which share of the ten nearest rows both must find, per type, metric and numbers."""

QUESTIONS = 6
"""Questions to each table."""


@contextmanager
def nearest(plan: Plan) -> Iterator[Session]:
    """Open the part: as many of all cases as are planned, drawn by the seed.

    Tables whose answers differ are kept in the folder of the part.
    """
    chosen = {case.name: case for case in cases()}
    names = list(chosen)
    Random(plan.seed).shuffle(names)

    def run(name: str) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table")
            answers = Run(chosen[name], plan.seed, path).run(QUESTIONS)
            if answers.differences and path.exists():
                kept = plan.folder / name.replace("/", "_")
                shutil.copytree(path, kept, dirs_exist_ok=True)
        return _outcome(answers)

    yield Session(names[: plan.count], run)


def _outcome(answers: Answers) -> Outcome:
    words = {f"answers {word}": count for word, count in answers.words.items()}
    counts: dict[str, float] = {**words, "compared": answers.answered, "alike": answers.alike}
    if answers.differences:
        return Outcome("differed", answers.differences, counts)
    if answers.no_index:
        return Outcome("refused", (f"no index: {answers.no_index[:80]}",), counts)
    known = [word for word in (*answers.words, *answers.steps) if word.startswith("D.")]
    return Outcome("known" if known else "agreed", known, counts)


def too_few_alike(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the types, metrics and numbers of which the two find too few of the same rows."""
    sums: dict[str, list[float]] = {}
    for case, one in outcomes.items():
        cell = sums.setdefault("/".join(case.split("/")[1:4]), [0.0, 0.0])
        cell[0] += one.counts.get("compared", 0)
        cell[1] += one.counts.get("alike", 0)
    for name, (compared, alike) in sorted(sums.items()):
        if compared and alike / compared < LEAST_AGREEMENT:
            yield f"  {name}: {alike / compared:.3f} of the rows are the same"
