"""Schedules: saves whose tasks fail at random, and what they may leave.

After each: every row once, one new version, and beside its files exactly those of attempts that
were not heard. An attempt that was killed while it wrote may leave one file that it did not tell.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref_spark.faulty import FAULTS, FaultySource
from pylanceref.dataset import LanceDataset
from pyspark.sql import SparkSession

PARTITIONS = 4
ROWS = 1000


def draw(seed: int, faults: Sequence[str], most: int) -> dict[str, list[str]]:
    """Return the faults of at most `most` attempts of each partition."""
    luck = random.Random(seed)
    chosen = [number for number in range(PARTITIONS) if luck.random() < 0.7]
    return {str(n): luck.choices(faults, k=luck.randint(1, most)) for n in chosen}


def try_schedules(
    session: SparkSession, folder: Path, seeds: Sequence[int]
) -> tuple[str, list[str]]:
    """Save once for every seed, with faults of workers."""
    session.dataSource.register(FaultySource)
    wrong, orphans = [], 0
    for seed in seeds:
        found, left = try_schedule(session, folder / f"schedule-{seed}", draw(seed, FAULTS, 2))
        orphans += left
        wrong += [f"seed {seed}: {one}" for one in found]
    return f"{len(seeds)} schedules, {orphans} orphans", wrong


def try_schedule(
    session: SparkSession, folder: Path, schedule: dict[str, list[str]]
) -> tuple[list[str], int]:
    """Save after a table; return what is wrong, and how many files no version names."""
    shutil.rmtree(folder, ignore_errors=True)
    journal = folder / "journal"
    journal.mkdir(parents=True)
    uri = str(folder / "table.lance")
    pylanceref.write_dataset(pa.table({"id": range(7)}), uri)
    options = {"schedule": json.dumps(schedule), "journal": str(journal)}
    frame = session.range(0, ROWS, 1, PARTITIONS)
    frame.write.format("faulty").mode("append").options(**options).save(uri)
    table = pylanceref.dataset(uri)
    wrong = [] if table.version == 2 else [f"version {table.version} after one save"]
    rows = sorted(table.to_table()["id"].to_pylist())
    if rows != sorted([*range(7), *range(ROWS)]):
        wrong.append(f"{len(rows)} rows: {schedule}")
    orphans = _files(uri) - _named(table)
    wrong += unexpected(orphans, _named(table), journal)
    if not wrong:
        shutil.rmtree(folder)
    return wrong, len(orphans)


def _files(uri: str) -> set[str]:
    return {path.name for path in Path(uri, "data").iterdir()}


def _named(table: LanceDataset) -> set[str]:
    return {file.path for one in table.get_fragments() for file in one.data_files()}


def unexpected(orphans: set[str], named: set[str], journal: Path) -> list[str]:
    """Tell of orphans that no attempt can have left, and of files that should be there."""
    wrote = {path.stem: set(json.loads(path.read_text())) for path in journal.glob("*.wrote")}
    began = {path.stem for path in journal.glob("*.began")}
    told = set[str]().union(*wrote.values())
    untold = orphans - told
    wrong = [f"lost: {name}" for name in sorted(told - named - orphans)]
    if len(untold) > len(began - wrote.keys()):
        wrong.append(f"files of nobody: {sorted(untold)}")
    return wrong
