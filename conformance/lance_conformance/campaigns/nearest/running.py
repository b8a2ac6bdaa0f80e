"""Running: a case's table is made, both are asked, and what comes of it is kept."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from random import Random

from lance_conformance.campaigns.histories.guarded import Told, guarded
from lance_conformance.campaigns.nearest.asking import Table
from lance_conformance.campaigns.nearest.cases import SIDES, Case, Side
from lance_conformance.campaigns.nearest.judging import FINE, REFUSED, Judge, agreement, is_fine
from lance_conformance.campaigns.nearest.published import Published
from lance_conformance.campaigns.nearest.questions import question
from lance_conformance.campaigns.nearest.tables import Maker, shape

MODULES: dict[Side, str] = {"oracle": "lance", "reference": "pylanceref"}
"""Who makes tables."""


@dataclass(slots=True)
class Outcome:
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

    @property
    def asked(self) -> int:
        """How many questions were asked."""
        return sum(self.words.values())


class Run:
    """One case with one seed, its table at `path`."""

    def __init__(self, case: Case, seed: int, path: Path) -> None:
        rng = Random(f"{case.name} {seed}")
        self.outcome = Outcome(case.name, seed)
        self._case, self._path, self._rng = case, path, rng
        self._drawn, self._numbers = shape(case, rng), rng.randrange(1 << 32)
        self._maker = Maker(case, self._drawn, self._numbers)
        self._table = Table(str(path))
        self._published = Published(case, self._drawn, self._table.ask, self._table.passing)

    def run(self, questions: int) -> Outcome:
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


def run_all(
    chosen: Iterable[Case], seed: int, questions: int, out: Path | None, keep: Path | None
) -> Iterator[Outcome]:
    """Run cases; outcomes already in `out` are kept, and so are in `keep` tables that differ."""
    lines = [] if out is None or not out.exists() else out.read_text("utf-8").splitlines()
    done = {(one["case"], one["seed"]): Outcome(**one) for one in map(json.loads, lines)}
    for case in chosen:
        if (case.name, seed) in done:
            yield done[case.name, seed]
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table")
            outcome = Run(case, seed, path).run(questions)
            if keep is not None and outcome.differences and path.exists():
                name = f"{case.name.replace('/', '_')}_{seed}"
                shutil.copytree(path, keep / name, dirs_exist_ok=True)
        if out is not None:
            with out.open("a", encoding="utf-8") as log:
                log.write(json.dumps(asdict(outcome)) + "\n")
        yield outcome
