"""Noncanonical part: files that no writer makes, read by the reference and by the oracle.

Every oddity that `lanceref_testing.oddities` knows is put by itself into files of random tables,
then all of them together. The reference must read each file equal, find nothing in it that binds
readers and own all of its bytes. What the oracle gets wrong is counted; it is known by the id of a
divergence, and then left out of the files that are odd in every way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref.inspection import explain
from lanceref_testing.odd_files import odd_file
from lanceref_testing.oddities import ALL, WRITERS_ONLY, Chance, with_needs
from lanceref_testing.tables import random_sample
from pylanceref.file import LanceFileReader

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, judged
from lance_conformance.known_divergences import find
from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.settled import settled
from lance_conformance.random_files.writers import VERSIONS
from lance_conformance.table_diff import first_difference

TOGETHER = "all together"
"""Name of the row of files that are odd in every way that the oracle can read."""

MAX_ROWS = 1200
"""Rows of the tables."""

SEEDS = 1000
"""Seeds that are tried until enough files have an oddity."""


def odd(plan: Plan) -> Iterator[Session]:
    """Open the part: each oddity in each version, with as many files of each as are planned."""
    cases = ["/".join(one) for one in product([*VERSIONS][1:], (*sorted(ALL), TOGETHER))]
    num_files = -(-plan.count // len(cases))
    with closing(OracleChild()) as child:
        yield Session(
            plan.spread(cases), lambda case: run_oddity(case, num_files, plan.folder, child)
        )


def run_oddity(case: str, num_files: int, directory: Path, oracle: OracleChild) -> Outcome:
    """Make files with one oddity, or with all that the oracle reads; let both readers read them."""
    version, _, oddity = case.partition("/")
    allowed: Collection[str] = with_needs(oddity)
    if oddity == TOGETHER:
        allowed = {one for one in ALL if find("files/odd", oddity=one) is None}
    files, ours, theirs = 0, list[str](), list[str]()
    for seed in range(SEEDS):
        if files == num_files or (seed > SEEDS // 4 and not files):
            break
        table = random_sample(seed, VERSIONS[version]).table.slice(0, MAX_ROWS)
        path, chance = directory / "odd", Chance(seed, allowed)
        odd_file(path, table, VERSIONS[version], chance)
        if oddity != TOGETHER and not chance.seen[oddity]:
            continue
        files += 1
        ours += [f"reference, table {seed}: {fault}" for fault in our_faults(path, table)][:1]
        told = oracle.difference(path, table) if table.num_rows else None
        theirs += [f"oracle, table {seed}: {told}"] if told is not None else []
    counts = {f"files, {oddity}": files, "oracle wrong": len(theirs)}
    known = find("files/odd", oddity=oddity)
    if not ours and theirs and known is not None:
        return Outcome("known", (known.id, *theirs), counts)
    return judged([*ours, *theirs], counts=counts)


def our_faults(path: Path, table: pa.Table) -> Iterator[str]:
    """Yield what the reference makes of an odd file that it should not."""
    try:
        found = LanceFileReader(path).read_all(batch_size=1 << 20).to_table()
    except LanceError as error:
        yield f"{type(error).__name__}: {error}"
        return
    difference = first_difference(settled(table), settled(found))
    if difference is not None:
        yield difference
    told = explain(path)
    for finding in told.findings:
        if finding.severity != "note" and finding.clause not in WRITERS_ONLY:
            yield finding.message
    for start, end in told.unowned:
        yield f"bytes {start} to {end} are not owned"


PARTS = (Part("odd", 2000, odd),)
