"""Plain processes: how much more work two of them do than one, without Spark.

Two that read and write memory at once slow each other down. What two slots of Spark bring is at
most that, less what one slot already takes of the second processor.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from queue import Queue
from threading import Barrier

from lanceref_spark.session import THREADS

from lance_conformance.bench.spark_work import LARGE_ROWS, PIPELINES

_SPAWN = get_context("spawn")


def scaling(name: str, seconds: float, rounds: int) -> float:
    """Return how much more of a pipeline's work two processes do than one; a median of rounds.

    Each does the work of one task over and over, for about so many seconds when it is alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        PIPELINES[name].prepare(Path(folder), 1, LARGE_ROWS)
        times = max(1, round(seconds / _seconds(name, folder, 1, 1)))
        ratios = [
            2 * _seconds(name, folder, times, 1) / _seconds(name, folder, times, 2)
            for _ in range(rounds)
        ]
    return statistics.median(ratios)


def _seconds(name: str, folder: str, times: int, processes: int) -> float:
    """Return how long the slowest of so many processes takes, all at once."""
    for variable in THREADS:
        os.environ.setdefault(variable, "1")
    start, took = _SPAWN.Barrier(processes), _SPAWN.Queue()
    given = (name, folder, times, start, took)
    children = [_SPAWN.Process(target=_work, args=given) for _ in range(processes)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    slowest: float = max(took.get(timeout=1) for _ in children)
    return slowest


def _work(name: str, folder: str, times: int, start: Barrier, took: Queue[float]) -> None:
    """Do a task so many times, after one that does not count and when all are there."""
    share = PIPELINES[name].share
    share(Path(folder), LARGE_ROWS)
    start.wait()
    began = time.perf_counter()
    for _ in range(times):
        share(Path(folder), LARGE_ROWS)
    took.put(time.perf_counter() - began)
