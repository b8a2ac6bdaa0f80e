"""Random access: takes of 1 000 sorted rows by a new reader, with requests and bytes read.

Requests and bytes are from the counters of each engine, independent of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from lance_conformance.bench.engines import ENGINES, LEGACY, ORACLE, OURS, IOCounter
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.timing import time_in_turn

TAKE_ROWS = 1000
"""Rows of a take."""

SEED = 7
"""Seed of the row numbers."""


def sample(num_rows: int) -> list[int]:
    """Return the row numbers of a take, ascending."""
    rng = np.random.default_rng(SEED)
    rows: list[int] = rng.choice(num_rows, min(TAKE_ROWS, num_rows), replace=False).tolist()
    return sorted(rows)


def take(path: Path, table: str, version: str, num_rows: int, rounds: int) -> Figure:
    """Return thousands of rows per second, including the opening."""
    rows = sample(num_rows)
    times = time_in_turn(
        {engine.name: partial(engine.take, path, version, rows) for engine in ENGINES}, rounds
    )
    ours, oracle = (len(rows) / 1e3 / times[engine.name] for engine in ENGINES)
    return Figure("take", table, version, ours, oracle, "krows/s")


def requests(path: Path, table: str, version: str, num_rows: int) -> Iterator[Figure]:
    """Yield requests and bytes of opening, of the sample, and of one row by a new reader."""
    takes = {"take": sample(num_rows), "row": [num_rows // 2]}
    for name, rows in takes.items():
        ours, oracle = (IOCounter(engine, path, version) for engine in (OURS, ORACLE))
        reads = {name: (ours.take(rows), oracle.take(rows))}
        if name == "take" and version != LEGACY:
            reads["open"] = (ours.opening, oracle.opening)
        for label, (first, second) in reads.items():
            counts = first.requests, second.requests
            yield Figure(f"{label} requests", table, version, *counts, "requests")
            yield Figure(f"{label} bytes", table, version, first.size, second.size, "bytes")
