"""Engines: the reference and the oracle behind one interface, for equal measurements.

Data files are read and written by the file classes, files of 0.1 by the dataset, since the oracle
has no other interface for them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
from lanceref.storage import LocalSource

from lance_conformance import oracle

LEGACY = "0.1"
"""Version that is read and written by the dataset."""

NUM_BATCHES = 8
"""Batches of a write."""


THREADS = ("LANCE_CPU_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables for the numbers of threads."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An implementation of the format; its modules are imported lazily."""

    name: str
    tables: Callable[[], ModuleType]
    files: Callable[[], ModuleType]

    def open(self, path: Path, version: str) -> Any:
        """Open a file or dataset that `write` wrote: a file reader, or a dataset for 0.1."""
        if version == LEGACY:
            return self.tables().dataset(str(path))
        return self.files().LanceFileReader(str(path))

    def scan(self, path: Path, version: str, batch_size: int) -> None:
        """Open, and read every batch, which is dropped at once."""
        reader = self.open(path, version)
        if version == LEGACY:
            batches = reader.to_batches(batch_size=batch_size)
        else:
            batches = reader.read_all(batch_size=batch_size).to_batches()
        for batch in batches:
            del batch

    def take(self, path: Path, version: str, rows: list[int]) -> pa.Table:
        """Open, and return rows by their ascending numbers."""
        return take(self.open(path, version), version, rows)

    def write(self, path: Path, table: pa.Table, version: str) -> None:
        """Write a table in eight batches."""
        step = -(-len(table) // NUM_BATCHES)
        parts = [table.slice(at, step) for at in range(0, len(table), step)]
        if version == LEGACY:
            batches = [batch for part in parts for batch in part.to_batches()]
            reader = pa.RecordBatchReader.from_batches(table.schema, batches)
            self.tables().write_dataset(reader, str(path), data_storage_version="legacy")
            return
        with self.files().LanceFileWriter(str(path), table.schema, version=version) as writer:
            for part in parts:
                writer.write_batch(part)


def take(reader: Any, version: str, rows: list[int]) -> pa.Table:
    """Return rows of an open file or dataset."""
    if version == LEGACY:
        return reader.take(rows)
    return reader.take_rows(rows, batch_size=len(rows)).to_table()


OURS = Engine("ours", lambda: import_module("pylanceref"), lambda: import_module("pylanceref.file"))

ORACLE = Engine("oracle", oracle.lance, oracle.lance_file)

ENGINES = (OURS, ORACLE)


def pin_to_one_core() -> None:
    """Restrict this process, with the threads of the oracle, to one core.

    NumPy sets its number of threads when it is imported, and several wait for each other on one
    core, so that the program restarts with the environment variables for one thread.
    """
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if all(os.environ.get(name) == "1" for name in THREADS):
        return
    os.environ |= dict.fromkeys(THREADS, "1")
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests and bytes read."""

    requests: int
    size: int


class IOCounter:
    """Requests and bytes that an engine reads, by its own counters."""

    def __init__(self, engine: Engine, path: Path, version: str) -> None:
        self._side = engine
        self._version = version
        self._source: LocalSource | None = None
        self._last = Requests(0, 0)
        if engine is OURS and version != LEGACY:
            self._source = LocalSource(str(path))
            self._reader = engine.files().LanceFileReader(str(path), source=self._source)
        else:
            self._last = self._total() if version != LEGACY else self._last
            self._reader = engine.open(path, version)
        self.opening = self._since()

    def take(self, rows: list[int]) -> Requests:
        """Return the requests and bytes of a take."""
        take(self._reader, self._version, rows)
        return self._since()

    def _since(self) -> Requests:
        """Return the requests and bytes since the last call."""
        if self._version == LEGACY:
            stats = self._reader.io_stats_incremental()
            return Requests(stats.read_iops, stats.read_bytes)
        before, self._last = self._last, self._total()
        return Requests(self._last.requests - before.requests, self._last.size - before.size)

    def _total(self) -> Requests:
        if self._source is not None:
            return Requests(self._source.stats.read_iops, self._source.stats.read_bytes)
        lance = self._side.tables()
        return Requests(lance.iops_counter(), lance.bytes_read_counter())
