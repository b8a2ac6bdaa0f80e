"""Filter parts: random filters, the oracle's rows beside the reference's.

`grammar` draws expressions of DataFusion's types and functions over one table of all types.
`indexed` draws conditions on columns with an index of each scalar type and asks them with the
indices and without.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.queries.filter_divergences import FRAGMENT_ROWS, divergence_of
from lance_conformance.campaigns.queries.filter_grammar import TABLE, Grammar
from lance_conformance.campaigns.queries.filter_tables import INDEXED, condition, write_indexed
from lance_conformance.campaigns.runner import Outcome, Plan, Session
from lance_conformance.oracle import lance

REFUSALS = (ValueError, TypeError, OSError, RuntimeError, NotImplementedError, pa.ArrowException)
"""What the oracle raises for a filter that it refuses."""

OURS = (LanceError,)
"""What the reference raises; anything else ends the campaign."""


def rows_of(
    dataset: Any,
    text: str,
    refusals: tuple[type[Exception], ...] = REFUSALS,
    **scan: bool,
) -> list[int] | str:
    """Return the addresses of the rows that pass a filter, or why it is refused."""
    try:
        rows = dataset.to_table(columns=[], filter=text, with_row_address=True, **scan)
    except refusals as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the oracle's own class cannot be imported
            raise
        return f"panic: {str(error)[:300]}"
    return sorted(rows["_rowaddr"].to_pylist())


def judge(text: str, wanted: object, found: object) -> Outcome:
    """Compare the answers of the oracle and of the reference to a filter."""
    if wanted == found and not isinstance(wanted, str):
        return Outcome("agreed")
    told = (text, f"oracle    {str(wanted)[:400]}", f"reference {str(found)[:400]}")
    if isinstance(wanted, str) and isinstance(found, str):
        return Outcome("refused", (wanted.partition(":")[0], *told))
    known = divergence_of(text, wanted, found)
    return Outcome("known", (known, *told)) if known else Outcome("differed", told)


@contextmanager
def grammar(plan: Plan) -> Iterator[Session]:
    """Open the part: filters over the table of all types."""
    uri = str(plan.folder / "grammar.lance")
    lance().write_dataset(
        TABLE, uri, mode="overwrite", data_storage_version="2.1", max_rows_per_file=FRAGMENT_ROWS
    )
    theirs, ours = lance().dataset(uri), pylanceref.dataset(uri)

    def run(case: str) -> Outcome:
        text = Grammar(Random(f"{plan.seed}/{case}")).filter()
        return judge(text, rows_of(theirs, text), rows_of(ours, text, OURS))

    yield Session(map(str, range(plan.count)), run)


@contextmanager
def indexed(plan: Plan) -> Iterator[Session]:
    """Open the part: conditions on indexed columns, each with the indices and without.

    The oracle is asked without its indices: what it finds is what the answers of the reference by
    the same files are held to.
    """
    uri = str(plan.folder / "indexed.lance")
    shutil.rmtree(uri, ignore_errors=True)
    write_indexed(uri)
    theirs, ours = lance().dataset(uri), pylanceref.dataset(uri)

    def run(case: str) -> Outcome:
        column = [*INDEXED][int(case) % len(INDEXED)]
        text = condition(Random(f"{plan.seed}/{case}"), column)
        wanted = rows_of(theirs, text, use_scalar_index=False)
        for use_index in (True, False):
            found = rows_of(ours, text, OURS, use_scalar_index=use_index)
            outcome = judge(text, wanted, found)
            if outcome.verdict == "differed":
                break
        counts = {f"conditions by {INDEXED[column]}": 1}
        return Outcome(outcome.verdict, outcome.details, counts)

    yield Session(map(str, range(plan.count)), run)
