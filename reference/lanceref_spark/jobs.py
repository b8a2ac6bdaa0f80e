"""Jobs: the one shape of work that many processes share, and who runs it.

A pipeline is three functions. One plans: it looks at manifests and returns jobs, small plain values
that name what is to be done. One runs a job, anywhere, and returns a result. One finishes: it takes
the results, in the order of the jobs, and is alone in making anything visible. What runs the jobs
is an executor, and no result depends on which: a plain loop, processes of this machine, or Spark
(`lanceref_spark.executor`). Jobs may come into logs: the keys of an object store are no part of
them, but of what all jobs share, which shows them nowhere.
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
    """Runs jobs; `run` is a function of a module, `shared` is handed to each job."""

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs. Raises what a job raises."""


class Loop:
    """Runs one job after the other, here."""

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs."""
        for job in jobs:
            yield run(job, shared)


class Processes:
    """Runs jobs in `slots` processes of this machine (None: one for each core).

    The processes start with the first jobs and live as long as this object.
    """

    def __init__(self, slots: int | None = None) -> None:
        self._slots = slots
        self._pool: ProcessPoolExecutor | None = None

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs, while later ones still run.

        Whoever stops early waits for jobs that run; the others are not begun. Raises BrokenExecutor
        when a process dies; the next jobs get new ones.
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
    """Spread numbered pieces `(number, size)` over at most `groups` groups of about equal size.

    The largest piece goes first, each to the group that has least; ties go by number, so that the
    same pieces make the same groups. Numbers are ascending within a group, groups by their first.
    """
    pieces = sorted(sizes, key=lambda piece: (-piece[1], piece[0]))
    heap = [(0, 0, number) for number in range(min(groups, len(pieces)))]
    made: list[list[int]] = [[] for _ in heap]
    for number, size in pieces:
        held, count, group = heappop(heap)
        made[group].append(number)
        heappush(heap, (held + size, count + 1, group))
    return sorted(sorted(group) for group in made)
