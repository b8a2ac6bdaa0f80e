"""Jobs: units of distributed work, and executors that run them.

A pipeline consists of three functions. The first reads manifests and returns jobs, which are small
values. The second runs a job in any process, and returns a result. The third takes the results in
the order of the jobs, and alone makes changes visible. An executor runs the jobs: a loop, processes
of this machine, or Spark (`lanceref_spark.executor`); results do not depend on it. Jobs may appear
in logs, so that keys of an object store are not in jobs but in the shared value, which hides them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, wait
from heapq import heappop, heappush
from multiprocessing import get_context
from typing import Protocol, TypeVar

Job = TypeVar("Job")
Shared = TypeVar("Shared")
Result = TypeVar("Result")


class Executor(Protocol):
    """Runs jobs by a module-level function `run`, which gets a job and `shared`."""

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs. Raises the errors of jobs."""


class Loop:
    """Runs one job after the other in this process."""

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs."""
        for job in jobs:
            yield run(job, shared)


class Processes:
    """Runs jobs in `slots` processes of this machine (None: one for each core).

    The processes start with the first jobs, and live as long as this object.
    """

    def __init__(self, slots: int | None = None) -> None:
        self._slots = slots
        self._pool: ProcessPoolExecutor | None = None

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs, while later jobs run.

        If the iteration stops early, it waits for running jobs and cancels the others. Raises
        BrokenExecutor if a process dies; the next call starts new ones.
        """
        self._pool = self._pool or ProcessPoolExecutor(self._slots, get_context("spawn"))
        results = [self._pool.submit(run, job, shared) for job in jobs]
        try:
            for result in results:
                yield result.result()
        except BrokenExecutor:
            self._pool = None
            raise
        finally:
            wait([result for result in results if not result.cancel()])


def spread(sizes: Iterable[tuple[int, int]], groups: int) -> list[list[int]]:
    """Distribute pieces `(number, size)` over at most `groups` groups of about equal size.

    Pieces are assigned by descending size, each to the smallest group; ties are broken by number,
    so that the result is deterministic. Numbers ascend within a group, groups by first number.
    """
    pieces = sorted(sizes, key=lambda piece: (-piece[1], piece[0]))
    heap = [(0, 0, number) for number in range(min(groups, len(pieces)))]
    result: list[list[int]] = [[] for _ in heap]
    for number, size in pieces:
        total, count, group = heappop(heap)
        result[group].append(number)
        heappush(heap, (total + size, count + 1, group))
    return sorted(sorted(group) for group in result)
