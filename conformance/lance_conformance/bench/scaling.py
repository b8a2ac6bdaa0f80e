"""Scaling: what a row costs in small and in large tables, and what memory is needed.

The oracle writes tables of one, four, ... million rows in files of a million, and an index over
them. Each step is timed on one core, by processor time. Batches are made as they are written.

    python -m lance_conformance.bench.scaling --millions 1 4 16 64
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import lanceref
import numpy as np
import pyarrow as pa

from lance_conformance.bench.figures import Figure
from lance_conformance.bench.fresh import peak
from lance_conformance.bench.race import race
from lance_conformance.bench.sides import ORACLE, OURS, SIDES, pin_to_one_core

MODULE = "lance_conformance.bench.scaling"
"""What a process of its own runs, whose memory is measured."""

MILLION = 10**6

STEP = 48_271_793
"""Distance of neighbouring keys among all even numbers: it has no factor in common with a table's
rows, so each number comes once, and neighbours lie in other pages of the index."""

SEED, TAKEN = 20_261_128, 1000
"""Seed of the random numbers; how many rows are taken."""

UNITS = {
    "scan": "ns/row",
    "take": "us/row",
    "spread": "us/row",
    "query": "ms",
    "scan MiB": "MiB",
    "validate": "ns/row",
    "validate MiB": "MiB",
}
"""What is measured: a scan of all columns, a thousand rows taken of each million, a thousand of all
rows, one row found by an index, the most memory of a scan in a process of its own, validation with
all values in another, and the most memory of that."""


def batches(rows: int) -> Iterator[pa.RecordBatch]:
    """Yield a table: every even number below twice its rows, in any order, and random floats."""
    random = np.random.default_rng(SEED)
    for start in range(0, rows, MILLION):
        numbers = np.arange(start, min(start + MILLION, rows), dtype=np.int64)
        keys = 2 * (numbers * STEP % rows)
        yield pa.record_batch({"k": keys, "v": random.random(len(numbers), np.float32)})


def write(path: Path, rows: int, *, indexed: bool = True) -> None:
    """Write a table, with a BTREE where it is to be `indexed`."""
    parts = batches(rows)
    first = next(parts)
    stream = pa.RecordBatchReader.from_batches(first.schema, _chain(first, parts))
    made = ORACLE.tables().write_dataset(stream, str(path), max_rows_per_file=MILLION)
    if indexed:
        made.create_scalar_index("k", "BTREE")


def _chain(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others


def run(folder: Path, millions: int, rounds: int) -> Iterator[Figure]:
    """Yield the figures of a table; it is removed after use."""
    rows, path = millions * MILLION, folder / f"{millions}"
    write(path, rows)
    random = np.random.default_rng(SEED)
    taken, spread = (
        np.sort(random.choice(rows, min(rows, count), replace=False)).tolist()
        for count in (TAKEN * millions, TAKEN)
    )
    opened = {side.name: side.tables().dataset(str(path)) for side in SIDES}
    asked = {"filter": f"k = {rows // 2 * 2}", "columns": [], "with_row_id": True}
    steps: dict[str, tuple[float, Callable[[Any], object]]] = {
        "scan": (1e9 / rows, drain),
        "take": (1e6 / len(taken), lambda table: table.take(taken)),
        "spread": (1e6 / len(spread), lambda table: table.take(spread)),
        "query": (1e3, lambda table: table.to_table(**asked)),
    }
    for name, (scale, step) in steps.items():
        times = race({side: partial(step, table) for side, table in opened.items()}, rounds)
        yield _figure(name, millions, scale * times[OURS.name], scale * times[ORACLE.name])
    yield _figure("scan MiB", millions, *(_alone(side.name, path)[1] for side in SIDES))
    seconds, memory = _alone("validate", path)
    yield _figure("validate", millions, 1e9 / rows * seconds, float("nan"))
    yield _figure("validate MiB", millions, memory, float("nan"))
    shutil.rmtree(path)


def _figure(name: str, millions: int, ours: float, oracle: float) -> Figure:
    return Figure(name, f"{millions} M", "", ours, oracle, UNITS[name])


def drain(table: Any) -> None:
    """Read every batch of a table and drop it at once."""
    for batch in table.scanner().to_batches():
        del batch


def _alone(step: str, path: Path) -> tuple[float, float]:
    """Return the seconds that a step takes in a process of its own, and the MiB."""
    command = [sys.executable, "-W", "ignore", "-m", MODULE, "--alone", step, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, memory = map(float, done.stdout.splitlines()[-1].split())
    return seconds, memory


def _step(name: str, path: str) -> Callable[[], object]:
    """Return a scan by the side of this name, or a validation; what it imports is imported."""
    if name != "validate":
        table = next(side for side in SIDES if side.name == name).tables().dataset(path)
        return partial(drain, table)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "small", MILLION // 10)
        lanceref.validate(Path(folder) / "small", deep=True)
    return partial(lanceref.validate, path, deep=True)


def main() -> None:
    """Measure tables of growing size, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--millions", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where tables are made; a temporary one by default")
    parser.add_argument("--alone", nargs=2, metavar=("STEP", "PATH"), help="time and memory")
    given = parser.parse_args()
    pin_to_one_core()
    if given.alone:
        step = _step(*given.alone)
        before, start = peak(), time.process_time()
        step()
        print(time.process_time() - start, peak() - before)
        return
    print(f"{'what':<13} {'rows':<6} {'unit':<8} {'ours':>9} {'oracle':>10}", flush=True)
    first: dict[str, Figure] = {}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for millions in given.millions:
            for one in run(Path(folder), millions, given.rounds):
                growth = one.ours / first.setdefault(one.measure, one).ours
                line = f"{one.measure:<13} {one.table:<6} {one.unit:<8}"
                print(f"{line} {one.ours:>9.4g} {one.oracle:>10.4g}   x{growth:.2f}", flush=True)


if __name__ == "__main__":
    main()
