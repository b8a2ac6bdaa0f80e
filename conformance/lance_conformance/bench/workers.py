"""Workers: the speedup of scans and validations by two processes.

The table has no index, since one process compares all rows of a segment. The processes run once
before they are timed, by wall-clock time. The upper bound of the machine is printed as well: the
speedup of sums of arrays in memory.

    python -m lance_conformance.bench.workers --millions 16
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pylanceref
from lanceref_spark.jobs import spread
from lanceref_spark.validation import validate_with

from lance_conformance.bench.scaling import MILLION, scan, write

JOBS = 8
"""Jobs of a scan, with some fragments each, and of sums."""

SCANS, NUMBERS = 10, 4 * MILLION
"""Scans of a job; float64 of an array: 32 MB."""

Job = TypeVar("Job")
Shared = TypeVar("Shared")
Result = TypeVar("Result")


class Pool:
    """An executor of jobs with persistent processes."""

    def __init__(self, slots: int) -> None:
        self._pool = ProcessPoolExecutor(slots, get_context("spawn"))

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs. Raises the errors of jobs."""
        return self._pool.map(partial(_call, run, shared), jobs)

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown()


def _call(run: Callable[[Job, Shared], Result], shared: Shared, job: Job) -> Result:
    return run(job, shared)


def scan_fragments(fragments: Sequence[int], path: str) -> None:
    """Read every batch of some fragments `SCANS` times."""
    table = pylanceref.dataset(path)
    chosen = [table.get_fragment(number) for number in fragments]
    for _ in range(SCANS):
        scan(_Part(table, chosen))


class _Part:
    """Some fragments of a table, for `scan`."""

    def __init__(self, table: pylanceref.LanceDataset, fragments: Sequence[Any]) -> None:
        self.scanner = partial(table.scanner, fragments=fragments)


def sum_array(count: int, _: str) -> float:
    """Return `count` times the sum of an array."""
    numbers = np.arange(NUMBERS, dtype=np.float64)
    return sum(float(numbers.sum()) for _ in range(count))


def workloads(path: Path) -> dict[str, Callable[[Pool], object]]:
    """Return the measured functions by name."""
    table = pylanceref.dataset(str(path))
    sizes = [(one.fragment_id, one.count_rows()) for one in table.get_fragments()]
    groups = spread(sizes, JOBS)
    return {
        "scan": lambda pool: list(pool.map(scan_fragments, groups, str(path))),
        "validate": lambda pool: validate_with(pool, path, deep=True),
        "memory": lambda pool: list(pool.map(sum_array, [50] * JOBS, "")),
    }


def seconds(work: Callable[[Pool], object], slots: int, rounds: int) -> float:
    """Return the median seconds of a workload with `slots` processes."""
    pool, times = Pool(slots), []
    work(pool)
    for _ in range(rounds):
        start = time.perf_counter()
        work(pool)
        times.append(time.perf_counter() - start)
    pool.close()
    return statistics.median(times)


def main() -> None:
    """Time every workload with one process and with two, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--millions", type=int, default=16, help="rows of the table")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("work           one s     two s   faster", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        write(path, options.millions * MILLION, indexed=False)
        for name, work in workloads(path).items():
            one, two = (seconds(work, slots, options.rounds) for slots in (1, 2))
            print(f"{name:<9} {one:>10.4g} {two:>9.4g} {one / two:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
