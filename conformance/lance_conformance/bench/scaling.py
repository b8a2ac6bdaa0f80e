"""Scaling: what a row costs in small and in large tables, and what memory a scan needs.

The oracle writes tables of one, four, ... million rows in files of a million, and an index over
them. Each step is timed on one core, by processor time.

    python -m lance_conformance.bench.scaling --millions 1 4 16 64
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
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

SEED, TAKEN = 20_261_128, 1000
"""Seed of the tables and of the rows that are taken; how many these are."""

UNITS = {"scan": "ns/row", "take": "us/row", "query": "ms", "validate": "ns/row", "memory": "MiB"}
"""What is measured: a scan of all columns, rows taken by number, one row found by an index,
validation with all values, and the most memory of a scan in a process of its own."""


def batches(rows: int) -> Iterator[pa.RecordBatch]:
    """Yield a table: every even number below twice its rows, in any order, and random floats."""
    random = np.random.default_rng(SEED)
    keys = 2 * random.permutation(rows)
    for start in range(0, rows, MILLION):
        part = keys[start : start + MILLION]
        yield pa.record_batch({"k": part, "v": random.random(len(part), np.float32)})


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
    taken = np.sort(np.random.default_rng(SEED).choice(rows, TAKEN, replace=False)).tolist()
    opened = {side.name: side.tables().dataset(str(path)) for side in SIDES}
    asked = {"filter": f"k = {rows // 2 * 2}", "columns": [], "with_row_id": True}
    steps: dict[str, tuple[float, Callable[[Any], object]]] = {
        "scan": (1e9 / rows, drain),
        "take": (1e6 / TAKEN, lambda table: table.take(taken)),
        "query": (1e3, lambda table: table.to_table(**asked)),
    }
    for name, (scale, step) in steps.items():
        times = race({side: partial(step, table) for side, table in opened.items()}, rounds)
        yield _figure(name, millions, scale * times[OURS.name], scale * times[ORACLE.name])
    seconds = race({"ours": partial(lanceref.validate, path, deep=True)}, 1)["ours"]
    yield _figure("validate", millions, 1e9 / rows * seconds, float("nan"))
    yield _figure("memory", millions, *(_memory(side.name, path) for side in SIDES))
    shutil.rmtree(path)


def _figure(name: str, millions: int, ours: float, oracle: float) -> Figure:
    return Figure(name, f"{millions} M", "", ours, oracle, UNITS[name])


def drain(table: Any) -> None:
    """Read every batch of a table and drop it at once."""
    for batch in table.scanner().to_batches():
        del batch


def _memory(side: str, path: Path) -> float:
    command = [sys.executable, "-W", "ignore", "-m", MODULE, "--drain", side, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure tables of growing size, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--millions", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--drain", nargs=2, metavar=("SIDE", "PATH"), help="print the memory")
    given = parser.parse_args()
    pin_to_one_core()
    if given.drain:
        name, path = given.drain
        table = next(side for side in SIDES if side.name == name).tables().dataset(path)
        before = peak()
        drain(table)
        print(peak() - before)
        return
    print("what      rows   unit          ours     oracle", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for millions in given.millions:
            for one in run(Path(folder), millions, given.rounds):
                line = f"{one.measure:<9} {one.table:<6} {one.unit:<8}"
                print(f"{line} {one.ours:>9.4g} {one.oracle:>10.4g}", flush=True)


if __name__ == "__main__":
    main()
