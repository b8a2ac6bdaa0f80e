"""Scan benchmark: a full scan by the reference and by the oracle, one core, one process.

Every candidate (both at three batch sizes) drains the same file in turn, and the median of the
rounds counts; a figure is that of the best batch size. Batches are dropped at once, so that
decoding is timed and not page faults.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.race import race
from lance_conformance.bench.sides import SIDES

BATCH_SIZES = (1024, 8192, 65536)
"""Batch sizes both are tried with."""


def scan(path: Path, table: str, version: str, nbytes: int, rounds: int) -> Figure:
    """Return GB/s of decoded Arrow bytes, `nbytes` in all."""
    times = race(
        {
            (side.name, size): partial(side.drain, path, version, size)
            for side in SIDES
            for size in BATCH_SIZES
        },
        rounds,
    )
    best = {side.name: min(times[side.name, size] for size in BATCH_SIZES) for side in SIDES}
    speed = {name: nbytes / 1e9 / seconds for name, seconds in best.items()}
    return Figure("scan", table, version, speed["ours"], speed["oracle"], "GB/s")
