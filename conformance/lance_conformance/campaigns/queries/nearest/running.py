"""Running: writes the table of a case, runs searches by both implementations, and compares."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from random import Random

from lance_conformance.campaigns.queries.nearest import comparing
from lance_conformance.campaigns.queries.nearest.cases import (
    IMPLEMENTATIONS,
    STEPS,
    Case,
    Implementation,
    TableWriter,
    cases,
    draw_search,
)
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, outcome_of
from lance_conformance.guarded_call import CallResult, guarded

MODULES: dict[Implementation, str] = {"oracle": "lance", "reference": "pylanceref"}
"""Modules of the implementations."""


class CaseRun:
    """A run of one case with one seed and a table at `path`, which counts results of comparisons.

    The count `alike` is the sum of agreements over `compared` results.
    """

    def __init__(self, case: Case, seed: int, path: Path) -> None:
        self._case, self._seed, self._path = case, seed, path
        self._rng, self._writer = Random(f"{seed} {case.name}"), TableWriter(case, seed)
        self._counts: Counter[str] = Counter()
        self._alike = 0.0
        self._differences = list[str]()

    def run(self, searches: int) -> Outcome:
        """Write the table, and run searches."""
        result = self._write(self._writer, self._case.writer)
        if result.error:
            (other,) = (one for one in IMPLEMENTATIONS if one != self._case.writer)
            if not self._write(TableWriter(self._case, self._seed), other).error:
                self._add_difference(f"only {self._case.writer} makes no index: {result.error}")
                return Outcome("differed", self._differences)
            return Outcome("refused", (f"no index: {result.error[:80]}",))
        for step in self._writer.steps:
            self._run_step(step)
        table = comparing.Table(str(self._path))
        for _ in range(searches):
            self._search(table)
        return outcome_of(self._differences, {**self._counts, "alike": self._alike})

    def _write(self, writer: TableWriter, name: Implementation) -> CallResult:
        """Write the table by one implementation, in place of an earlier one."""
        shutil.rmtree(self._path, ignore_errors=True)
        return guarded(lambda: writer.write(import_module(MODULES[name]), str(self._path)))

    def _run_step(self, step: str) -> None:
        """Run a step by one implementation or, if it fails, by the other, which must fail too.

        The oracle does not update hamming graphs (D.index.vector-hamming-graphs).
        """
        first, second = self._rng.sample(IMPLEMENTATIONS, 2)
        if self._case.has_graphs and self._case.metric == "hamming":
            first = second = "reference"
        error = self._step_error(first, step)
        if error and (first == second or not self._step_error(second, step)):
            self._add_difference(f"{first} alone does not {step}: {error}")

    def _step_error(self, name: Implementation, step: str) -> str:
        dataset = import_module(MODULES[name]).dataset(str(self._path))
        return guarded(lambda: STEPS[step](dataset, self._writer)).error

    def _search(self, table: comparing.Table) -> None:
        """Run a search, and compare the results."""
        search = draw_search(self._writer, self._rng, table.distant)
        pair = table.search(search)
        comparer = comparing.Comparer(
            table.search, table.passing, self._case.metric, self._case.has_graphs
        )
        word = comparer.compare_pair(search, pair)
        self._counts[f"answers {word}"] += 1
        if word != comparing.REFUSED:
            self._counts["compared"] += 1
            self._alike += (
                comparing.agreement(pair) if word == comparing.WALKED else word in comparing.ALLOWED
            )
        if error := table.read_error(search) if word in comparing.ALLOWED else word:
            theirs, ours = (str(result)[:400] for result in pair)
            results = f"    oracle    {theirs}\n    reference {ours}"
            self._add_difference(f"{error}: {search.description}\n{results}\n    table")

    def _add_difference(self, text: str) -> None:
        self._differences.append(f"{text} {self._writer.description}")


LEAST_AGREEMENT, SEARCHES = 0.97, 6
"""Least share of rows that both find, by index type, metric and elements; searches of a table."""


def nearest(plan: Plan) -> Iterator[Session]:
    """Open the part: the planned number of cases, drawn by the seed.

    Tables with different results remain in the folder of the part.
    """
    chosen = {case.name: case for case in cases()}
    names = list(chosen)
    Random(plan.seed).shuffle(names)

    def run(name: str) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table")
            outcome = CaseRun(chosen[name], plan.seed, path).run(SEARCHES)
            if outcome.verdict == "differed" and path.exists():
                copy = plan.folder / name.replace("/", "_")
                shutil.copytree(path, copy, dirs_exist_ok=True)
        return outcome

    yield Session(names[: plan.count], run)


def low_agreement(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """Yield the types, metrics and types of elements with too low an agreement."""
    sums: dict[str, list[float]] = {}
    for case, one in outcomes.items():
        cell = sums.setdefault("/".join(case.split("/")[1:4]), [0.0, 0.0])
        cell[0] += one.counts.get("compared", 0)
        cell[1] += one.counts.get("alike", 0)
    for name, (compared, alike) in sorted(sums.items()):
        if compared and alike / compared < LEAST_AGREEMENT:
            yield f"  {name}: {alike / compared:.3f} of the rows are the same"


PARTS = (Part("nearest", 1000, nearest, conclude=low_agreement),)
