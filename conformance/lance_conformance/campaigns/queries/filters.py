"""Grammar part: random filters, the oracle's rows beside the reference's.

Expressions of DataFusion's types and functions are drawn over one table of all types. Conditions on
columns with indices are asked by the parts `answers` and, after any operations, by `histories`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.guarded import REFUSALS, guarded
from lance_conformance.campaigns.queries.filter_grammar import TABLE, random_filter
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.known_divergences import id_of
from lance_conformance.oracle import lance

FRAGMENT_ROWS = 20
"""Rows of a fragment of the table of all types."""

ZEROS = re.compile(r"coalesce\(0\.0, (?:dec|f64|f32|\()")
"""A zero that is only there after the expression was simplified."""

YEARS = re.compile(r"date_part\('year', cast\(\w+ as timestamp\)\) \D*(-?\d+(?:, -?\d+)*)")
"""A year of nanoseconds that is compared with numbers, whose bounds the oracle takes."""

NANOSECONDS = range(1678, 2262)
"""Years whose bounds are nanoseconds of 64 bits."""


def divergence_of(text: str, wanted: object, found: object) -> str | None:
    """Return the id of the divergence that a filter shows, None where there is none.

    `wanted` and `found` are addresses of rows, or the text of a refusal.
    """
    if "round(" in text and "Invalid comparison operation: Decimal128" in str(found):
        return id_of("queries/grammar", "rounded decimals are compared")
    if not (isinstance(wanted, list) and isinstance(found, list)):
        return None
    years = {int(year) for numbers in YEARS.findall(text) for year in numbers.split(", ")}
    if not years <= {*NANOSECONDS} and {*wanted} < {*found}:
        return id_of("queries/grammar", "a year that nanoseconds do not have")
    if not ZEROS.search(text):
        return None
    different = {(one >> 32) * FRAGMENT_ROWS + (one & 0xFFFFFFFF) for one in {*wanted} ^ {*found}}
    values = TABLE["f64"].to_pylist()
    is_zero = all(values[row] == 0 and math.copysign(1, values[row]) < 0 for row in different)
    return id_of("queries/grammar", "zeros differ by their sign") if is_zero else None


ORACLE_REFUSALS = (*REFUSALS, TypeError, RuntimeError, pa.ArrowException)
"""What the oracle raises for a filter that it refuses."""

OURS = (LanceError,)
"""What the reference raises; anything else ends the campaign."""


def rows_of(
    dataset: Any, text: str, refusals: tuple[type[Exception], ...] = ORACLE_REFUSALS
) -> list[int] | str:
    """Return the addresses of the rows that pass a filter, or why it is refused."""
    asked = {"columns": [], "filter": text, "with_row_address": True}
    found = guarded(lambda: sorted(dataset.to_table(**asked)["_rowaddr"].to_pylist()), refusals)
    return found.value if isinstance(found.value, list) else found.error


def judge(text: str, wanted: object, found: object) -> Outcome:
    """Compare the answers of the oracle and of the reference to a filter."""
    if wanted == found and not isinstance(wanted, str):
        return Outcome("agreed")
    told = (text, f"oracle    {str(wanted)[:400]}", f"reference {str(found)[:400]}")
    if isinstance(wanted, str) and isinstance(found, str):
        return Outcome("refused", (wanted.partition(":")[0], *told))
    known = divergence_of(text, wanted, found)
    return Outcome("known", (known, *told)) if known else Outcome("differed", told)


def grammar(plan: Plan) -> Iterator[Session]:
    """Open the part: filters over the table of all types."""
    uri = str(plan.folder / "grammar.lance")
    lance().write_dataset(
        TABLE, uri, mode="overwrite", data_storage_version="2.1", max_rows_per_file=FRAGMENT_ROWS
    )
    theirs, ours = lance().dataset(uri), pylanceref.dataset(uri)

    def run(case: str) -> Outcome:
        text = random_filter(Random(f"{plan.seed}/{case}"))
        return judge(text, rows_of(theirs, text), rows_of(ours, text, OURS))

    yield Session(map(str, range(plan.count)), run)


PARTS = (Part("grammar", 10_000, grammar),)
