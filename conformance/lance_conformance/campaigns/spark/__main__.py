"""The Spark campaign: `python -m lance_conformance.campaigns.spark`.

Steps that went well are kept in a file and not run again. On `local[2,3]`: saves with faults, a
round trip of many rows, the recall of segments, a large table made and checked. On a master with
two workers of one slot: saves whose executors die, slow tasks that get a copy, an index, a check.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lanceref.core.errors import LanceError
from lanceref_spark.executor import Tasks
from lanceref_spark.session import make_session
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lance_conformance.campaigns.spark import (
    deaths,
    large_table,
    round_trip,
    schedules,
    segment_recall,
)
from lance_conformance.campaigns.spark.cluster import cluster
from lance_conformance.campaigns.spark.progress import Progress

Do = Callable[[SparkSession, Path], tuple[str, list[str]]]
"""A step: it tells what it did, and what is wrong."""

DEATHS = LanceError, OSError, PySparkException, Py4JError
"""What a step may die of."""

SCHEDULES_OF_A_STEP = 20
DEATHS_OF_A_STEP = 5
COPIES = 3


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is done."""

    schedules: int
    rows: int
    large_bytes: int
    deaths: int
    vectors: int


def local_steps(sizes: Sizes) -> Iterator[tuple[str, Do]]:
    """Yield the steps in one JVM, by their names."""
    for first in range(0, sizes.schedules, SCHEDULES_OF_A_STEP):
        seeds = range(first, min(first + SCHEDULES_OF_A_STEP, sizes.schedules))
        yield f"faults {seeds.start}-{seeds.stop - 1}", _with_seeds(schedules.try_schedules, seeds)
    yield (
        f"round trip {sizes.rows}",
        lambda session, folder: round_trip.round_trip(session, folder, sizes.rows),
    )
    yield (
        f"recall {sizes.vectors}",
        lambda session, folder: segment_recall.recall(Tasks(session), folder, sizes.vectors),
    )
    yield (
        f"make {sizes.large_bytes / 1e9:g} GB",
        lambda session, folder: large_table.make(Tasks(session), folder, sizes.large_bytes),
    )
    yield "check", lambda session, folder: large_table.check(Tasks(session), folder)
    yield "check damaged", lambda session, folder: large_table.check_damaged(Tasks(session), folder)


def cluster_steps(sizes: Sizes) -> Iterator[tuple[str, Do]]:
    """Yield the steps with executors that are processes."""
    for first in range(0, sizes.deaths, DEATHS_OF_A_STEP):
        seeds = range(first, min(first + DEATHS_OF_A_STEP, sizes.deaths))
        yield f"deaths {seeds.start}-{seeds.stop - 1}", _with_seeds(deaths.try_deaths, seeds)
    yield "index and check", deaths.index_and_check


def speculation_steps() -> Iterator[tuple[str, Do]]:
    """Yield the steps in which slow tasks get a copy."""
    yield "copies", _with_seeds(deaths.try_copies, range(COPIES))


def _with_seeds(
    try_: Callable[[SparkSession, Path, range], tuple[str, list[str]]], seeds: range
) -> Do:
    return lambda session, folder: try_(session, folder, seeds)


def run_steps(
    steps: list[tuple[str, Do]], progress: Progress, session: SparkSession, folder: Path
) -> bool:
    """Run and print steps; return whether all went well. One that fails does not end the others."""
    well = True
    for name, do in steps:
        try:
            outcome = progress.run(name, lambda do=do: do(session, folder))  # type: ignore[misc]
        except DEATHS:
            well = False
            print(f"DIED  {name}\n{traceback.format_exc()}", flush=True)
            continue
        well &= not outcome.wrong
        print("\n".join(outcome.lines()), flush=True)
    return well


def main() -> int:
    """Run what is not done yet; 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("build/spark-campaign"))
    parser.add_argument("--schedules", type=int, default=200)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--deaths", type=int, default=20)
    parser.add_argument("--vectors", type=int, default=20_000)
    given = parser.parse_args()
    large_bytes = int(given.gigabytes * 1e9)
    sizes = Sizes(given.schedules, given.rows, large_bytes, given.deaths, given.vectors)
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    progress = Progress(folder / "progress.jsonl")
    session = make_session("local[2,3]")
    session.sparkContext.setLogLevel("OFF")
    well = run_steps(list(local_steps(sizes)), progress, session, folder)
    session.stop()
    if progress.is_done("check") and progress.is_done("check damaged"):
        large_table.remove(folder)
    with cluster(folder / "cluster") as session:
        well &= run_steps(list(cluster_steps(sizes)), progress, session, folder)
    with cluster(folder / "cluster", **deaths.SPECULATION) as session:
        well &= run_steps(list(speculation_steps()), progress, session, folder)
    return int(not well)


if __name__ == "__main__":
    sys.exit(main())
