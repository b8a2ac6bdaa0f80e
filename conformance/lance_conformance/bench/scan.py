"""Scan benchmark: a full scan by the reference and by the oracle, one core, one process.

Every candidate (both at three batch sizes) drains the same file in turn, and the median of the
rounds counts. One figure is that of the best batch size, one that of the size readers have by
default. Batches are dropped at once, so that decoding is timed and not page faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.race import race
from lance_conformance.bench.sides import SIDES

DEFAULT_SIZE = 1024
"""The batch size of readers by default."""

BATCH_SIZES = (DEFAULT_SIZE, 8192, 65536)
"""Batch sizes both are tried with."""


def scan(path: Path, table: str, version: str, nbytes: int, rounds: int) -> Iterator[Figure]:
    """Yield GB/s of decoded Arrow bytes, `nbytes` in all, at the best and the default size."""
    times = race(
        {
            (side.name, size): partial(side.drain, path, version, size)
            for side in SIDES
            for size in BATCH_SIZES
        },
        rounds,
    )
    speed = {one: nbytes / 1e9 / seconds for one, seconds in times.items()}
    ours, oracle = (max(speed[side.name, size] for size in BATCH_SIZES) for side in SIDES)
    yield Figure("scan", table, version, ours, oracle, "GB/s")
    ours, oracle = (speed[side.name, DEFAULT_SIZE] for side in SIDES)
    yield Figure("default scan", table, version, ours, oracle, "GB/s")
