"""Plain processes: the speedup by two processes without Spark.

It limits the speedup by two slots of Spark, of which one already uses a part of the second
processor.
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
    """Return the speedup of the work of a pipeline by two processes, the median of the rounds.

    Each process repeats the work of one task, for about `seconds` if it is alone.
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
    """Return the seconds of the slowest of several concurrent processes."""
    for variable in THREADS:
        os.environ.setdefault(variable, "1")
    start, timings = _SPAWN.Barrier(processes), _SPAWN.Queue()
    arguments = (name, folder, times, start, timings)
    children = [_SPAWN.Process(target=_work, args=arguments) for _ in range(processes)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    slowest: float = max(timings.get(timeout=1) for _ in children)
    return slowest


def _work(name: str, folder: str, times: int, start: Barrier, timings: Queue[float]) -> None:
    """Repeat a task, after one that is not timed, when all processes are ready."""
    share = PIPELINES[name].share
    share(Path(folder), LARGE_ROWS)
    start.wait()
    began = time.perf_counter()
    for _ in range(times):
        share(Path(folder), LARGE_ROWS)
    timings.put(time.perf_counter() - began)
