"""Corpus: random files by the thousand, written and checked by many processes.

Each case is a table drawn from the seed of the corpus, a file version and a number: types, how they
are nested, where nulls lie, what values look like, how a writer has to store them. The
reference writes it; the reference and, in a process that may die, the oracle read it back. Which
process does a case, and how many there are, changes no byte, nor the index of the corpus: one line
of JSON for each case, with its digest, what the table holds, and what is wrong.
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

from lance_conformance.checkout import testing_module
from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.readings import file_differences
from lance_conformance.random_files.writers import (
    VERSIONS,
    Sample,
    is_a_defect,
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
    """A folder, the seed that all of it follows from, and whether the oracle reads it too."""

    out: str
    seed: int
    oracle: bool


@dataclass(frozen=True, slots=True)
class Cases:
    """A job: numbers from `start` to before `stop` in one file version."""

    version: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A case: its file (None: the writer `refused`), its digest, and what is wrong."""

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
) -> list[Entry]:
    """Write `count` cases in each version, and the index; return what it says.

    Raises ExtraMissing outside a checkout.
    """
    testing_module("tables")
    Path(corpus.out).mkdir(parents=True, exist_ok=True)
    jobs = plan(count, versions, cases_of_a_job)
    entries = [one for done in executor.map(run, jobs, corpus) for one in done]
    lines = (json.dumps(asdict(entry), sort_keys=True) + "\n" for entry in entries)
    Path(corpus.out, INDEX).write_text("".join(lines), encoding="utf-8")
    return entries


def plan(count: int, versions: Sequence[str], cases_of_a_job: int) -> list[Cases]:
    """Return the jobs, in the order of the index."""
    return [
        Cases(version, start, min(start + cases_of_a_job, count))
        for version in versions
        for start in range(0, count, cases_of_a_job)
    ]


def run(job: Cases, corpus: Corpus) -> list[Entry]:
    """Write the cases of a job and read them back, anywhere."""
    with (
        tempfile.TemporaryDirectory(dir=corpus.out, prefix=".making-") as folder,
        closing(OracleChild()) as child,
    ):
        asked = child if corpus.oracle else None
        return [
            _make(f"{job.version}/{number:06}", job.version, corpus, Path(folder), asked)
            for number in range(job.start, job.stop)
        ]


def _make(
    case: str, version: str, corpus: Corpus, folder: Path, child: OracleChild | None
) -> Entry:
    draw_sample = testing_module("tables").draw_sample
    sample = draw_sample(Random(f"{corpus.seed}/{case}"), VERSIONS[version], MAX_DEPTH)
    made, labels = folder / "made.lance", tuple(sorted(sample.labels))
    refused = write_by_reference(sample, made)
    if refused is not None:
        return Entry(case, None, 0, "", labels, refused, ())
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
    return Entry(case, f"{case}.lance", len(data), digest, labels, None, differences)


def _differences(
    sample: Sample, made: Path, seed: int, child: OracleChild | None
) -> tuple[str, ...]:
    """Tell what the readers get wrong; a death of the oracle's process is a difference too."""
    try:
        wrong = list(file_differences(made, sample.table, Random(seed)))
    except LanceError as error:
        wrong = [f"{type(error).__name__}: {error}"]
    if child is not None:
        told = child.difference(made, sample.table)
        if told is not None and not _is_shared(told, sample, made.with_suffix(".theirs"), child):
            wrong.append(f"oracle: {told}")
    return tuple(wrong)


def _is_shared(told: str, sample: Sample, theirs: Path, child: OracleChild) -> bool:
    """Whether the oracle says the same of the rows when it wrote them itself."""
    theirs.unlink(missing_ok=True)
    write_by_oracle(sample, theirs)
    return is_a_defect(told, theirs, sample, child)
