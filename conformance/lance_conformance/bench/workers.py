"""Workers: how much faster two processes scan and validate a table than one.

The table has no index: one process holds the rows of a segment against the table. The processes
are started and have worked before they are timed, by the time that passes. What two of this
machine can do at most is printed as well: both add up an array of their own, in memory.

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

from lance_conformance.bench.scaling import MILLION, drain, write

JOBS = 8
"""Jobs of a scan, each of some fragments; arrays that are added up."""

SCANS, NUMBERS = 10, 4 * MILLION
"""How often a job scans its fragments; float64 of an array: 32 MB."""

Job = TypeVar("Job")
Shared = TypeVar("Shared")
Result = TypeVar("Result")


class Pool:
    """An executor of jobs whose processes stay."""

    def __init__(self, slots: int) -> None:
        self._pool = ProcessPoolExecutor(slots, get_context("spawn"))

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs. Raises what a job raises."""
        return self._pool.map(partial(_call, run, shared), jobs)

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown()


def _call(run: Callable[[Job, Shared], Result], shared: Shared, job: Job) -> Result:
    return run(job, shared)


def scan_fragments(fragments: Sequence[int], path: str) -> None:
    """Read every batch of some fragments, again and again."""
    table = pylanceref.dataset(path)
    chosen = [table.get_fragment(number) for number in fragments]
    for _ in range(SCANS):
        drain(_Part(table, chosen))


class _Part:
    """A table of some fragments, as `drain` takes it."""

    def __init__(self, table: pylanceref.LanceDataset, fragments: Sequence[Any]) -> None:
        self.scanner = partial(table.scanner, fragments=fragments)


def add_up(count: int, _: str) -> float:
    """Return the sum of an array, added up again and again."""
    numbers = np.arange(NUMBERS, dtype=np.float64)
    return sum(float(numbers.sum()) for _ in range(count))


def works(path: Path) -> dict[str, Callable[[Pool], object]]:
    """Return what is done, by name."""
    table = pylanceref.dataset(str(path))
    sizes = [(one.fragment_id, one.count_rows()) for one in table.get_fragments()]
    groups = spread(sizes, JOBS)
    return {
        "scan": lambda pool: list(pool.map(scan_fragments, groups, str(path))),
        "validate": lambda pool: validate_with(pool, path, deep=True),
        "memory": lambda pool: list(pool.map(add_up, [50] * JOBS, "")),
    }


def seconds(work: Callable[[Pool], object], slots: int, rounds: int) -> float:
    """Return the median time of a work with so many processes."""
    pool, times = Pool(slots), []
    work(pool)
    for _ in range(rounds):
        start = time.perf_counter()
        work(pool)
        times.append(time.perf_counter() - start)
    pool.close()
    return statistics.median(times)


def main() -> None:
    """Time every work with one process and with two, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--millions", type=int, default=16, help="rows of the table")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print("work           one s     two s   faster", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        write(path, given.millions * MILLION, indexed=False)
        for name, work in works(path).items():
            one, two = (seconds(work, slots, given.rounds) for slots in (1, 2))
            print(f"{name:<9} {one:>10.4g} {two:>9.4g} {one / two:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
