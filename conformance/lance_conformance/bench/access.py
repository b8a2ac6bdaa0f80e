"""Random access: 1 000 sorted rows of a freshly opened reader, and what opening and taking read.

Requests and bytes are those of each side's own counters; they do not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.race import race
from lance_conformance.bench.sides import LEGACY, ORACLE, OURS, SIDES, Meter

TAKEN = 1000
"""Rows that are taken."""

SEED = 7
"""Seed of their numbers."""


def sample(num_rows: int) -> list[int]:
    """Return the rows that are taken, ascending."""
    rng = np.random.default_rng(SEED)
    rows: list[int] = rng.choice(num_rows, min(TAKEN, num_rows), replace=False).tolist()
    return sorted(rows)


def take(path: Path, table: str, version: str, num_rows: int, rounds: int) -> Figure:
    """Return thousands of rows per second, the opening included."""
    rows = sample(num_rows)
    times = race({side.name: partial(side.take, path, version, rows) for side in SIDES}, rounds)
    ours, oracle = (len(rows) / 1e3 / times[side.name] for side in SIDES)
    return Figure("take", table, version, ours, oracle, "krows/s")


def requests(path: Path, table: str, version: str, num_rows: int) -> Iterator[Figure]:
    """Yield requests and bytes of opening, of the sample, and of one row on a cold reader."""
    wanted = {"take": sample(num_rows), "row": [num_rows // 2]}
    for name, rows in wanted.items():
        ours, oracle = (Meter(side, path, version) for side in (OURS, ORACLE))
        read = {name: (ours.take(rows), oracle.take(rows))}
        if name == "take" and version != LEGACY:
            read["open"] = (ours.opening, oracle.opening)
        for what, (mine, theirs) in read.items():
            yield Figure(
                f"{what} requests", table, version, mine.requests, theirs.requests, "requests"
            )
            yield Figure(f"{what} bytes", table, version, mine.size, theirs.size, "bytes")
