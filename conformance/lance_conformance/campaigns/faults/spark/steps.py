"""Spark part: saves with faults, executors that die, and rows that both implementations read.

Cases before `deaths` share a session in one JVM whose tasks are tried three times; `deaths` run on
a master with two workers of one slot, `copies` there with speculation. The rows of the round trip
follow from the number of schedules: at 200 there are ten million.

Saves: tasks fail at random, or executors end. After each there must be every row once, one new
version, and beside its files exactly those of attempts that were not heard. An attempt that was
killed while it wrote may leave one file that it did not tell. Round trip: rows written by tasks are
read with a filter and whole, by the reference and the oracle.
"""

from __future__ import annotations

import json
import random
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError
from lanceref_spark.faulty import FAULTS, FaultySource
from lanceref_spark.session import make_session
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


def all_steps(plan: Plan) -> Iterator[tuple[str, str, Do]]:
    """Yield every step with its name and the session it needs."""
    for seed in plan.seeds:
        yield f"faults/{seed}", "local", partial(save, schedule=draw(seed, 2))
    yield "round trip", "local", partial(round_trip, rows=ROWS_OF_A_SCHEDULE * plan.count)
    for seed in plan.seeds[::SCHEDULES_OF_A_DEATH]:
        yield f"deaths/{seed}", "cluster", partial(die, seed=seed)
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
    uri = str(folder / "round-trip.lance")
    shutil.rmtree(uri, ignore_errors=True)
    frame = session.range(0, rows, 1, 16).selectExpr(*COLUMNS)
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
    fragments = len(table.get_fragments())
    shutil.rmtree(uri)
    return f"{rows} rows in {fragments} fragments, {found} of them by a filter", wrong


def _read(session: SparkSession, uri: str, reader: str, filter_: str = "") -> DataFrame:
    loader = session.read.format("lance_reference").option("reader", reader)
    return (loader.option("filter", filter_) if filter_ else loader).load(uri)


def _sum(frame: DataFrame) -> tuple[int, int]:
    """Return the number of rows and the sum of their hashes."""
    hashes = "sum(cast(xxhash64(id, kind, name, value) as decimal(38, 0)))"
    row = frame.selectExpr("count(*)", hashes).first()
    return int(row[0]), int(row[1] or 0)
