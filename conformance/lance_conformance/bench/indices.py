"""Indices: the costs of builds, and the reads and times of queries.

Each engine builds the index of a copy of the table in a subprocess; both then query the one
that the oracle built, by a newly opened table, and by one that has run the query before (warm).

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

from lance_conformance.bench.engines import ENGINES, ORACLE, OURS, Engine, pin_to_one_core
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.index_cases import CASES, Case, Query
from lance_conformance.bench.subprocesses import peak
from lance_conformance.bench.timing import time_in_turn

MODULE = "lance_conformance.bench.indices"
"""Module that subprocesses run."""

MEASURES = ("reads", "KiB", "ms", "warm ms")
"""Measures of a query."""

FEW_ROWS = 1000
"""Rows of the index that is built before the measured one."""


def run(folder: Path, case: Case, rows: int, rounds: int) -> Iterator[Figure]:
    """Yield the figures of an index; files are written to `folder` and removed after use.

    Raises ValueError if the reference finds other rows than the oracle, except nearer vectors: the
    oracle misses some by RaBitQ codes of several bits (`D.index.vector-rq-pruned`).
    """
    paths = {engine.name: folder / f"{case.type}-{engine.name}" for engine in ENGINES}
    ORACLE.tables().write_dataset(case.table(rows), str(paths[ORACLE.name]))
    shutil.copytree(paths[ORACLE.name], paths[OURS.name])
    costs = [_build_in_subprocess(engine, case, paths[engine.name]) for engine in ENGINES]
    for unit, (ours, oracle) in zip(("s", "MiB"), zip(*costs, strict=True), strict=True):
        yield Figure("build", case.type, "", ours, oracle, unit)
    for name, query in case.queries.items():
        yield from _measure(paths[ORACLE.name], case, name, query, rounds)
    for path in paths.values():
        shutil.rmtree(path)


def build(engine: Engine, case: Case, path: Path) -> tuple[float, float]:
    """Build an index in this process; return its processor seconds and MiB."""
    tables = engine.tables()
    dataset = tables.dataset(str(path))
    kind = case.type
    if case.config is not None:
        kind = _module(engine, "indices").IndexConfig(case.type.lower(), dict(case.config))
    create = dataset.create_index if case.is_vector else dataset.create_scalar_index
    before, start = peak(), time.process_time()
    create("c", kind, **case.parameters)
    return time.process_time() - start, peak() - before


def _module(engine: Engine, name: str) -> ModuleType:
    return import_module(f"{engine.tables().__name__}.{name}")


def _run_query(engine: Engine, table: Any, query: Query) -> pa.Table:
    """Return the result of a query; `alike` is a text for a search of similar texts."""
    arguments = dict(query)
    if text := arguments.pop("alike", None):
        arguments["nearest"] = _module(engine, "query").MinHashQuery(text, "c")
    return table.to_table(**arguments)


def _measure(path: Path, case: Case, name: str, query: Query, rounds: int) -> Iterator[Figure]:
    """Yield the reads and times of a query. Raises ValueError for other rows, see `run`."""
    results = [_run_counted(engine, path, query) for engine in ENGINES]
    (rows, *_), (expected, *_) = results
    is_near = len(rows) == len(expected) and all(map(le, rows, expected))
    if rows != expected and not (is_near and "nearest" in query):
        raise ValueError(f"{case.type} {name}: found {rows}, the oracle {expected}")
    times = time_in_turn(
        {
            (engine.name, is_warm): partial(_count_rows, engine, path, query, is_warm)
            for engine in ENGINES
            for is_warm in (False, True)
        },
        rounds,
    )
    reads = zip(*(one[1:] for one in results), strict=True)
    waits = ([1e3 * times[engine.name, is_warm] for engine in ENGINES] for is_warm in (False, True))
    both = [*reads, *waits]
    for unit, (ours, oracle) in zip(MEASURES, both, strict=True):
        yield Figure(name, case.type, "", ours, oracle, unit)


def _count_rows(engine: Engine, path: Path, query: Query, is_warm: bool) -> int:
    """Return the number of rows of a query, by a warm or a newly opened table."""
    opened = _open if is_warm else _open.__wrapped__
    return len(_run_query(engine, opened(engine, path), query))


@lru_cache(maxsize=len(ENGINES))
def _open(engine: Engine, path: Path) -> Any:
    return engine.tables().dataset(str(path))


def _run_counted(engine: Engine, path: Path, query: Query) -> tuple[list[float], int, float]:
    """Return the sorted rows of a query, and its requests and KiB without opening the table.

    Rows are ids, or distances or scores to four digits, since ranked rows may have ties.
    """
    dataset = engine.tables().dataset(str(path))
    dataset.io_stats_incremental()
    table = _run_query(engine, dataset, query)
    stats = dataset.io_stats_incremental()
    if ranks := set(table.column_names) & {"_score", "_distance"}:
        rows = [float(f"{score:.4g}") for score in table[ranks.pop()].to_pylist()]
    else:
        rows = table["_rowid"].to_pylist()
    return sorted(rows), stats.read_iops, stats.read_bytes / 1024


def table(figures: Sequence[Figure]) -> list[str]:
    """Return the lines of the printed table."""
    lines = ["index          query  unit          ours     oracle   ratio"]
    lines.extend(
        f"{one.table:<14} {one.measure:<9} {one.unit:<7} {one.ours:>10.4g} {one.oracle:>10.4g} "
        f"{one.ratio:>7.2f}"
        for one in figures
    )
    return lines


def _build_in_subprocess(engine: Engine, case: Case, path: Path) -> tuple[float, float]:
    """Build an index in a subprocess; return its processor seconds and MiB."""
    command = [sys.executable, "-W", "ignore", "-m", MODULE, case.type]
    command += ["--build", engine.name, "--at", str(path)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, mib = json.loads(result.stdout.splitlines()[-1])
    return seconds, mib


def main() -> None:
    """Measure all indices, or the options types, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    by_type = {case.type: case for case in CASES}
    parser.add_argument("types", nargs="*", default=list(by_type), metavar="TYPE")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", help="only build, by this engine, and print JSON")
    parser.add_argument("--at", type=Path, help="path of the table to index")
    options = parser.parse_args()
    pin_to_one_core()
    if options.build:
        engine = next(engine for engine in ENGINES if engine.name == options.build)
        case = by_type[options.types[0]]
        with tempfile.TemporaryDirectory() as folder:
            engine.tables().write_dataset(case.table(FEW_ROWS), folder)
            build(engine, case, Path(folder))  # imports modules, which is not measured
        print(json.dumps(build(engine, case, options.at)))
        return
    print(*table([]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.types:
            for figure in run(Path(folder), by_type[name], options.rows, options.rounds):
                print(table([figure])[1], flush=True)


if __name__ == "__main__":
    main()
