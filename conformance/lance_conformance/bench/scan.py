"""Scan benchmark: a full scan by the reference and by the oracle, one core, one process.

Every candidate (both at three batch sizes) drains the same file in turn, and the median of the
rounds counts; a figure is that of the best batch size. Batches are dropped at once, so that
decoding is timed and not page faults.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from lanceref.file import LanceFileReader

from lance_conformance.bench.tables import REFUSED, TABLES
from lance_conformance.oracle import lance_file

BATCH_SIZES = (1024, 8192, 65536)
"""Batch sizes both are tried with."""

WRITES = 8
"""`write_batch` calls a file is made with."""


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Medians in GB/s of decoded Arrow bytes; `ratio` is ours over the oracle's best."""

    table: str
    version: str
    ours: float
    oracle: float

    @property
    def ratio(self) -> float:
        """Reference over oracle."""
        return self.ours / self.oracle


def pin_to_one_core() -> None:
    """Keep this process, and what the oracle starts in it, on one core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ |= {"LANCE_CPU_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(
    folder: Path, versions: list[str], tables: list[str], mib: int, rounds: int
) -> Iterator[ScanResult]:
    """Yield a result per version and table; files are made in `folder` and removed after use."""
    for name in tables:
        table = TABLES[name](mib)
        for version in versions:
            if (name, version) in REFUSED:
                continue
            path = folder / f"{name}-{version}.lance"
            write(path, table, version)
            yield _race(path, name, version, table.nbytes, rounds)
            path.unlink()


def write(path: Path, table: pa.Table, version: str) -> None:
    """Write `table` with the oracle in eight batches."""
    step = -(-len(table) // WRITES)
    with lance_file().LanceFileWriter(str(path), table.schema, version=version) as writer:
        for at in range(0, len(table), step):
            writer.write_batch(table.slice(at, step))


def _race(path: Path, name: str, version: str, nbytes: int, rounds: int) -> ScanResult:
    readers: dict[str, Callable[[], Any]] = {
        "ours": lambda: LanceFileReader(path),
        "oracle": lambda: lance_file().LanceFileReader(str(path)),
    }
    candidates = [(who, size) for who in readers for size in BATCH_SIZES]
    times: dict[tuple[str, int], list[float]] = {candidate: [] for candidate in candidates}
    for round_ in range(rounds + 1):
        for who, size in candidates:
            taken = _drain(readers[who], size)
            if round_:
                times[who, size].append(taken)
    speed = {key: nbytes / 1e9 / statistics.median(taken) for key, taken in times.items()}
    best = {who: max(speed[who, size] for size in BATCH_SIZES) for who in readers}
    return ScanResult(name, version, best["ours"], best["oracle"])


def _drain(open_reader: Callable[[], Any], batch_size: int) -> float:
    """Return the seconds that one full scan takes; the first round is not timed by the caller."""
    start = time.perf_counter()
    for batch in open_reader().read_all(batch_size=batch_size).to_batches():
        del batch
    return time.perf_counter() - start
