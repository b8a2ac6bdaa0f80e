"""Scaling: the time per row and the memory for small and for large tables.

The oracle writes tables of one, four, ... million rows in files of a million, with an index. Each
step is timed on one core, by processor time.

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

from lance_conformance.bench.engines import ENGINES, ORACLE, OURS, pin_to_one_core
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.subprocesses import peak
from lance_conformance.bench.timing import time_in_turn

MODULE = "lance_conformance.bench.scaling"
"""Module that subprocesses run, for measurements of memory."""

MILLION = 10**6

STEP = 48_271_793
"""Distance of consecutive keys among the even numbers. It is coprime to the number of rows, so that
each number occurs once, and consecutive keys are in different pages of the index."""

SEED, TAKE_ROWS = 20_261_128, 1000
"""Seed of the random numbers; rows of a take."""

UNITS = {
    "scan": "ns/row",
    "take": "us/row",
    "spread": "us/row",
    "query": "ms",
    "scan MiB": "MiB",
    "validate": "ns/row",
    "validate MiB": "MiB",
}
"""Measures: a scan of all columns, a take of a thousand rows per million, a take of a thousand of
all rows, a query of one row by an index, the peak memory of a scan in a subprocess, the time of a
deep validation, and its peak memory."""


def batches(rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of the even numbers below twice `rows`, permuted, and of random floats."""
    random = np.random.default_rng(SEED)
    for start in range(0, rows, MILLION):
        numbers = np.arange(start, min(start + MILLION, rows), dtype=np.int64)
        keys = 2 * (numbers * STEP % rows)
        yield pa.record_batch({"k": keys, "v": random.random(len(numbers), np.float32)})


def write(path: Path, rows: int, *, indexed: bool = True) -> None:
    """Write a table, with a BTREE if `indexed`."""
    parts = batches(rows)
    first = next(parts)
    stream = pa.RecordBatchReader.from_batches(first.schema, _chain(first, parts))
    table = ORACLE.tables().write_dataset(stream, str(path), max_rows_per_file=MILLION)
    if indexed:
        table.create_scalar_index("k", "BTREE")


def _chain(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others


def run(folder: Path, millions: int, rounds: int) -> Iterator[Figure]:
    """Yield the figures of a table, which is removed after use."""
    rows, path = millions * MILLION, folder / f"{millions}"
    write(path, rows)
    random = np.random.default_rng(SEED)
    many, few = (
        np.sort(random.choice(rows, min(rows, count), replace=False)).tolist()
        for count in (TAKE_ROWS * millions, TAKE_ROWS)
    )
    opened = {engine.name: engine.tables().dataset(str(path)) for engine in ENGINES}
    query = {"filter": f"k = {rows // 2 * 2}", "columns": [], "with_row_id": True}
    steps: dict[str, tuple[float, Callable[[Any], object]]] = {
        "scan": (1e9 / rows, scan),
        "take": (1e6 / len(many), lambda table: table.take(many)),
        "spread": (1e6 / len(few), lambda table: table.take(few)),
        "query": (1e3, lambda table: table.to_table(**query)),
    }
    for name, (scale, step) in steps.items():
        times = time_in_turn(
            {engine: partial(step, table) for engine, table in opened.items()}, rounds
        )
        yield _figure(name, millions, scale * times[OURS.name], scale * times[ORACLE.name])
    yield _figure(
        "scan MiB", millions, *(_measure_alone(engine.name, path)[1] for engine in ENGINES)
    )
    seconds, memory = _measure_alone("validate", path)
    yield _figure("validate", millions, 1e9 / rows * seconds, float("nan"))
    yield _figure("validate MiB", millions, memory, float("nan"))
    shutil.rmtree(path)


def _figure(name: str, millions: int, ours: float, oracle: float) -> Figure:
    return Figure(name, f"{millions} M", "", ours, oracle, UNITS[name])


def scan(table: Any) -> None:
    """Read every batch of a table, and drop it at once."""
    for batch in table.scanner().to_batches():
        del batch


def _measure_alone(step: str, path: Path) -> tuple[float, float]:
    """Return the seconds and the MiB of a step in a subprocess."""
    command = [sys.executable, "-W", "ignore", "-m", MODULE, "--alone", step, str(path)]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, memory = map(float, result.stdout.splitlines()[-1].split())
    return seconds, memory


def _step(name: str, path: str) -> Callable[[], object]:
    """Return a scan by an engine, or a validation, after its imports."""
    if name != "validate":
        table = next(engine for engine in ENGINES if engine.name == name).tables().dataset(path)
        return partial(scan, table)
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
    options = parser.parse_args()
    pin_to_one_core()
    if options.alone:
        step = _step(*options.alone)
        before, start = peak(), time.process_time()
        step()
        print(time.process_time() - start, peak() - before)
        return
    print(f"{'what':<13} {'rows':<6} {'unit':<8} {'ours':>9} {'oracle':>10}", flush=True)
    first: dict[str, Figure] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for millions in options.millions:
            for one in run(Path(folder), millions, options.rounds):
                growth = one.ours / first.setdefault(one.measure, one).ours
                line = f"{one.measure:<13} {one.table:<6} {one.unit:<8}"
                print(f"{line} {one.ours:>9.4g} {one.oracle:>10.4g}   x{growth:.2f}", flush=True)


if __name__ == "__main__":
    main()
