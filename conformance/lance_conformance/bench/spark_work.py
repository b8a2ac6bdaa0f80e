"""Work for Spark: the measured pipelines, each with a given number of tasks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pylanceref
from lanceref_spark.distributed_index import build_index
from lanceref_spark.executor import Tasks
from lanceref_spark.jobs import Loop
from lanceref_spark.validation import Report, validate_with
from pyspark.sql import SparkSession

from lance_conformance.random_files.corpus import CASES_OF_A_JOB, Corpus, make_corpus

SMALL_ROWS, LARGE_ROWS = 10, 100_000
"""Rows of a task."""

DIMENSION = 96
"""Dimension of vectors, for which fragments of large work exceed a unit of validation."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A function that prepares the folder, and one that is timed and can be repeated.

    Both get folder, tasks, rows. `share` is the work of one task without Spark; it gets folder and
    rows, and returns its number of rows, units of validation or cases.
    """

    prepare: Callable[[Path, int, int], None]
    run: Callable[[SparkSession, Path, int, int], None]
    share: Callable[[Path, int], int]


def _table(folder: Path, tasks: int, rows: int) -> None:
    """Write a table with a fragment for each task, which differ in the ids alone."""
    random = np.random.default_rng(3)
    vectors = random.standard_normal(rows * DIMENSION, np.float32)
    words = random.choice(np.array([f"word{n}" for n in range(5000)]), (rows, 8))
    texts = pa.array([" ".join(line) for line in words.tolist()])
    for number in range(tasks):
        ids = pa.array(np.arange(rows) + number * rows)
        arrays = [ids, texts, pa.FixedSizeListArray.from_arrays(pa.array(vectors), DIMENSION)]
        data = pa.table(arrays, names=["id", "text", "vector"])
        pylanceref.write_dataset(data, _uri(folder), mode="append" if number else "create")


def _nothing(folder: Path, tasks: int, rows: int) -> None:
    """Prepare nothing."""


def _uri(folder: Path) -> str:
    return str(folder / "table.lance")


def _read(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    frame = session.read.format("lance_reference").load(_uri(folder))
    frame.write.format("noop").mode("overwrite").save()


def _read_share(folder: Path, rows: int) -> int:
    return sum(batch.num_rows for batch in pylanceref.dataset(_uri(folder)).to_batches())


def _write(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    frame = session.range(0, 10 * tasks * rows, 1, tasks)
    frame = frame.selectExpr("id", "concat('row ', id) AS name", "cast(id as double) / 7 AS value")
    frame.write.format("lance_reference").mode("overwrite").save(_uri(folder))


def _write_share(folder: Path, rows: int) -> int:
    numbers = np.arange(10 * rows)
    names = pa.array([f"row {number}" for number in range(rows)] * 10)
    data = pa.table([numbers, names, numbers / 7], names=["id", "name", "value"])
    with tempfile.TemporaryDirectory(dir=folder) as path:
        return pylanceref.write_dataset(data, path, mode="overwrite").count_rows()


def _validate(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    _check(validate_with(Tasks(session), _uri(folder), deep=True))


def _validate_share(folder: Path, rows: int) -> int:
    return _check(validate_with(Loop(), _uri(folder), deep=True))


def _check(report: Report) -> int:
    """Return the number of validated units. Raises AssertionError for a finding."""
    assert not report.findings, json.dumps([str(one) for one in report.findings])
    return len(report.checked)


def _index(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    name = uuid4().hex
    build_index(Tasks(session), _uri(folder), "text", "INVERTED", name, shards=tasks)


def _index_share(folder: Path, rows: int) -> int:
    name = uuid4().hex
    table = build_index(Loop(), _uri(folder), "text", "INVERTED", name, shards=1)
    return cast(int, table.stats.index_stats(name)["num_indexed_rows"])


def _corpus(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    """Make one case in each task of small work, or as many as a job of the corpus has."""
    each = CASES_OF_A_JOB if rows > CASES_OF_A_JOB else 1
    corpus = Corpus(str(folder / uuid4().hex), 1, False)
    make_corpus(Tasks(session), corpus, tasks * each, ["2.1"], each)


def _corpus_share(folder: Path, rows: int) -> int:
    corpus = Corpus(str(folder / uuid4().hex), 1, False)
    return len(make_corpus(Loop(), corpus, CASES_OF_A_JOB, ["2.1"], CASES_OF_A_JOB))


PIPELINES = {
    "read": Pipeline(_table, _read, _read_share),
    "write": Pipeline(_nothing, _write, _write_share),
    "validate": Pipeline(_table, _validate, _validate_share),
    "index": Pipeline(_table, _index, _index_share),
    "corpus": Pipeline(_nothing, _corpus, _corpus_share),
}
"""Pipelines by name."""
