"""Write benchmark: a table written in eight batches by both sides, one core."""

from __future__ import annotations

import shutil
from functools import partial
from itertools import count
from pathlib import Path

import pyarrow as pa

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.race import race
from lance_conformance.bench.sides import LEGACY, SIDES, Side


def write(folder: Path, table: pa.Table, name: str, version: str, rounds: int) -> Figure:
    """Return GB/s of Arrow bytes that are written into `folder`, which is emptied."""
    numbers = count()

    def one(side: Side) -> None:
        path = folder / f"{side.name}-{next(numbers)}.lance"
        side.write(path, table, version)
        shutil.rmtree(path) if version == LEGACY else path.unlink()

    times = race({side.name: partial(one, side) for side in SIDES}, rounds)
    ours, oracle = (table.nbytes / 1e9 / times[side.name] for side in SIDES)
    return Figure("write", name, version, ours, oracle, "GB/s")
