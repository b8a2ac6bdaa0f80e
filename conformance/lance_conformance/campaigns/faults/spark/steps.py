"""Spark part: saves with faults, large tables, distributed validation, killed executors.

Cases before `deaths` share a session in one JVM, whose tasks have three attempts; `deaths` and
`index and check` run on a master and two workers of one slot; `copies` with speculative execution.
Sizes are proportional to the number of schedules: at 200 the round trip has ten million rows.

Saves: tasks fail at random, or executors are killed. The table must then have every row once, one
new version, and no other files than its own and those of attempts that were not committed; a killed
attempt may leave one file that it did not report. Round trip: the reference and the oracle read
rows that tasks wrote, all of them and with a filter. Tasks then validate the table, undamaged and
with one byte changed in two of its files, which must be the only findings. The peak memory of every
worker is reported.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import socket
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError
from lanceref_spark.distributed_index import build_index
from lanceref_spark.executor import Tasks
from lanceref_spark.faulty import FAULTS, FaultySource, journal_errors
from lanceref_spark.jobs import Executor, Job, Result, Shared
from lanceref_spark.session import make_session
from lanceref_spark.validation import validate_with
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lance_conformance.campaigns.faults.spark.cluster import WORKERS, cluster, wait_for_executors
from lance_conformance.campaigns.runner import Outcome, Plan, Session

StepResult = tuple[str, list[str]]
"""Summary of a step, and its errors."""

Step = Callable[[SparkSession, Path], StepResult]
"""Runs one case in a session, with a folder for its tables."""

ERRORS = LanceError, OSError, PySparkException, Py4JError
"""Errors of a step, which are differences and do not end the campaign."""

ROWS_PER_SCHEDULE = 50_000
SCHEDULES_PER_DEATH, COPIES = 10, 3


def spark(plan: Plan) -> Iterator[Session]:
    """Open the part: the planned number of schedules of faults, and other cases in proportion.

    One session of Spark is open at a time: `local`, `cluster` or `speculation`.
    """
    folder = plan.folder.absolute()
    steps = {name: (kind, step) for name, kind, step in all_steps(plan)}
    sessions = dict[str, SparkSession]()
    with ExitStack() as stack:

        def run(case: str) -> Outcome:
            kind, step = steps[case]
            try:
                if kind not in sessions:
                    stack.close()
                    sessions.clear()
                    sessions[kind] = stack.enter_context(_start(kind, folder / "cluster"))
                summary, errors = step(sessions[kind], folder)
            except ERRORS:
                return Outcome("differed", traceback.format_exc().splitlines()[-8:])
            return Outcome("differed" if errors else "agreed", [*errors, summary])

        yield Session(steps, run)
    shutil.rmtree(folder / TABLE, ignore_errors=True)


def all_steps(plan: Plan) -> Iterator[tuple[str, str, Step]]:
    """Yield the name of every step, the kind of its session, and the step."""
    rows = ROWS_PER_SCHEDULE * plan.count
    for seed in plan.seeds:
        yield f"faults/{seed}", "local", partial(save, schedule=draw(seed, 2))
    yield "round trip", "local", partial(round_trip, rows=rows)
    yield "check", "local", check
    yield "check damaged", "local", check_damaged
    for seed in plan.seeds[::SCHEDULES_PER_DEATH]:
        yield f"deaths/{seed}", "cluster", partial(save_with_killed_executor, seed=seed)
    yield "index and check", "cluster", index_and_check
    for seed in plan.seeds[:COPIES]:  # the first attempt is slow, and a copy overtakes it
        yield f"copies/{seed}", "speculation", partial(save, schedule={str(seed % 4): ["slow"]})


SPECULATION = {
    "spark_speculation": "true",
    "spark_speculation_interval": "200ms",
    "spark_speculation_quantile": "0.5",
    "spark_speculation_multiplier": "1.2",
    "spark_speculation_minTaskRuntime": "500ms",
}
"""Settings of a session that runs speculative copies of slow tasks."""


@contextmanager
def _start(kind: str, folder: Path) -> Iterator[SparkSession]:
    """Yield a session: `local` is one JVM, whose tasks have three attempts."""
    if kind != "local":
        with cluster(folder, **(SPECULATION if kind == "speculation" else {})) as session:
            yield session
        return
    session = make_session("local[2,3]")
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


PARTITIONS, ROWS = 4, 1000
"""Tasks and rows of a save."""


def draw(seed: int, most: int) -> dict[str, list[str]]:
    """Return the faults of at most `most` attempts of each partition."""
    rng = random.Random(seed)
    chosen = [number for number in range(PARTITIONS) if rng.random() < 0.7]
    return {str(n): rng.choices(FAULTS, k=rng.randint(1, most)) for n in chosen}


def save_with_killed_executor(session: SparkSession, folder: Path, seed: int) -> StepResult:
    """Save with faults of workers, one of which kills its executor."""
    fault = f"executor {('before', 'after')[seed // 4 % 2]}"
    result = save(session, folder, {**draw(seed, 1), str(seed % 4): [fault]})
    wait_for_executors(session, len(WORKERS))
    return result


def save(session: SparkSession, folder: Path, schedule: dict[str, list[str]]) -> StepResult:
    """Append to a table with faults; return the number of orphan files, and errors."""
    session.dataSource.register(FaultySource)
    folder = folder / "save"
    shutil.rmtree(folder, ignore_errors=True)
    journal, uri = folder / "journal", str(folder / "table.lance")
    journal.mkdir(parents=True)
    pylanceref.write_dataset(pa.table({"id": range(7)}), uri)
    options = {"schedule": json.dumps(schedule), "journal": str(journal)}
    frame = session.range(0, ROWS, 1, PARTITIONS)
    frame.write.format("faulty").mode("append").options(**options).save(uri)
    table = pylanceref.dataset(uri)
    errors = [] if table.version == 2 else [f"version {table.version} after one save"]
    rows = sorted(table.to_table()["id"].to_pylist())
    if rows != sorted([*range(7), *range(ROWS)]):
        errors.append(f"{len(rows)} rows: {schedule}")
    named = {file.path for one in table.get_fragments() for file in one.data_files()}
    orphans = {path.name for path in Path(uri, "data").iterdir()} - named
    return f"{len(orphans)} orphans", [*errors, *journal_errors(orphans, named, journal)]


def index_and_check(session: SparkSession, folder: Path) -> StepResult:
    """Build an index by segments on the executors, and validate the table on them."""
    uri = str(folder / "indexed.lance")
    shutil.rmtree(uri, ignore_errors=True)
    pylanceref.write_dataset(pa.table({"n": range(4000)}), uri, max_rows_per_file=500)
    table = build_index(Tasks(session), uri, "n", "BTREE", shards=8, merged=3)
    filter_ = "n BETWEEN 700 AND 2099"
    errors = [] if table.count_rows(filter_) == 1400 else [f"not 1400 rows where {filter_}"]
    report = validate_with(Tasks(session), uri, deep=True)
    errors += [str(one) for one in report.findings]
    return f"8 segments merged to 3; {len(report.checked)} units checked", errors


TABLE, FRAGMENTS = "round-trip.lance", 8
"""Name of the table of the round trip in a folder, and its number of fragments."""

KINDS = 1000
"""Distinct values of the column that the round trip filters by."""

COLUMNS = (
    "id",
    f"cast(id % {KINDS} as int) AS kind",
    "if(id % 11 = 0, NULL, concat('row ', id % 100003)) AS name",
    "cast(id as double) / 7 AS value",
)


def round_trip(session: SparkSession, folder: Path, rows: int) -> StepResult:
    """Write a table, and read it with both readers.

    Spark compares rows: those of a filtered read as multisets, those of the whole table by their
    number and the sum of their hashes, also with the written frame.
    """
    uri = str(folder / TABLE)
    shutil.rmtree(uri, ignore_errors=True)
    frame = session.range(0, rows, 1, FRAGMENTS).selectExpr(*COLUMNS)
    frame.write.format("lance_reference").mode("append").save(uri)
    table = pylanceref.dataset(uri)
    errors = [] if table.version == 1 else [f"version {table.version} after one save"]
    readers = {"reference": "reference", "oracle": "pylance"}
    sums = {name: _sum(_read(session, uri, reader)) for name, reader in readers.items()}
    sums["written"] = _sum(frame)
    if len(set(sums.values())) != 1:
        errors.append(f"number and hash of all rows: {sums}")
    filter_ = f"kind = 7 AND id >= {rows // 2}"
    ours, theirs = (_read(session, uri, one, filter_).cache() for one in readers.values())
    expected = sum(1 for id_ in range(rows // 2, rows) if id_ % KINDS == 7)
    count = ours.count()
    if count != expected:
        errors.append(f"{count} rows where {filter_}, not {expected}")
    differences = ours.exceptAll(theirs).count(), theirs.exceptAll(ours).count()
    if differences != (0, 0):
        errors.append(f"rows only in one of reference and oracle: {differences}")
    return (
        f"{rows} rows in {len(table.get_fragments())} fragments, {count} of them by a filter",
        errors,
    )


def _read(session: SparkSession, uri: str, reader: str, filter_: str = "") -> DataFrame:
    loader = session.read.format("lance_reference").option("reader", reader)
    return (loader.option("filter", filter_) if filter_ else loader).load(uri)


def _sum(frame: DataFrame) -> tuple[int, int]:
    """Return the number of rows and the sum of their hashes."""
    hashes = "sum(cast(xxhash64(id, kind, name, value) as decimal(38, 0)))"
    row = frame.selectExpr("count(*)", hashes).first()
    return int(row[0]), int(row[1] or 0)


MEMORY_MIB = 1024
"""Limit of the peak memory of a worker."""


class MemoryMonitor:
    """An executor that records the peak memory of its workers."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self.peaks: dict[str, int] = {}

    def map(
        self, run: Callable[[Job, Shared], Result], jobs: Sequence[Job], shared: Shared
    ) -> Iterator[Result]:
        """Yield the results in the order of the jobs, and record the MiB of each worker."""
        for result, worker, mib in self._inner.map(partial(_run_measured, run), jobs, shared):
            self.peaks[worker] = max(mib, self.peaks.get(worker, 0))
            yield result

    def result(self, summary: str, errors: list[str]) -> StepResult:
        """Return the summary with the peak of each worker, and the errors with peaks too high."""
        peaks = sorted(self.peaks.items(), key=lambda one: -one[1])
        texts = [f"{worker} held {mib} MiB" for worker, mib in peaks]
        too_high = [text for text, (_, mib) in zip(texts, peaks) if mib > MEMORY_MIB]
        return "; ".join([summary, *texts]), errors + too_high


def _run_measured(
    run: Callable[[Job, Shared], Result], job: Job, shared: Shared
) -> tuple[Result, str, int]:
    result = run(job, shared)
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return result, f"{socket.gethostname()}:{os.getpid()}", mib


def check(session: SparkSession, folder: Path) -> StepResult:
    """Validate the whole table."""
    monitor = MemoryMonitor(Tasks(session))
    report = validate_with(monitor, str(folder / TABLE), deep=True)
    findings = [str(one) for one in report.findings]
    return monitor.result(f"{len(report.checked)} units, {len(findings)} findings", findings)


def check_damaged(session: SparkSession, folder: Path) -> StepResult:
    """Validate the table while the last byte of two of its files is changed."""
    uri, monitor = str(folder / TABLE), MemoryMonitor(Tasks(session))
    fragments = pylanceref.dataset(uri).get_fragments()
    names = [one.data_files()[0].path for one in (fragments[1], fragments[-1])]
    for name in names:
        _flip_last(Path(uri, "data", name))
    try:
        report = validate_with(monitor, uri, deep=True)
    finally:
        for name in names:
            _flip_last(Path(uri, "data", name))
    files = {Path(one.file).name for one in report.findings}
    errors = [] if files == set(names) else [f"found in {sorted(files)}, not in {sorted(names)}"]
    return monitor.result(f"{len(report.findings)} findings in {len(files)} files", errors)


def _flip_last(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 0xFF]))
