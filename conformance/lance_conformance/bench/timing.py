"""Timing: candidates run in turn, so that other load affects all of them equally.

The result is processor time of all threads, including the system. On one core it equals wall-clock
time without other load.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Name = TypeVar("Name")


def time_in_turn(candidates: Mapping[Name, Callable[[], object]], rounds: int) -> dict[Name, float]:
    """Return the median processor seconds of each candidate; a first round is not timed."""
    times: dict[Name, list[float]] = {name: [] for name in candidates}
    for round_ in range(rounds + 1):
        for name, run in candidates.items():
            start = time.process_time()
            run()
            if round_:
                times[name].append(time.process_time() - start)
    return {name: statistics.median(timings) for name, timings in times.items()}
