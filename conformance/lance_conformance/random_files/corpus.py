"""Corpus: random files by the thousand, written and checked by many processes.

Each case is a table drawn from the seed of the corpus, a file version and a number: types, nesting,
nulls, values, storage options. The reference writes it; the reference and, in a process that may
die, the oracle read it back. Neither the bytes nor the index depend on the number of processes. The
index has one line of JSON for each case, with its digest, the labels of the table, and the
differences found.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from random import Random

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref_spark.jobs import Executor

from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.readings import file_differences
from lance_conformance.random_files.testing_package import testing_module
from lance_conformance.random_files.writers import (
    VERSIONS,
    Sample,
    is_oracle_defect,
    write_by_oracle,
    write_by_reference,
)

INDEX = "CORPUS.jsonl"
"""Name of the index."""

CASES_OF_A_JOB = 20

MAX_DEPTH = 4
"""Lists, structs and maps around a leaf."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A folder, the seed of its content, and whether the oracle reads it too."""

    out: str
    seed: int
    oracle: bool


@dataclass(frozen=True, slots=True)
class CorpusJob:
    """A job: numbers from `start` to before `stop` in one file version."""

    version: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A case: its file (None: the writer `refused`), its digest, and the differences found."""

    case: str
    path: str | None
    size: int
    sha256: str
    labels: tuple[str, ...]
    refused: str | None
    differences: tuple[str, ...]


def make_corpus(
    executor: Executor,
    corpus: Corpus,
    count: int,
    versions: Sequence[str],
    cases_of_a_job: int = CASES_OF_A_JOB,
) -> list[IndexEntry]:
    """Write `count` cases in each version, and the index; return its entries.

    Raises ExtraMissing outside a checkout.
    """
    testing_module("tables")
    Path(corpus.out).mkdir(parents=True, exist_ok=True)
    jobs = plan(count, versions, cases_of_a_job)
    entries = [one for done in executor.map(run_job, jobs, corpus) for one in done]
    lines = (json.dumps(asdict(entry), sort_keys=True) + "\n" for entry in entries)
    Path(corpus.out, INDEX).write_text("".join(lines), encoding="utf-8")
    return entries


def plan(count: int, versions: Sequence[str], cases_of_a_job: int) -> list[CorpusJob]:
    """Return the jobs, in the order of the index."""
    return [
        CorpusJob(version, start, min(start + cases_of_a_job, count))
        for version in versions
        for start in range(0, count, cases_of_a_job)
    ]


def run_job(job: CorpusJob, corpus: Corpus) -> list[IndexEntry]:
    """Write the cases of a job and read them back, in any process."""
    with (
        tempfile.TemporaryDirectory(dir=corpus.out, prefix=".making-") as folder,
        closing(OracleChild()) as child,
    ):
        oracle_child = child if corpus.oracle else None
        return [
            _make_case(
                f"{job.version}/{number:06}", job.version, corpus, Path(folder), oracle_child
            )
            for number in range(job.start, job.stop)
        ]


def _make_case(
    case: str, version: str, corpus: Corpus, folder: Path, child: OracleChild | None
) -> IndexEntry:
    draw_sample = testing_module("tables").draw_sample
    sample = draw_sample(Random(f"{corpus.seed}/{case}"), VERSIONS[version], MAX_DEPTH)
    made, labels = folder / "made.lance", tuple(sorted(sample.labels))
    refused = write_by_reference(sample, made)
    if refused is not None:
        return IndexEntry(case, None, 0, "", labels, refused, ())
    differences = _differences(sample, made, corpus.seed, child)
    data = made.read_bytes()
    goal = Path(corpus.out, f"{case}.lance")
    goal.parent.mkdir(exist_ok=True)
    expected = folder / "made.arrow"
    with pa.OSFile(str(expected), "wb") as out, pa.ipc.new_file(out, sample.table.schema) as writer:
        writer.write_table(sample.table)
    expected.replace(goal.with_suffix(".arrow"))
    made.replace(goal)
    digest = sha256(data).hexdigest()
    return IndexEntry(case, f"{case}.lance", len(data), digest, labels, None, differences)


def _differences(
    sample: Sample, made: Path, seed: int, child: OracleChild | None
) -> tuple[str, ...]:
    """Return what the readers read wrongly; a death of the oracle's process counts too."""
    try:
        wrong = list(file_differences(made, sample.table, Random(seed)))
    except LanceError as error:
        wrong = [f"{type(error).__name__}: {error}"]
    if child is not None:
        difference = child.difference(made, sample.table)
        if difference is not None and not _is_oracle_defect(
            difference, sample, made.with_suffix(".theirs"), child
        ):
            wrong.append(f"oracle: {difference}")
    return tuple(wrong)


def _is_oracle_defect(
    difference: str, sample: Sample, oracle_file: Path, child: OracleChild
) -> bool:
    """Whether the oracle has the same difference with a file that it wrote itself."""
    oracle_file.unlink(missing_ok=True)
    write_by_oracle(sample, oracle_file)
    return is_oracle_defect(difference, oracle_file, sample, child)
