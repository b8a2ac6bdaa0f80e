"""Running: a case's table is made, both are asked, and what comes of it is kept.

A divergence of the oracle may make an answer or a step another one.

Divergences: D.index.vector-query-no-number, D.index.vector-compacted-ids,
D.index.vector-hamming-graphs, D.index.vector-rq-place, D.index.vector-rq-pruned,
D.index.vector-fast-walk
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import compress
from pathlib import Path
from random import Random

import numpy as np

from lance_conformance.campaigns.guarded import Told, guarded
from lance_conformance.campaigns.queries.nearest.cases import (
    SIDES,
    Case,
    Maker,
    Question,
    Shape,
    Side,
    cases,
    question,
    shape,
)
from lance_conformance.campaigns.queries.nearest.judging import (
    FINE,
    PUBLISHED,
    REFUSED,
    TIED,
    Judge,
    Pair,
    Table,
    agreement,
    is_fine,
)
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.known_divergences import id_of

NO_NUMBER = id_of("queries/nearest", "query without a direction")

COMPACTED_IDS = id_of("queries/nearest", "found by more, after compaction")

PRUNED = id_of("queries/nearest", "found by more, codes of several bits")

ROUNDED_SUMS = id_of("queries/nearest", "same but for rounded sums")

STEPS = 255
"""To how many steps RQ rounds sums unless it is asked to be accurate."""

FAST_WALK = id_of("queries/nearest", "same but in fast mode")

HAMMING_GRAPHS = id_of("queries/nearest", "update of a graph of bits panics")

EVERY_ROW = "i >= 0"

ALL = 2000
"""More rows than a table has."""


@dataclass(frozen=True, slots=True)
class KnowingJudge(Judge):
    """A judge of the table of a case, who knows what is published of it."""

    case: Case
    drawn: Shape

    def fine(self, question: Question, pair: Pair) -> bool:
        """Whether two answers are the same, but for what may differ, without any divergence."""
        plain = Judge(self.ask, self.passing, self.graphs, self.num_rows)
        return is_fine(plain.verdict(question, pair))

    def published(self, question: Question, pair: Pair) -> str:
        """Return the id of the divergence that makes two answers differ, TIED, else nothing.

        Several vectors of a query are looked for one by one, and what is not found for one is as
        far as the last that is. By codewords many rows are as far as that, and of RQ codes of
        several bits the oracle may pass one over: where both find the same of all rows, only
        these differ.
        """
        if self._no_number(question, pair):
            return NO_NUMBER
        if self.case.graphs and question.nearest.get("approx_mode") == "fast":
            usual = question.but("approx_mode")
            if self.fine(usual, self.ask(usual)):
                return FAST_WALK
        compacted = self.drawn.stable_ids and "compact" in self.drawn.steps
        pruned = "RQ" in self.case.type and self.drawn.index["num_bits"] != 1
        if (compacted or pruned) and self._found_by_more(question, pair):
            return COMPACTED_IDS if compacted and not pruned else PRUNED
        if "RQ" in self.case.type and self._same_but_for_steps(question, pair):
            return ROUNDED_SUMS
        every = question.but("ef", k=ALL)
        ends = self.case.life == "several" and (pruned or "PQ" in self.case.type)
        if not ends or not self.fine(every, self.ask(every)):
            return ""
        return PRUNED if pruned else TIED

    def _no_number(self, question: Question, pair: Pair) -> bool:
        """Whether only queries without a direction differ; for these ours finds nothing."""
        queries, (theirs, ours) = np.atleast_2d(question.nearest["q"]), pair
        aims = [any(one) for one in queries.tolist()]
        metric = question.nearest.get("metric", self.case.metric)
        if metric != "cosine" or all(aims) or self.case.type in ("IVF_FLAT", "IVF_PQ"):
            return False
        if isinstance(theirs, str) or isinstance(ours, str) or len(ours) != len(queries):
            return False
        if any(part for part, aim in zip(ours, aims, strict=True) if not aim):
            return False
        left = tuple(list(compress(found, aims)) for found in (theirs, ours))
        return not any(aims) or self.fine(question.but(q=queries[aims]), (left[0], left[1]))

    def _same_but_for_steps(self, question: Question, pair: Pair) -> bool:
        """Whether rows are the same, distances nearly, and both are where no sum is rounded."""
        accurate, (theirs, ours) = question.but(approx_mode="accurate"), pair
        if isinstance(theirs, str) or isinstance(ours, str) or len(theirs) != len(ours):
            return False
        if question.nearest.get("approx_mode") == "accurate":
            return False
        for wanted, found in zip(map(dict, theirs), map(dict, ours), strict=True):
            far = max([1.0, *map(abs, wanted.values())])
            if wanted.keys() != found.keys():
                return False
            if any(abs(near - found[row]) > far / STEPS for row, near in wanted.items()):
                return False
        return self.fine(accurate, self.ask(accurate))

    def _found_by_more(self, question: Question, pair: Pair) -> bool:
        """Whether the oracle finds the same rows when it is asked for more, dropped ones left out.

        The end of a range cuts off what it has not looked at: it is asked without.
        """
        low, high = question.nearest.get("distance_range", (None, None))
        live = self.passing(EVERY_ROW)
        for k in (question.k * 8, ALL):
            theirs = self.ask(question.but("ef", "distance_range", k=k))[0]
            if isinstance(theirs, str):
                return False
            inside = [
                [
                    (row, near)
                    for row, near in part
                    if row in live
                    and (low is None or near >= low)
                    and (high is None or near < high)
                ][: question.k]
                for part in theirs
            ]
            if self.fine(question, (inside, pair[1])):
                return True
        return False


MODULES: dict[Side, str] = {"oracle": "lance", "reference": "pylanceref"}
"""Who makes tables."""


class Run:
    """One case with one seed, its table at `path`; what comes of it is counted.

    `alike` is the sum of agreements over `compared` answers.
    """

    def __init__(self, case: Case, seed: int, path: Path) -> None:
        rng = Random(f"{case.name} {seed}")
        self._case, self._path, self._rng = case, path, rng
        self._drawn, self._numbers = shape(case, rng), rng.randrange(1 << 32)
        self._maker = Maker(case, self._drawn, self._numbers)
        self._table = Table(str(path))
        self._counts: Counter[str] = Counter()
        self._known, self._differences = list[str](), list[str]()
        self._compared, self._alike = 0, 0.0

    def run(self, questions: int) -> Outcome:
        """Make the table and ask."""
        made = self._made(self._maker, self._case.side)
        if made.error:
            (other,) = (side for side in SIDES if side != self._case.side)
            if not self._made(Maker(self._case, self._drawn, self._numbers), other).error:
                self._differs(f"only {self._case.side} makes no index: {made.error}")
                return Outcome("differed", self._differences)
            return Outcome("refused", (f"no index: {made.error[:80]}",))
        for step in self._drawn.steps:
            self._change(step)
        for _ in range(questions):
            self._ask()
        counts = {**self._counts, "compared": self._compared, "alike": self._alike}
        if self._differences:
            return Outcome("differed", self._differences, counts)
        return Outcome("known" if self._known else "agreed", self._known, counts)

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
        graphs = self._case.type == "IVF_HNSW_FLAT" and self._case.metric == "hamming"
        updates = one == "oracle" and step in ("optimize", "delta")
        if graphs and updates and "HNSW, FLATBIN" in told.error:
            self._known.append(HAMMING_GRAPHS)
        else:
            self._differs(f"{one} alone does not {step}: {told.error}")

    def _changed(self, side: Side, step: str) -> Told:
        module, path = import_module(MODULES[side]), str(self._path)
        return guarded(lambda: self._maker.change(module, path, step))

    def _ask(self) -> None:
        """Ask a question, and judge the answers."""
        table = self._table
        asked = table.with_range(question(self._case, self._maker.vectors, self._rng))
        pair = table.ask(asked)
        about = (self._case.graphs, table.num_rows, self._case, self._drawn)
        judge = KnowingJudge(table.ask, table.passing, *about)
        word = judge.verdict(asked, pair)
        self._counts[f"answers {word}"] += 1
        self._known += [word] if word.startswith(PUBLISHED) else []
        if not is_fine(word) or (word in FINE and word != REFUSED):
            self._compared += 1
            self._alike += agreement(pair, word)
        wrong = table.misread(asked) if is_fine(word) else word
        if wrong:
            theirs, ours = (str(found)[:400] for found in pair)
            told = f"{wrong}: {asked.told}"
            self._differs(f"{told}\n    oracle    {theirs}\n    reference {ours}\n    table")

    def _differs(self, what: str) -> None:
        self._differences.append(f"{what} {self._drawn}")


LEAST_AGREEMENT = 0.97
"""Which share of the ten nearest rows both must find, per type, metric and numbers."""

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
