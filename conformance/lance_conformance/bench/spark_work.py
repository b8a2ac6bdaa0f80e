"""Work for Spark: the pipelines that are measured, each in as many tasks as are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import lanceref
import numpy as np
import pyarrow as pa
from lanceref.distributed_index import build_index
from lanceref.spark.executor import Tasks
from lanceref.validation import validate_with
from pyspark.sql import SparkSession

from lance_conformance.corpus import CASES_OF_A_JOB, Corpus, make_corpus

DIMENSION = 96
"""Numbers of a vector: the fragments of large work are more than a unit of validation."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What is done before the clock starts, and what is timed and can be done again: both get
    folder, tasks, rows."""

    prepare: Callable[[Path, int, int], None]
    run: Callable[[SparkSession, Path, int, int], None]


def _table(folder: Path, tasks: int, rows: int) -> None:
    """Write a table of a fragment for each task, alike in all but the ids."""
    random = np.random.default_rng(3)
    vectors = random.standard_normal(rows * DIMENSION, np.float32)
    words = random.choice(np.array([f"word{n}" for n in range(5000)]), (rows, 8))
    texts = pa.array([" ".join(line) for line in words.tolist()])
    for number in range(tasks):
        ids = pa.array(np.arange(rows) + number * rows)
        arrays = [ids, texts, pa.FixedSizeListArray.from_arrays(pa.array(vectors), DIMENSION)]
        data = pa.table(arrays, names=["id", "text", "vector"])
        lanceref.write_dataset(data, _uri(folder), mode="append" if number else "create")


def _nothing(folder: Path, tasks: int, rows: int) -> None:
    """Prepare nothing."""


def _uri(folder: Path) -> str:
    return str(folder / "table.lance")


def _read(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    frame = session.read.format("lance_reference").load(_uri(folder))
    frame.write.format("noop").mode("overwrite").save()


def _write(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    frame = session.range(0, 10 * tasks * rows, 1, tasks)
    frame = frame.selectExpr("id", "concat('row ', id) AS name", "cast(id as double) / 7 AS value")
    frame.write.format("lance_reference").mode("overwrite").save(_uri(folder))


def _validate(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    report = validate_with(Tasks(session), _uri(folder), deep=True)
    assert not report.findings, json.dumps([str(one) for one in report.findings])


def _index(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    name = uuid4().hex
    build_index(Tasks(session), _uri(folder), "text", "INVERTED", name, shards=tasks)


def _corpus(session: SparkSession, folder: Path, tasks: int, rows: int) -> None:
    """Make one case in each task of small work, else as many as a job has."""
    each = CASES_OF_A_JOB if rows > CASES_OF_A_JOB else 1
    place = Corpus(str(folder / uuid4().hex), 1, False)
    make_corpus(Tasks(session), place, tasks * each, ["2.1"], each)


PIPELINES = {
    "read": Pipeline(_table, _read),
    "write": Pipeline(_nothing, _write),
    "validate": Pipeline(_table, _validate),
    "index": Pipeline(_table, _index),
    "corpus": Pipeline(_nothing, _corpus),
}
"""Pipelines by name."""
