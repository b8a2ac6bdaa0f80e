"""Spark part: saves with faults, large tables and indices by tasks, and executors that die.

Cases before `deaths` share a session in one JVM whose tasks are tried three times; `deaths` and
`index and check` run on a master with two workers of one slot; `copies` there with speculation.
Sizes follow from the number of schedules: at 200 the round trip has ten million rows and the large
table five gigabytes.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from lanceref.core.errors import LanceError
from lanceref_spark.executor import Tasks
from lanceref_spark.session import make_session
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lance_conformance.campaigns.faults.spark import (
    deaths,
    large_table,
    round_trip,
    schedules,
    segment_recall,
)
from lance_conformance.campaigns.faults.spark.cluster import cluster
from lance_conformance.campaigns.runner import Outcome, Plan, Session

Do = Callable[[SparkSession, Path], tuple[str, list[str]]]
"""A step: it tells what it did, and what is wrong."""

ERRORS = LanceError, OSError, PySparkException, Py4JError
"""What a step may end in; it is a difference and does not end the others."""

VECTORS = 20_000
ROWS_OF_A_SCHEDULE, BYTES_OF_A_SCHEDULE = 50_000, 25 * 10**6
SCHEDULES_OF_A_DEATH = 10
COPIES = 3


@contextmanager
def spark(plan: Plan) -> Iterator[Session]:
    """Open the part: as many schedules of faults as are planned, and the rest in proportion."""
    folder = plan.folder.absolute()
    steps = {name: (where, do) for name, where, do in all_steps(plan)}
    with ExitStack() as stack:
        sessions = Sessions(stack, folder / "cluster")

        def run(case: str) -> Outcome:
            where, do = steps[case]
            try:
                told, wrong = do(sessions.get(where), folder)
            except ERRORS:
                return Outcome("differed", traceback.format_exc().splitlines()[-8:])
            return Outcome("differed" if wrong else "agreed", [*wrong, told])

        yield Session(steps, run)
    large_table.remove(folder)


def all_steps(plan: Plan) -> Iterator[tuple[str, str, Do]]:
    """Yield every step with its name and the session it needs."""
    rows, size = ROWS_OF_A_SCHEDULE * plan.count, BYTES_OF_A_SCHEDULE * plan.count
    seeds = range(plan.seed, plan.seed + plan.count)
    for seed in seeds:
        yield f"faults/{seed}", "local", _with_seed(schedules.try_schedules, seed)
    yield "round trip", "local", lambda session, at: round_trip.round_trip(session, at, rows)
    yield "recall", "local", lambda one, at: segment_recall.recall(Tasks(one), at, VECTORS)
    yield "make", "local", lambda session, at: large_table.make(Tasks(session), at, size)
    yield "check", "local", lambda session, at: large_table.check(Tasks(session), at)
    yield "check damaged", "local", lambda one, at: large_table.check_damaged(Tasks(one), at)
    for seed in seeds[::SCHEDULES_OF_A_DEATH]:
        yield f"deaths/{seed}", "cluster", _with_seed(deaths.try_deaths, seed)
    yield "index and check", "cluster", deaths.index_and_check
    for seed in seeds[:COPIES]:
        yield f"copies/{seed}", "speculation", _with_seed(deaths.try_copies, seed)


def _with_seed(
    try_: Callable[[SparkSession, Path, list[int]], tuple[str, list[str]]], seed: int
) -> Do:
    return lambda session, folder: try_(session, folder, [seed])


class Sessions:
    """One session of Spark at a time: the one asked for is started and the one before ended."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._folder, self._where = folder, ""
        self._open = stack.enter_context(ExitStack())

    def get(self, where: str) -> SparkSession:
        """Return the session `local`, `cluster` or `speculation`."""
        if where != self._where:
            self._open.close()
            self._where = where
            self._session = self._open.enter_context(self._start(where))
        return self._session

    def _start(self, where: str) -> AbstractContextManager[SparkSession]:
        if where == "local":
            return _local()
        more = deaths.SPECULATION if where == "speculation" else {}
        return cluster(self._folder, **more)


@contextmanager
def _local() -> Iterator[SparkSession]:
    """Yield a session in one JVM, whose tasks are tried three times."""
    session = make_session("local[2,3]")
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
