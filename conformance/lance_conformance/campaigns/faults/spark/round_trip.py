"""Round trip: rows written by tasks, read with a filter and whole, by the reference and the oracle.

Rows are compared inside Spark: of a filtered read as sets with their counts, of the whole table by
their number and the sum of their hashes, which is that of the data frame they were written from.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pylanceref
from pyspark.sql import DataFrame, SparkSession

from lance_conformance.campaigns.faults.spark.schedules import Told

PARTITIONS = 16
KINDS = 1000


def rows_of(session: SparkSession, count: int) -> DataFrame:
    """Return numbered rows with a kind, a name and a value, some of them null."""
    return session.range(0, count, 1, PARTITIONS).selectExpr(
        "id",
        f"cast(id % {KINDS} as int) AS kind",
        "if(id % 11 = 0, NULL, concat('row ', id % 100003)) AS name",
        "cast(id as double) / 7 AS value",
    )


def round_trip(session: SparkSession, folder: Path, rows: int) -> Told:
    """Write a table, and read it with both readers."""
    uri = str(folder / "round-trip.lance")
    shutil.rmtree(uri, ignore_errors=True)
    frame = rows_of(session, rows)
    frame.write.format("lance_reference").mode("append").save(uri)
    table = pylanceref.dataset(uri)
    wrong = [] if table.version == 1 else [f"version {table.version} after one save"]
    sums = {
        "written": _sum(frame),
        "reference": _sum(_read(session, uri, "reference")),
        "oracle": _sum(_read(session, uri, "pylance")),
    }
    if len(set(sums.values())) != 1:
        wrong.append(f"number and hash of all rows: {sums}")
    filter_ = f"kind = 7 AND id >= {rows // 2}"
    ours = _read(session, uri, "reference", filter_).cache()
    theirs = _read(session, uri, "pylance", filter_).cache()
    wanted = sum(1 for id_ in range(rows // 2, rows) if id_ % KINDS == 7)
    found = ours.count()
    if found != wanted:
        wrong.append(f"{found} rows where {filter_}, not {wanted}")
    differences = ours.exceptAll(theirs).count(), theirs.exceptAll(ours).count()
    if differences != (0, 0):
        wrong.append(f"rows only in one of reference and oracle: {differences}")
    if not wrong:
        shutil.rmtree(uri)
    fragments = len(table.get_fragments())
    return f"{rows} rows in {fragments} fragments, {found} of them by a filter", wrong


def _read(session: SparkSession, uri: str, reader: str, filter_: str | None = None) -> DataFrame:
    loader = session.read.format("lance_reference").option("reader", reader)
    if filter_ is not None:
        loader = loader.option("filter", filter_)
    return loader.load(uri)


def _sum(frame: DataFrame) -> tuple[int, int]:
    """Return the number of rows and the sum of their hashes."""
    hashes = "sum(cast(xxhash64(id, kind, name, value) as decimal(38, 0)))"
    row = frame.selectExpr("count(*)", hashes).first()
    return int(row[0]), int(row[1] or 0)
