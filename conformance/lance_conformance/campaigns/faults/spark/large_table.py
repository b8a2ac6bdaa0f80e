"""Large table: fragments made by tasks, checked deeply by tasks, and the memory that this takes.

A fragment follows from its number alone. The table is checked twice: whole, and with one byte of
two of its files changed, which must be all that is found. Of every worker the most memory it ever
held is reported.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref
from lanceref_spark.executor import Tasks
from lanceref_spark.jobs import Executor, Job, Result, Shared
from lanceref_spark.validation import validate_with
from pylanceref.fragment import write_fragments
from pylanceref.metadata import FragmentMetadata
from pylanceref.operation import LanceOperation
from pyspark.sql import SparkSession

Told = tuple[str, list[str]]
"""What was done, and what is wrong."""

TABLE = "large.lance"
"""Name of the table below a folder."""

DIMENSION = 128
ROWS_OF_A_FRAGMENT = 100_000
FRAGMENT_BYTES = ROWS_OF_A_FRAGMENT * (4 * DIMENSION + 24)
"""What a fragment is about."""

MEMORY_MIB = 1536
"""What a worker may hold."""

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("vector", pa.list_(pa.float32(), DIMENSION)),
    ]
)


def rows_of(number: int) -> pa.Table:
    """Return the rows of a fragment."""
    random = np.random.default_rng([7, number])
    ids = np.arange(ROWS_OF_A_FRAGMENT) + number * ROWS_OF_A_FRAGMENT
    names = [f"row {one}" if one % 13 else None for one in ids.tolist()]
    values = random.standard_normal(ROWS_OF_A_FRAGMENT * DIMENSION, np.float32)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values), DIMENSION)
    return pa.table([pa.array(ids), pa.array(names), vectors], schema=SCHEMA)


def write_one(number: int, uri: str) -> str:
    """Write a fragment, anywhere; return it as JSON."""
    (made,) = write_fragments(rows_of(number), uri, SCHEMA, mode="overwrite")
    return json.dumps(made.to_json())


class Watched:
    """An executor whose workers tell how much memory they ever held."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self.peaks: dict[str, int] = {}

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs, and note the MiB of each worker."""
        for result, worker, mib in self._inner.map(partial(_watched, run), jobs, shared):
            self.peaks[worker] = max(mib, self.peaks.get(worker, 0))
            yield result

    def told(self, what: str, wrong: list[str]) -> Told:
        """Tell also of the peak of each worker, and of workers that held more than they may."""
        peaks = sorted(self.peaks.items(), key=lambda one: -one[1])
        told = [f"{worker} held {mib} MiB" for worker, mib in peaks]
        too_much = [one for one, (_, mib) in zip(told, peaks) if mib > MEMORY_MIB]
        return "; ".join([what, *told]), wrong + too_much


def _watched(
    run: Callable[[Job, Shared], Result], job: Job, shared: Shared
) -> tuple[Result, str, int]:
    result = run(job, shared)
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return result, f"{socket.gethostname()}:{os.getpid()}", mib


def make(session: SparkSession, folder: Path, size: int) -> Told:
    """Write a table of `size` bytes, give or take a fragment."""
    uri, watched = str(folder / TABLE), Watched(Tasks(session))
    shutil.rmtree(uri, ignore_errors=True)
    texts = list(watched.map(write_one, range(max(3, size // FRAGMENT_BYTES)), uri))
    fragments = [FragmentMetadata.from_json(text) for text in texts]
    table = pylanceref.LanceDataset.commit(uri, LanceOperation.Overwrite(SCHEMA, fragments))
    written = sum(path.stat().st_size for path in Path(uri, "data").iterdir())
    return watched.told(f"{written / 1e9:.2f} GB, {table.count_rows()} rows", [])


def check(session: SparkSession, folder: Path) -> Told:
    """Check all of the table."""
    watched = Watched(Tasks(session))
    report = validate_with(watched, str(folder / TABLE), deep=True)
    found = [str(one) for one in report.findings]
    return watched.told(f"{len(report.checked)} units, {len(found)} findings", found)


def check_damaged(session: SparkSession, folder: Path) -> Told:
    """Check the table with two files whose last byte is another; put them right again."""
    uri, watched = str(folder / TABLE), Watched(Tasks(session))
    fragments = pylanceref.dataset(uri).get_fragments()
    names = [one.data_files()[0].path for one in (fragments[1], fragments[-1])]
    for name in names:
        _flip_last(Path(uri, "data", name))
    try:
        report = validate_with(watched, uri, deep=True)
    finally:
        for name in names:
            _flip_last(Path(uri, "data", name))
    hit = {Path(one.file).name for one in report.findings}
    wrong = [] if hit == set(names) else [f"found in {sorted(hit)}, not in {sorted(names)}"]
    return watched.told(f"{len(report.findings)} findings in {len(hit)} files", wrong)


def _flip_last(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 0xFF]))
