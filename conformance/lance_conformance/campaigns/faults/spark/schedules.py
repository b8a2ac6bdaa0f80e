"""Schedules: saves whose tasks fail at random, executors that end, and what they may leave.

After each: every row once, one new version, and beside its files exactly those of attempts that
were not heard. An attempt that was killed while it wrote may leave one file that it did not tell.
"""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref_spark.distributed_index import build_index
from lanceref_spark.executor import Tasks
from lanceref_spark.faulty import FAULTS, FaultySource
from lanceref_spark.validation import validate_with
from pyspark.sql import SparkSession

from lance_conformance.campaigns.faults.spark.cluster import WORKERS, wait_for_executors

PARTITIONS = 4
ROWS = 1000

SPECULATION = {
    "spark_speculation": "true",
    "spark_speculation_interval": "200ms",
    "spark_speculation_quantile": "0.5",
    "spark_speculation_multiplier": "1.2",
    "spark_speculation_minTaskRuntime": "500ms",
}
"""Settings of a session in which a task that takes long is done twice."""

Told = tuple[str, list[str]]
"""What was done, and what is wrong."""


def draw(seed: int, most: int) -> dict[str, list[str]]:
    """Return the faults of at most `most` attempts of each partition."""
    luck = random.Random(seed)
    chosen = [number for number in range(PARTITIONS) if luck.random() < 0.7]
    return {str(n): luck.choices(FAULTS, k=luck.randint(1, most)) for n in chosen}


def try_faults(session: SparkSession, folder: Path, seed: int) -> Told:
    """Save with faults of workers."""
    return _try(session, folder / f"schedule-{seed}", draw(seed, 2))


def try_death(session: SparkSession, folder: Path, seed: int) -> Told:
    """Save with faults of workers, and one attempt that takes its executor with it."""
    schedule = draw(seed, 1)
    schedule[str(seed % 4)] = [f"executor {('before', 'after')[seed // 4 % 2]}"]
    told = _try(session, folder / f"death-{seed}", schedule)
    wait_for_executors(session, len(WORKERS))
    return told


def try_copy(session: SparkSession, folder: Path, seed: int) -> Told:
    """Save with a first attempt that is slow, and a copy that overtakes it."""
    return _try(session, folder / f"copy-{seed}", {str(seed % 4): ["slow"]})


def _try(session: SparkSession, folder: Path, schedule: dict[str, list[str]]) -> Told:
    """Save after a table; tell how many files no version names, and what is wrong."""
    session.dataSource.register(FaultySource)
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
    named = {file.path for one in table.get_fragments() for file in one.data_files()}
    orphans = {path.name for path in Path(uri, "data").iterdir()} - named
    wrong += unexpected(orphans, named, journal)
    if not wrong:
        shutil.rmtree(folder)
    return f"{len(orphans)} orphans", wrong


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


def index_and_check(session: SparkSession, folder: Path) -> Told:
    """Build an index by segments on the executors, and check the table on them."""
    uri = str(folder / "indexed.lance")
    shutil.rmtree(uri, ignore_errors=True)
    pylanceref.write_dataset(pa.table({"n": range(4000)}), uri, max_rows_per_file=500)
    table = build_index(Tasks(session), uri, "n", "BTREE", shards=8, merged=3)
    filter_ = "n BETWEEN 700 AND 2099"
    wrong = [] if table.count_rows(filter_) == 1400 else [f"not 1400 rows where {filter_}"]
    report = validate_with(Tasks(session), uri, deep=True)
    wrong += [str(one) for one in report.findings]
    return f"8 segments merged to 3; {len(report.checked)} units checked", wrong
