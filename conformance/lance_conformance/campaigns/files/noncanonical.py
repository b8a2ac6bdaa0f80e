"""Noncanonical part: legal files that no writer makes, read by the reference and by the oracle.

Random tables are written with each variation of `lanceref_testing.noncanonical.variations` alone,
then with all of them. The reference must read equal rows, report no violation of rules that bind
readers, and own every byte. Files that the oracle misreads are counted; a variation with a known
divergence is left out of the files with all variations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pyarrow as pa
from lanceref.core.errors import LanceError
from lanceref.inspection import explain
from lanceref_testing.noncanonical.files import write_noncanonical_file
from lanceref_testing.noncanonical.variations import (
    ALL,
    WRITER_CLAUSES,
    VariationSampler,
    with_prerequisites,
)
from lanceref_testing.tables import random_sample
from pylanceref.file import LanceFileReader

from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session, outcome_of
from lance_conformance.comparison.table_diff import first_difference
from lance_conformance.random_files.oracle_child import OracleChild
from lance_conformance.random_files.unsliced import unsliced
from lance_conformance.random_files.writers import VERSIONS
from lance_conformance.specification.known_divergences import find

TOGETHER = "all together"
"""Name of the cases with all variations that the oracle can read."""

MAX_ROWS, SEEDS = 1200, 1000
"""Most rows of a table, and most seeds that are tried until enough files have a variation."""


def noncanonical(plan: Plan) -> Iterator[Session]:
    """Open the part: each variation in each version, each with its share of the planned files."""
    cases = ["/".join(one) for one in product([*VERSIONS][1:], (*sorted(ALL), TOGETHER))]
    num_files = -(-plan.count // len(cases))
    with closing(OracleChild()) as child:
        yield Session(
            plan.spread(cases), lambda case: run_variation(case, num_files, plan.folder, child)
        )


def run_variation(case: str, num_files: int, directory: Path, oracle: OracleChild) -> Outcome:
    """Write files with one variation, or with all that the oracle reads; both readers read them."""
    version, _, variation = case.partition("/")
    allowed: Collection[str] = with_prerequisites(variation)
    if variation == TOGETHER:
        allowed = {one for one in ALL if find("files/noncanonical", variation=one) is None}
    files, ours, theirs = 0, list[str](), list[str]()
    for seed in range(SEEDS):
        if files == num_files or (seed > SEEDS // 4 and not files):
            break
        table = random_sample(seed, VERSIONS[version]).table.slice(0, MAX_ROWS)
        path, sampler = directory / "noncanonical", VariationSampler(seed, allowed)
        write_noncanonical_file(path, table, VERSIONS[version], sampler)
        if variation != TOGETHER and not sampler.seen[variation]:
            continue
        files += 1
        ours += [f"reference, table {seed}: {text}" for text in reference_errors(path, table)][:1]
        difference = oracle.difference(path, table) if table.num_rows else None
        theirs += [f"oracle, table {seed}: {difference}"] if difference is not None else []
    counts = {f"files, {variation}": files, "oracle wrong": len(theirs)}
    known = find("files/noncanonical", variation=variation)
    if not ours and theirs and known is not None:
        return Outcome("known", (known.id, *theirs), counts)
    return outcome_of([*ours, *theirs], counts=counts)


def reference_errors(path: Path, table: pa.Table) -> Iterator[str]:
    """Yield errors of the reference: a refusal, different rows, findings, or unowned bytes."""
    try:
        rows = LanceFileReader(path).read_all(batch_size=1 << 20).to_table()
    except LanceError as error:
        yield f"{type(error).__name__}: {error}"
        return
    difference = first_difference(unsliced(table), unsliced(rows))
    if difference is not None:
        yield difference
    explanation = explain(path)
    for finding in explanation.findings:
        if finding.severity != "note" and finding.clause not in WRITER_CLAUSES:
            yield finding.message
    for start, end in explanation.unowned:
        yield f"bytes {start} to {end} are not owned"


PARTS = (Part("noncanonical", 2000, noncanonical),)
