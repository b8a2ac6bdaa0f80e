"""A run of the benchmark: the measures that the goals need, for each table and version."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lance_conformance.bench import random_access, scan, subprocesses, vectors, writing
from lance_conformance.bench.engines import LEGACY, ORACLE
from lance_conformance.bench.figures import Figure
from lance_conformance.bench.goals import Goal
from lance_conformance.bench.tables import REFUSED, TABLES

ACCESS_ROUNDS = 7
"""Timed rounds of a take, which has a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Size:
    """Decoded MiB of tables for reads and for writes, and the number of timed rounds."""

    read_mib: int
    write_mib: int
    rounds: int


def run(
    folder: Path, versions: list[str], tables: list[str], goals: list[Goal], size: Size
) -> Iterator[Figure]:
    """Yield figures as they are measured; files are written to `folder` and removed after use."""
    if any("import" in goal.measures for goal in goals):
        yield subprocesses.imports(size.rounds)
    if any({"query", "build", "recall"} & {*goal.measures} for goal in goals):
        yield from vectors.vectors(folder, size.read_mib, size.rounds)
    for name in tables:
        read, written = (TABLES[name](mib) for mib in (size.read_mib, size.write_mib))
        for version in versions:
            if (name, version) in REFUSED:
                continue
            needed = {
                measure
                for goal in goals
                if version in goal.versions and name in goal.tables
                for measure in goal.measures
            }
            if needed - {"write"}:
                path = folder / f"{name}-{version}.lance"
                ORACLE.write(path, read, version)
                yield from _read(path, name, version, read, needed, size.rounds)
                shutil.rmtree(path) if version == LEGACY else path.unlink()
            if "write" in needed:
                yield writing.write(folder, written, name, version, size.rounds)


def _read(
    path: Path, name: str, version: str, table: pa.Table, needed: set[str], rounds: int
) -> Iterator[Figure]:
    if needed & {"scan", "default scan"}:
        for figure in scan.scan(path, name, version, table.nbytes, rounds):
            if figure.measure in needed:
                yield figure
    if "take" in needed:
        yield random_access.take(path, name, version, len(table), ACCESS_ROUNDS)
    for figure in random_access.requests(path, name, version, len(table)):
        if figure.measure in needed:
            yield figure
    if "memory" in needed:
        yield subprocesses.memory(path, name, version)
