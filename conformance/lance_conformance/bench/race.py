"""Race: candidates timed in turn, so that a busy machine slows all of them alike.

What counts is the time on the processor, in all threads and in the system. On one core it is the
time that passes when nothing else runs, and stays so when something does.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Name = TypeVar("Name")


def race(candidates: Mapping[Name, Callable[[], object]], rounds: int) -> dict[Name, float]:
    """Return the median processor seconds of each candidate; a first round is not timed."""
    times: dict[Name, list[float]] = {name: [] for name in candidates}
    for round_ in range(rounds + 1):
        for name, run in candidates.items():
            start = time.process_time()
            run()
            if round_:
                times[name].append(time.process_time() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}
