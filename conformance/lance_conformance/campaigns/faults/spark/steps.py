"""Spark part: saves with faults, large tables and indices by tasks, and executors that die.

Cases before `deaths` share a session in one JVM whose tasks are tried three times; `deaths` and
`index and check` run on a master with two workers of one slot; `copies` there with speculation.
Sizes follow from the number of schedules: at 200 the round trip has ten million rows and the large
table five gigabytes.
"""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from lanceref.core.errors import LanceError
from lanceref_spark.session import make_session
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lance_conformance.campaigns.faults.spark import (
    large_table,
    round_trip,
    schedules,
    segment_recall,
)
from lance_conformance.campaigns.faults.spark.cluster import cluster
from lance_conformance.campaigns.runner import Outcome, Plan, Session

Do = Callable[[SparkSession, Path], schedules.Told]
"""A step: it tells what it did, and what is wrong."""

ERRORS = LanceError, OSError, PySparkException, Py4JError
"""What a step may end in; it is a difference and does not end the others."""

VECTORS = 20_000
ROWS_OF_A_SCHEDULE, BYTES_OF_A_SCHEDULE = 50_000, 25 * 10**6
SCHEDULES_OF_A_DEATH = 10
COPIES = 3


@contextmanager
def spark(plan: Plan) -> Iterator[Session]:
    """Open the part: as many schedules of faults as are planned, and the rest in proportion.

    One session of Spark is open at a time: `local`, `cluster` or `speculation`.
    """
    folder = plan.folder.absolute()
    steps = {name: (where, do) for name, where, do in all_steps(plan)}
    opened = dict[str, SparkSession]()
    with ExitStack() as stack:

        def run(case: str) -> Outcome:
            where, do = steps[case]
            try:
                if where not in opened:
                    stack.close()
                    opened.clear()
                    opened[where] = stack.enter_context(_start(where, folder / "cluster"))
                told, wrong = do(opened[where], folder)
            except ERRORS:
                return Outcome("differed", traceback.format_exc().splitlines()[-8:])
            return Outcome("differed" if wrong else "agreed", [*wrong, told])

        yield Session(steps, run)
    shutil.rmtree(folder / large_table.TABLE, ignore_errors=True)


def all_steps(plan: Plan) -> Iterator[tuple[str, str, Do]]:
    """Yield every step with its name and the session it needs."""
    rows, size = ROWS_OF_A_SCHEDULE * plan.count, BYTES_OF_A_SCHEDULE * plan.count
    for seed in plan.seeds:
        yield f"faults/{seed}", "local", partial(schedules.try_faults, seed=seed)
    yield "round trip", "local", partial(round_trip.round_trip, rows=rows)
    yield "recall", "local", partial(segment_recall.recall, rows=VECTORS)
    yield "make", "local", partial(large_table.make, size=size)
    yield "check", "local", large_table.check
    yield "check damaged", "local", large_table.check_damaged
    for seed in plan.seeds[::SCHEDULES_OF_A_DEATH]:
        yield f"deaths/{seed}", "cluster", partial(schedules.try_death, seed=seed)
    yield "index and check", "cluster", schedules.index_and_check
    for seed in plan.seeds[:COPIES]:
        yield f"copies/{seed}", "speculation", partial(schedules.try_copy, seed=seed)


@contextmanager
def _start(where: str, folder: Path) -> Iterator[SparkSession]:
    """Yield a session: `local` is one JVM, whose tasks are tried three times."""
    if where != "local":
        with cluster(folder, **(schedules.SPECULATION if where == "speculation" else {})) as made:
            yield made
        return
    session = make_session("local[2,3]")
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()
