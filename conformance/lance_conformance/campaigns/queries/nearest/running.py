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
from functools import partial
from importlib import import_module
from itertools import compress
from pathlib import Path
from random import Random

import numpy as np

from lance_conformance.campaigns.queries.nearest.cases import (
    SIDES,
    STEPS,
    Case,
    Maker,
    Question,
    Side,
    cases,
    question,
)
from lance_conformance.campaigns.queries.nearest.judging import (
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
from lance_conformance.guarded import Told, guarded
from lance_conformance.known_divergences import id_of

NO_NUMBER = id_of("queries/nearest", "query without a direction")

COMPACTED_IDS = id_of("queries/nearest", "found by more, after compaction")

PRUNED = id_of("queries/nearest", "found by more, codes of several bits")

ROUNDED_SUMS = id_of("queries/nearest", "same but for rounded sums")

STEPS_OF_SUMS = 255
"""To how many steps RQ rounds sums unless it is asked to be accurate."""

FAST_WALK = id_of("queries/nearest", "same but in fast mode")

HAMMING_GRAPHS = id_of("queries/nearest", "update of a graph of bits panics")

EVERY_ROW = "i >= 0"

ALL = 2000
"""More rows than a table has."""


def published(case: Case, maker: Maker, judge: Judge, question: Question, pair: Pair) -> str:
    """Return the id of the divergence that makes two answers differ, TIED, else nothing.

    Several vectors of a query are looked for one by one, and what is not found for one is as far as
    the last that is. By codewords many rows are as far as that, and of RQ codes of several bits the
    oracle may pass one over: where both find the same of all rows, only these differ.
    """
    if _no_number(case, judge, question, pair):
        return NO_NUMBER
    if case.graphs and question.nearest.get("approx_mode") == "fast":
        usual = question.but("approx_mode")
        if judge.fine(usual, judge.ask(usual)):
            return FAST_WALK
    compacted = maker.stable_ids and "compact" in maker.steps
    pruned = "RQ" in case.type and maker.index["num_bits"] != 1
    if (compacted or pruned) and _found_by_more(judge, question, pair):
        return COMPACTED_IDS if compacted and not pruned else PRUNED
    if "RQ" in case.type and _same_but_for_steps(judge, question, pair):
        return ROUNDED_SUMS
    every = question.but("ef", k=ALL)
    ends = case.life == "several" and (pruned or "PQ" in case.type)
    if not ends or not judge.fine(every, judge.ask(every)):
        return ""
    return PRUNED if pruned else TIED


def _no_number(case: Case, judge: Judge, question: Question, pair: Pair) -> bool:
    """Whether only queries without a direction differ; for these ours finds nothing."""
    theirs, ours = pair
    if isinstance(theirs, str) or isinstance(ours, str):
        return False
    queries = np.atleast_2d(question.nearest["q"])
    aims = [any(one) for one in queries.tolist()]
    metric = question.nearest.get("metric", case.metric)
    if metric != "cosine" or all(aims) or case.type in ("IVF_FLAT", "IVF_PQ"):
        return False
    if len(ours) != len(queries) or any(compress(ours, [not aim for aim in aims])):
        return False
    left = list(compress(theirs, aims)), list(compress(ours, aims))
    return not any(aims) or judge.fine(question.but(q=queries[aims]), left)


def _same_but_for_steps(judge: Judge, question: Question, pair: Pair) -> bool:
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
        if any(abs(near - found[row]) > far / STEPS_OF_SUMS for row, near in wanted.items()):
            return False
    return judge.fine(accurate, judge.ask(accurate))


def _found_by_more(judge: Judge, question: Question, pair: Pair) -> bool:
    """Whether the oracle finds the same rows when it is asked for more, dropped ones left out.

    The end of a range cuts off what it has not looked at: it is asked without.
    """
    low, high = question.nearest.get("distance_range", (None, None))
    live = judge.passing(EVERY_ROW)

    def within(near: float) -> bool:
        return (low is None or near >= low) and (high is None or near < high)

    for k in (question.k * 8, ALL):
        theirs = judge.ask(question.but("ef", "distance_range", k=k))[0]
        if isinstance(theirs, str):
            return False
        inside = [[one for one in part if one[0] in live and within(one[1])] for part in theirs]
        inside = [part[: question.k] for part in inside]
        if judge.fine(question, (inside, pair[1])):
            return True
    return False


MODULES: dict[Side, str] = {"oracle": "lance", "reference": "pylanceref"}
"""Who makes tables."""


class Run:
    """One case with one seed, its table at `path`; what comes of it is counted.

    `alike` is the sum of agreements over `compared` answers.
    """

    def __init__(self, case: Case, seed: int, path: Path) -> None:
        self._case, self._seed, self._path = case, seed, path
        self._rng, self._maker = Random(f"{seed} {case.name}"), Maker(case, seed)
        self._table = Table(str(path))
        self._counts: Counter[str] = Counter()
        self._alike = 0.0
        self._known, self._differences = list[str](), list[str]()

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
        for _ in range(questions):
            self._ask()
        counts = {**self._counts, "alike": self._alike}
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
        dataset = import_module(MODULES[side]).dataset(str(self._path))
        return guarded(lambda: STEPS[step](dataset, self._maker))

    def _ask(self) -> None:
        """Ask a question, and judge the answers."""
        table, case = self._table, self._case
        asked = question(case, self._maker.vectors, self._rng, table.far)
        pair, known = table.ask(asked), partial(published, case, self._maker)
        judge = Judge(table.ask, table.passing, case.graphs, table.num_rows, known)
        word = judge.verdict(asked, pair)
        self._counts[f"answers {word}"] += 1
        self._known += [word] if word.startswith(PUBLISHED) else []
        if not word.startswith(PUBLISHED) and word != REFUSED:
            self._counts["compared"] += 1
            self._alike += agreement(pair, word)
        wrong = table.misread(asked) if is_fine(word) else word
        if wrong:
            theirs, ours = (str(found)[:400] for found in pair)
            told = f"{wrong}: {asked.told}"
            self._differs(f"{told}\n    oracle    {theirs}\n    reference {ours}\n    table")

    def _differs(self, what: str) -> None:
        self._differences.append(f"{what} {self._maker.told}")


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
