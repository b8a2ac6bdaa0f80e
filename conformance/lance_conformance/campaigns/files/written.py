"""Writing part: what the reference wrote, both read equal, and whose bytes it has.

The random tables of the differential part, written by the reference and by the oracle. Both readers
read ours back; the oracle's bytes are compared with ours. A table that only the reference refuses
to write is a difference too; one that the oracle cannot read is known where the oracle cannot read
its own file of the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

from lanceref.core.context import Context
from lanceref.core.errors import LanceError
from lanceref.data_file.data_file import open_file
from lanceref.storage import LocalSource

from lance_conformance.campaigns.files.differential import columns_of, drawn, table_names
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged
from lance_conformance.random_files.identity import IDENTICAL, TRAINED, verdict
from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.readings import file_differences
from lance_conformance.random_files.writers import (
    is_a_defect,
    write_by_oracle,
    write_by_reference,
)

VERSIONS = ("2.0", "2.1", "2.2", "2.3")


def written(plan: Plan) -> Iterator[Session]:
    """Open the part: the seeds of a plan in every version that has a writer of single files."""
    with closing(OracleChild()) as child:
        yield Session(table_names(plan, VERSIONS), lambda case: run_table(case, plan.folder, child))


def run_table(case: str, directory: Path, child: OracleChild) -> Outcome:
    """Write the table of a case with both writers, and read ours with both readers."""
    sample, seed = drawn(case), int(case.partition("/")[2])
    ours, theirs = directory / "ours", directory / "theirs"
    theirs.unlink(missing_ok=True)
    refusal, oracle_refusal = write_by_reference(sample, ours), write_by_oracle(sample, theirs)
    if refusal is not None:
        if oracle_refusal is None:
            return Outcome("differed", (f"refused by the reference alone: {refusal}",))
        return Outcome("refused", (refusal,))
    counts = {"refused by the oracle alone": 1} if oracle_refusal else _identity(ours, theirs)
    try:
        differences = list(file_differences(ours, sample.table, Random(seed)))
    except LanceError as error:
        differences = [f"{type(error).__name__}: {error}"]
    told = child.difference(ours, sample.table)
    if told is not None and not is_a_defect(told, theirs, sample, child):
        differences.append(f"oracle: {told}")
    if differences:
        differences.append(columns_of(sample))
    elif told is not None:
        return Outcome("known", (f"the oracle cannot read its own file: {told}",), counts)
    return judged(differences, counts=counts)


def _identity(ours: Path, theirs: Path) -> dict[str, float]:
    """Count a file as identical, as trained at random, or by the field that differs."""
    same = verdict(ours, theirs)
    if same == TRAINED:
        return {"bytes with FSST, not compared": 1}
    opened = open_file(LocalSource(str(ours)), Context(ours.name))
    single = max((len(column.pages) for column in opened.columns), default=0) <= 1
    pages = "one page per column" if single else "several pages"
    if same == IDENTICAL:
        return {f"bytes identical, {pages}": 1}
    what = same.rpartition(": ")[2].lstrip("0123456789 ").partition(" for ")[0]
    return {f"bytes differ, {pages}": 1, f"bytes differ in {what}": 1}


PARTS = (Part("written", 1200, written),)
