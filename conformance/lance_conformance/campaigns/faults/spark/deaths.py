"""Deaths: executors that end while their tasks write, and slow tasks that get a copy."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref_spark.distributed_index import build_index
from lanceref_spark.executor import Tasks
from lanceref_spark.faulty import FAULTS, FaultySource
from lanceref_spark.validation import validate_with
from pyspark.sql import SparkSession

from lance_conformance.campaigns.faults.spark.cluster import WORKERS, wait_for_executors
from lance_conformance.campaigns.faults.spark.schedules import draw, try_schedule

SPECULATION = {
    "spark_speculation": "true",
    "spark_speculation_interval": "200ms",
    "spark_speculation_quantile": "0.5",
    "spark_speculation_multiplier": "1.2",
    "spark_speculation_minTaskRuntime": "500ms",
}
"""Settings of a session in which a task that takes long is done twice."""


def try_deaths(session: SparkSession, folder: Path, seeds: Sequence[int]) -> tuple[str, list[str]]:
    """Save once for every seed; in each, one attempt takes its executor with it."""
    session.dataSource.register(FaultySource)
    wrong, orphans = [], 0
    for seed in seeds:
        schedule = draw(seed, FAULTS, 1)
        schedule[str(seed % 4)] = [f"executor {('before', 'after')[seed // 4 % 2]}"]
        found, left = try_schedule(session, folder / f"death-{seed}", schedule)
        wait_for_executors(session, len(WORKERS))
        orphans += left
        wrong += [f"seed {seed}: {one}" for one in found]
    return f"{len(seeds)} executors killed, {orphans} orphans", wrong


def try_copies(session: SparkSession, folder: Path, seeds: Sequence[int]) -> tuple[str, list[str]]:
    """Save once for every seed; in each, one first attempt is slow, and a copy overtakes it."""
    session.dataSource.register(FaultySource)
    wrong, orphans = [], 0
    for seed in seeds:
        found, left = try_schedule(session, folder / f"copy-{seed}", {str(seed % 4): ["slow"]})
        orphans += left
        wrong += [f"seed {seed}: {one}" for one in found]
    return f"{len(seeds)} slow tasks, {orphans} orphans", wrong


def index_and_check(session: SparkSession, folder: Path) -> tuple[str, list[str]]:
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
