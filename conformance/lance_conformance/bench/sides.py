"""Sides: the reference and the oracle behind one face, so that a race is fair by construction.

Data files are read and written through the file classes, 0.1 through the dataset, the only way the
oracle has to it.
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
"""The version that is read and written through the dataset."""

WRITES = 8
"""Batches a table is written in."""


THREADS = ("LANCE_CPU_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables that say how many threads compute."""


@dataclass(frozen=True, slots=True)
class Side:
    """One implementation; modules are imported when they are asked for."""

    name: str
    tables: Callable[[], ModuleType]
    files: Callable[[], ModuleType]

    def open(self, path: Path, version: str) -> Any:
        """Open what `write` made: a file reader, or a dataset for 0.1."""
        if version == LEGACY:
            return self.tables().dataset(str(path))
        return self.files().LanceFileReader(str(path))

    def drain(self, path: Path, version: str, batch_size: int) -> None:
        """Open, read every batch and drop it at once."""
        opened = self.open(path, version)
        whole = opened if version == LEGACY else opened.read_all(batch_size=batch_size)
        batches = whole.to_batches(batch_size=batch_size) if version == LEGACY else None
        for batch in batches or whole.to_batches():
            del batch

    def take(self, path: Path, version: str, rows: list[int]) -> pa.Table:
        """Open, and return the given rows (ascending)."""
        return take(self.open(path, version), version, rows)

    def write(self, path: Path, table: pa.Table, version: str) -> None:
        """Write a table in eight batches."""
        step = -(-len(table) // WRITES)
        parts = [table.slice(at, step) for at in range(0, len(table), step)]
        if version == LEGACY:
            batches = [batch for part in parts for batch in part.to_batches()]
            reader = pa.RecordBatchReader.from_batches(table.schema, batches)
            self.tables().write_dataset(reader, str(path), data_storage_version="legacy")
            return
        with self.files().LanceFileWriter(str(path), table.schema, version=version) as writer:
            for part in parts:
                writer.write_batch(part)


def take(opened: Any, version: str, rows: list[int]) -> pa.Table:
    """Return rows of an opened file or dataset."""
    if version == LEGACY:
        return opened.take(rows)
    return opened.take_rows(rows, batch_size=len(rows)).to_table()


OURS = Side("ours", lambda: import_module("pylanceref"), lambda: import_module("pylanceref.file"))

ORACLE = Side("oracle", oracle.lance, oracle.lance_file)

SIDES = (OURS, ORACLE)


def pin_to_one_core() -> None:
    """Keep this process, and what the oracle starts in it, on one core.

    NumPy counts the processors as it is imported, and its threads wait for each other on one core:
    the program is started again with the variables that say how many there are.
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


class Meter:
    """What one side has read of one file or dataset, counted by its own counters."""

    def __init__(self, side: Side, path: Path, version: str) -> None:
        self._side = side
        self._version = version
        self._source: LocalSource | None = None
        self._last = Requests(0, 0)
        if side is OURS and version != LEGACY:
            self._source = LocalSource(str(path))
            self._opened = side.files().LanceFileReader(str(path), source=self._source)
        else:
            self._last = self._total() if version != LEGACY else self._last
            self._opened = side.open(path, version)
        self.opening = self._since()

    def take(self, rows: list[int]) -> Requests:
        """Return what taking rows of the opened file reads."""
        take(self._opened, self._version, rows)
        return self._since()

    def _since(self) -> Requests:
        """Return what was read since the last call."""
        if self._version == LEGACY:
            stats = self._opened.io_stats_incremental()
            return Requests(stats.read_iops, stats.read_bytes)
        before, self._last = self._last, self._total()
        return Requests(self._last.requests - before.requests, self._last.size - before.size)

    def _total(self) -> Requests:
        if self._source is not None:
            return Requests(self._source.stats.read_iops, self._source.stats.read_bytes)
        lance = self._side.tables()
        return Requests(lance.iops_counter(), lance.bytes_read_counter())
