"""Scan benchmark: a full scan by the reference and by the oracle, on one core, in one process.

Every candidate (both at three batch sizes) scans the same file in turn; the result is the median of
the rounds, for the best and for the default batch size. Batches are dropped at once, so that
decoding is timed and not page faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lance_conformance.bench.engines import ENGINES
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.timing import time_in_turn

DEFAULT_SIZE = 1024
"""Default batch size of readers."""

BATCH_SIZES = (DEFAULT_SIZE, 8192, 65536)
"""Batch sizes of scans."""


def scan(path: Path, table: str, version: str, nbytes: int, rounds: int) -> Iterator[Figure]:
    """Yield GB/s of the `nbytes` decoded Arrow bytes, at the best and the default batch size."""
    times = time_in_turn(
        {
            (engine.name, size): partial(engine.scan, path, version, size)
            for engine in ENGINES
            for size in BATCH_SIZES
        },
        rounds,
    )
    speed = {one: nbytes / 1e9 / seconds for one, seconds in times.items()}
    ours, oracle = (max(speed[engine.name, size] for size in BATCH_SIZES) for engine in ENGINES)
    yield Figure("scan", table, version, ours, oracle, "GB/s")
    ours, oracle = (speed[engine.name, DEFAULT_SIZE] for engine in ENGINES)
    yield Figure("default scan", table, version, ours, oracle, "GB/s")
