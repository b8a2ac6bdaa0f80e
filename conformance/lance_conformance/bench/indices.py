"""Indices: what building one costs, and what questions to it read and take.

Each side builds the index of a copy of the table in a process of its own; both then ask the one
that the oracle built, each question of a table opened anew, and of one that was asked before.

    python -m lance_conformance.bench.indices --rows 200000 --rounds 3 BTREE FM IVF_PQ
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from importlib import import_module
from operator import le
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.fresh import peak
from lance_conformance.bench.index_cases import CASES, Case, Question
from lance_conformance.bench.race import race
from lance_conformance.bench.sides import ORACLE, OURS, SIDES, Side, pin_to_one_core

MODULE = "lance_conformance.bench.indices"
"""What a process of its own runs."""

MEASURES = ("reads", "KiB", "ms", "warm ms")
"""What is printed about a question: warm, that of a table that was asked before."""

FEW_ROWS = 1000
"""Rows of the index that is built before the one that is measured."""


def run(folder: Path, case: Case, rows: int, rounds: int) -> Iterator[Figure]:
    """Yield the figures of an index; files are made in `folder` and removed after use.

    Raises ValueError when we find other rows than the oracle. Nearer vectors are no fault: by codes
    of RabitQ of several bits it leaves some out (`D.index.vector-rq-pruned`).
    """
    paths = {side.name: folder / f"{case.type}-{side.name}" for side in SIDES}
    ORACLE.tables().write_dataset(case.table(rows), str(paths[ORACLE.name]))
    shutil.copytree(paths[ORACLE.name], paths[OURS.name])
    costs = [_apart(side, case, paths[side.name]) for side in SIDES]
    for unit, (ours, oracle) in zip(("s", "MiB"), zip(*costs, strict=True), strict=True):
        yield Figure("build", case.type, "", ours, oracle, unit)
    for name, question in case.questions.items():
        yield from _asked(paths[ORACLE.name], case, name, question, rounds)
    for path in paths.values():
        shutil.rmtree(path)


def build(side: Side, case: Case, path: Path) -> tuple[float, float]:
    """Build an index in this process; return the processor seconds and the MiB it needs."""
    tables = side.tables()
    dataset = tables.dataset(str(path))
    asked = case.type
    if case.configured is not None:
        asked = _module(side, "indices").IndexConfig(case.type.lower(), dict(case.configured))
    create = dataset.create_index if case.is_vector else dataset.create_scalar_index
    before, start = peak(), time.process_time()
    create("c", asked, **case.parameters)
    return time.process_time() - start, peak() - before


def _module(side: Side, name: str) -> ModuleType:
    return import_module(f"{side.tables().__name__}.{name}")


def _ask(side: Side, table: Any, question: Question) -> pa.Table:
    """Return the answer of a table; `alike` is a text whose like is looked for."""
    arguments = dict(question)
    if text := arguments.pop("alike", None):
        arguments["nearest"] = _module(side, "query").MinHashQuery(text, "c")
    return table.to_table(**arguments)


def _asked(path: Path, case: Case, name: str, question: Question, rounds: int) -> Iterator[Figure]:
    """Yield what a question reads and takes on each side. Raises ValueError for worse rows."""
    found = [_reads(side, path, question) for side in SIDES]
    (rows, *_), (expected, *_) = found
    is_near = len(rows) == len(expected) and all(map(le, rows, expected))
    if rows != expected and not (is_near and "nearest" in question):
        raise ValueError(f"{case.type} {name}: found {rows}, the oracle {expected}")
    times = race(
        {
            (side.name, is_warm): partial(_answer, side, path, question, is_warm)
            for side in SIDES
            for is_warm in (False, True)
        },
        rounds,
    )
    reads = zip(*(one[1:] for one in found), strict=True)
    waits = ([1e3 * times[side.name, is_warm] for side in SIDES] for is_warm in (False, True))
    both = [*reads, *waits]
    for unit, (ours, oracle) in zip(MEASURES, both, strict=True):
        yield Figure(name, case.type, "", ours, oracle, unit)


def _answer(side: Side, path: Path, question: Question, is_warm: bool) -> int:
    """Return how many rows a question finds in a table opened anew, or asked before."""
    opened = _open if is_warm else _open.__wrapped__
    return len(_ask(side, opened(side, path), question))


@lru_cache(maxsize=len(SIDES))
def _open(side: Side, path: Path) -> Any:
    return side.tables().dataset(str(path))


def _reads(side: Side, path: Path, question: Question) -> tuple[list[float], int, float]:
    """Return the rows that are found, the requests, and the KiB, opening the table not counted.

    Rows are named by their ids, those that are ranked by their distances or scores, of four digits:
    others may be as good. They are sorted.
    """
    dataset = side.tables().dataset(str(path))
    dataset.io_stats_incremental()
    table = _ask(side, dataset, question)
    stats = dataset.io_stats_incremental()
    if ranks := set(table.column_names) & {"_score", "_distance"}:
        rows = [float(f"{score:.4g}") for score in table[ranks.pop()].to_pylist()]
    else:
        rows = table["_rowid"].to_pylist()
    return sorted(rows), stats.read_iops, stats.read_bytes / 1024


def table(figures: Sequence[Figure]) -> list[str]:
    """Return the lines that are printed."""
    lines = ["index          question  unit          ours     oracle   ratio"]
    lines.extend(
        f"{one.table:<14} {one.measure:<9} {one.unit:<7} {one.ours:>10.4g} {one.oracle:>10.4g} "
        f"{one.ratio:>7.2f}"
        for one in figures
    )
    return lines


def _apart(side: Side, case: Case, path: Path) -> tuple[float, float]:
    """Build in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", MODULE, case.type]
    command += ["--build", side.name, "--at", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, mib = json.loads(done.stdout.splitlines()[-1])
    return seconds, mib


def main() -> None:
    """Measure every index, or those that are named, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    by_type = {case.type: case for case in CASES}
    parser.add_argument("types", nargs="*", default=list(by_type), metavar="TYPE")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", help="build only, on this side, and print JSON")
    parser.add_argument("--at", type=Path, help="the table that is built over")
    given = parser.parse_args()
    pin_to_one_core()
    if given.build:
        side = next(side for side in SIDES if side.name == given.build)
        case = by_type[given.types[0]]
        with tempfile.TemporaryDirectory() as folder:
            side.tables().write_dataset(case.table(FEW_ROWS), folder)
            build(side, case, Path(folder))  # what is imported on the way is not counted
        print(json.dumps(build(side, case, given.at)))
        return
    print(*table([]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in given.types:
            for figure in run(Path(folder), by_type[name], given.rows, given.rounds):
                print(table([figure])[1], flush=True)


if __name__ == "__main__":
    main()
