"""Spark part: saves with faults, large tables and checks by tasks, and executors that die.

Cases before `deaths` share a session in one JVM whose tasks are tried three times; `deaths` and
`index and check` run on a master with two workers of one slot; `copies` there with speculation.
Sizes follow from the number of schedules: at 200 the round trip has ten million rows.

Saves: tasks fail at random, or executors end. After each there must be every row once, one new
version, and beside its files exactly those of attempts that were not heard. An attempt that was
killed while it wrote may leave one file that it did not tell. Round trip: rows written by tasks are
read with a filter and whole, by the reference and the oracle. The table is then checked by tasks:
whole, and with one byte of two of its files changed, which must be all that is found. Of every
worker the most memory it ever held is reported.
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
from lanceref_spark.faulty import FAULTS, FaultySource, unexpected
from lanceref_spark.jobs import Executor, Job, Result, Shared
from lanceref_spark.session import make_session
from lanceref_spark.validation import validate_with
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lance_conformance.campaigns.faults.spark.cluster import WORKERS, cluster, wait_for_executors
from lance_conformance.campaigns.runner import Outcome, Plan, Session

Told = tuple[str, list[str]]
"""What was done, and what is wrong."""

Do = Callable[[SparkSession, Path], Told]
"""A step: it tells what it did, and what is wrong."""

ERRORS = LanceError, OSError, PySparkException, Py4JError
"""What a step may end in; it is a difference and does not end the others."""

ROWS_OF_A_SCHEDULE = 50_000
SCHEDULES_OF_A_DEATH, COPIES = 10, 3


def spark(plan: Plan) -> Iterator[Session]:
    """Open the part: as many schedules of faults as are planned, and the rest in proportion.

    One session of Spark is open at a time: `local`, `cluster` or `speculation`.
    """
    folder = plan.folder.absolute()
    steps = {name: (where, do) for name, where, do in all_steps(plan)}
    opened = dict[str, SparkSession]()
    with ExitStack() as stack:

        def run(case: str) -> Outcome:
            where, do = steps[case]
            try:
                if where not in opened:
                    stack.close()
                    opened.clear()
                    opened[where] = stack.enter_context(_start(where, folder / "cluster"))
                told, wrong = do(opened[where], folder)
            except ERRORS:
                return Outcome("differed", traceback.format_exc().splitlines()[-8:])
            return Outcome("differed" if wrong else "agreed", [*wrong, told])

        yield Session(steps, run)
    shutil.rmtree(folder / TABLE, ignore_errors=True)


def all_steps(plan: Plan) -> Iterator[tuple[str, str, Do]]:
    """Yield every step with its name and the session it needs."""
    rows = ROWS_OF_A_SCHEDULE * plan.count
    for seed in plan.seeds:
        yield f"faults/{seed}", "local", partial(save, schedule=draw(seed, 2))
    yield "round trip", "local", partial(round_trip, rows=rows)
    yield "check", "local", check
    yield "check damaged", "local", check_damaged
    for seed in plan.seeds[::SCHEDULES_OF_A_DEATH]:
        yield f"deaths/{seed}", "cluster", partial(die, seed=seed)
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
"""Settings of a session in which a task that takes long is done twice."""


@contextmanager
def _start(where: str, folder: Path) -> Iterator[SparkSession]:
    """Yield a session: `local` is one JVM, whose tasks are tried three times."""
    if where != "local":
        with cluster(folder, **(SPECULATION if where == "speculation" else {})) as made:
            yield made
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
    luck = random.Random(seed)
    chosen = [number for number in range(PARTITIONS) if luck.random() < 0.7]
    return {str(n): luck.choices(FAULTS, k=luck.randint(1, most)) for n in chosen}


def die(session: SparkSession, folder: Path, seed: int) -> Told:
    """Save with faults of workers, and one attempt that takes its executor with it."""
    fault = f"executor {('before', 'after')[seed // 4 % 2]}"
    told = save(session, folder, {**draw(seed, 1), str(seed % 4): [fault]})
    wait_for_executors(session, len(WORKERS))
    return told


def save(session: SparkSession, folder: Path, schedule: dict[str, list[str]]) -> Told:
    """Save after a table with faults; tell how many files no version names, and what is wrong."""
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
    wrong = [] if table.version == 2 else [f"version {table.version} after one save"]
    rows = sorted(table.to_table()["id"].to_pylist())
    if rows != sorted([*range(7), *range(ROWS)]):
        wrong.append(f"{len(rows)} rows: {schedule}")
    named = {file.path for one in table.get_fragments() for file in one.data_files()}
    orphans = {path.name for path in Path(uri, "data").iterdir()} - named
    return f"{len(orphans)} orphans", [*wrong, *unexpected(orphans, named, journal)]


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


TABLE, FRAGMENTS = "round-trip.lance", 8
"""Name of the table of a round trip below a folder, and its fragments."""

KINDS = 1000
"""Different values of the column that a round trip filters by."""

COLUMNS = (
    "id",
    f"cast(id % {KINDS} as int) AS kind",
    "if(id % 11 = 0, NULL, concat('row ', id % 100003)) AS name",
    "cast(id as double) / 7 AS value",
)


def round_trip(session: SparkSession, folder: Path, rows: int) -> Told:
    """Write a table, and read it with both readers.

    Rows are compared inside Spark: of a filtered read as sets with their counts, of the whole table
    by their number and the sum of their hashes, which is that of the frame they were written from.
    """
    uri = str(folder / TABLE)
    shutil.rmtree(uri, ignore_errors=True)
    frame = session.range(0, rows, 1, FRAGMENTS).selectExpr(*COLUMNS)
    frame.write.format("lance_reference").mode("append").save(uri)
    table = pylanceref.dataset(uri)
    wrong = [] if table.version == 1 else [f"version {table.version} after one save"]
    readers = {"reference": "reference", "oracle": "pylance"}
    sums = {name: _sum(_read(session, uri, reader)) for name, reader in readers.items()}
    sums["written"] = _sum(frame)
    if len(set(sums.values())) != 1:
        wrong.append(f"number and hash of all rows: {sums}")
    filter_ = f"kind = 7 AND id >= {rows // 2}"
    ours, theirs = (_read(session, uri, one, filter_).cache() for one in readers.values())
    wanted = sum(1 for id_ in range(rows // 2, rows) if id_ % KINDS == 7)
    found = ours.count()
    if found != wanted:
        wrong.append(f"{found} rows where {filter_}, not {wanted}")
    differences = ours.exceptAll(theirs).count(), theirs.exceptAll(ours).count()
    if differences != (0, 0):
        wrong.append(f"rows only in one of reference and oracle: {differences}")
    return (
        f"{rows} rows in {len(table.get_fragments())} fragments, {found} of them by a filter",
        wrong,
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
"""What a worker may hold."""


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
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 0xFF]))
