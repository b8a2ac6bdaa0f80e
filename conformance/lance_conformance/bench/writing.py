"""Write benchmark: both implementations write a table in eight batches, on write_once core."""

from __future__ import annotations

import shutil
from functools import partial
from itertools import count
from pathlib import Path

import pyarrow as pa

from lance_conformance.bench.engines import ENGINES, LEGACY, Engine
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.timing import time_in_turn


def write(folder: Path, table: pa.Table, name: str, version: str, rounds: int) -> Figure:
    """Return GB/s of Arrow bytes that are written to files in `folder`, which are removed."""
    numbers = count()

    def write_once(engine: Engine) -> None:
        path = folder / f"{engine.name}-{next(numbers)}.lance"
        engine.write(path, table, version)
        shutil.rmtree(path) if version == LEGACY else path.unlink()

    times = time_in_turn({engine.name: partial(write_once, engine) for engine in ENGINES}, rounds)
    ours, oracle = (table.nbytes / 1e9 / times[engine.name] for engine in ENGINES)
    return Figure("write", name, version, ours, oracle, "GB/s")
