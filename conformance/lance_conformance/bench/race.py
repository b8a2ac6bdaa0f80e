"""Race: candidates timed in turn, so that a busy machine slows all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Name = TypeVar("Name")


def race(candidates: Mapping[Name, Callable[[], object]], rounds: int) -> dict[Name, float]:
    """Return the median seconds of each candidate; a first round is not timed."""
    times: dict[Name, list[float]] = {name: [] for name in candidates}
    for round_ in range(rounds + 1):
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            if round_:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}
