"""Running: a case's table is made, both are asked, and what comes of it is kept."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from random import Random

from lance_conformance.campaigns.queries.nearest.cases import (
    SIDES,
    STEPS,
    Case,
    Maker,
    Side,
    cases,
    question,
)
from lance_conformance.campaigns.queries.nearest.judging import (
    FINE,
    REFUSED,
    WALKED,
    Judge,
    Table,
    agreement,
)
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged
from lance_conformance.guarded_call import CallResult, guarded

MODULES: dict[Side, str] = {"oracle": "lance", "reference": "pylanceref"}
"""Who makes tables."""


class Run:
    """One case with one seed, its table at `path`; what comes of it is counted.

    `alike` is the sum of agreements over `compared` answers.
    """

    def __init__(self, case: Case, seed: int, path: Path) -> None:
        self._case, self._seed, self._path = case, seed, path
        self._rng, self._maker = Random(f"{seed} {case.name}"), Maker(case, seed)
        self._counts: Counter[str] = Counter()
        self._alike = 0.0
        self._differences = list[str]()

    def run(self, questions: int) -> Outcome:
        """Make the table and ask."""
        made = self._made(self._maker, self._case.side)
        if made.error:
            (other,) = (side for side in SIDES if side != self._case.side)
            if not self._made(Maker(self._case, self._seed), other).error:
                self._differs(f"only {self._case.side} makes no index: {made.error}")
                return Outcome("differed", self._differences)
            return Outcome("refused", (f"no index: {made.error[:80]}",))
        for step in self._maker.steps:
            self._change(step)
        table = Table(str(self._path))
        for _ in range(questions):
            self._ask(table)
        return judged(self._differences, counts={**self._counts, "alike": self._alike})

    def _made(self, maker: Maker, side: Side) -> CallResult:
        """Let one side make the table, over what was there."""
        shutil.rmtree(self._path, ignore_errors=True)
        return guarded(lambda: maker.make(import_module(MODULES[side]), str(self._path)))

    def _change(self, step: str) -> None:
        """Let one side do a step, or else the other; neither may be able to.

        The oracle does not bring graphs of bits up to date (D.index.vector-hamming-graphs).
        """
        one, other = self._rng.sample(SIDES, 2)
        if self._case.graphs and self._case.metric == "hamming":
            one = other = "reference"
        told = self._changed(one, step)
        if told.error and (one == other or not self._changed(other, step).error):
            self._differs(f"{one} alone does not {step}: {told.error}")

    def _changed(self, side: Side, step: str) -> CallResult:
        dataset = import_module(MODULES[side]).dataset(str(self._path))
        return guarded(lambda: STEPS[step](dataset, self._maker))

    def _ask(self, table: Table) -> None:
        """Ask a question, and judge the answers."""
        asked = question(self._maker, self._rng, table.far)
        pair = table.ask(asked)
        judge = Judge(table.ask, table.passing, self._case.metric, self._case.graphs)
        word = judge.verdict(asked, pair)
        self._counts[f"answers {word}"] += 1
        if word != REFUSED:
            self._counts["compared"] += 1
            self._alike += agreement(pair) if word == WALKED else word in FINE
        wrong = table.misread(asked) if word in FINE else word
        if wrong:
            theirs, ours = (str(found)[:400] for found in pair)
            told = f"{wrong}: {asked.told}"
            self._differs(f"{told}\n    oracle    {theirs}\n    reference {ours}\n    table")

    def _differs(self, what: str) -> None:
        self._differences.append(f"{what} {self._maker.told}")


LEAST_AGREEMENT = 0.97
"""Which share of the rows both must find, per type, metric and numbers."""

QUESTIONS = 6
"""Questions to each table."""


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
            outcome = Run(chosen[name], plan.seed, path).run(QUESTIONS)
            if outcome.verdict == "differed" and path.exists():
                kept = plan.folder / name.replace("/", "_")
                shutil.copytree(path, kept, dirs_exist_ok=True)
        return outcome

    yield Session(names[: plan.count], run)


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


PARTS = (Part("nearest", 1000, nearest, conclude=too_few_alike),)
