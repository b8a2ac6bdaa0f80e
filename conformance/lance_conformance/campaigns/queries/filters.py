"""Filter parts: random filters, the oracle's rows beside the reference's.

`grammar` draws expressions of DataFusion's types and functions over one table of all types.
`indexed` draws conditions on columns with an index of each scalar type and asks them with the
indices and without.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.guarded import guarded
from lance_conformance.campaigns.queries.filter_grammar import TABLE, Grammar
from lance_conformance.campaigns.runner import Outcome, Plan, Session
from lance_conformance.known_divergences import id_of
from lance_conformance.oracle import lance
from lance_conformance.recipes.indexed import create_index

WORDS = ["apple pie", "banana", "an apple", "cherry tree", "", "pineapple", "tree"]
JSONS = ['{"a": 1, "b": "x"}', '{"a": 5}', '{"b": "y"}', '{"a": 12, "b": "x"}']
INDEXED = {
    "n": "BTREE",
    "k": "BITMAP",
    "z": "ZONEMAP",
    "e": "BLOOMFILTER",
    "g": "NGRAM",
    "tags": "LABEL_LIST",
    "w": "FM",
}
"""Columns, and the type of the index over each."""

ROWS = 600


def write_indexed(uri: str) -> None:
    """Let the oracle write the table in three fragments, index it, delete and append rows."""
    dataset = lance().write_dataset(_rows(0, ROWS), uri, max_rows_per_file=ROWS // 3)
    for column, kind in INDEXED.items():
        create_index(lance(), dataset, column, kind, {})
    dataset.delete("id % 11 = 4")
    lance().write_dataset(_rows(ROWS, ROWS // 4), uri, mode="append")


def _rows(start: int, count: int) -> pa.Table:
    random = Random(start)

    def cells(draw: object, nulls: float = 0.1) -> list[object]:
        return [None if random.random() < nulls else draw() for _ in range(count)]  # type: ignore[operator]

    return pa.table(
        {
            "id": pa.array(range(start, start + count), pa.int64()),
            "n": pa.array(cells(lambda: random.randrange(-50, 50)), pa.int32()),
            "k": pa.array(cells(lambda: random.choice("abcdef")), pa.utf8()),
            "z": pa.array(cells(lambda: random.randrange(1000) / 8), pa.float64()),
            "e": pa.array(cells(lambda: random.randrange(200)), pa.int64()),
            "g": pa.array(cells(lambda: random.choice(WORDS)), pa.utf8()),
            "w": pa.array(cells(lambda: random.choice(WORDS)), pa.utf8()),
            "tags": pa.array(
                cells(lambda: random.choices("pqrs", k=random.randrange(3))), pa.list_(pa.utf8())
            ),
        }
    )


def condition(random: Random, column: str) -> str:
    """Return a condition on a column, joined with one on another now and then."""
    text = _leaf(random, column)
    if random.random() < 0.35:
        text = (
            f"({text}) {random.choice(('and', 'or'))} ({_leaf(random, random.choice([*INDEXED]))})"
        )
    return f"not ({text})" if random.random() < 0.15 else text


def _leaf(random: Random, column: str) -> str:
    if random.random() < 0.1:
        return f"{column} is {random.choice(('', 'not '))}null"
    if column == "tags":
        one, other = random.choice("pqrsx"), random.choice("pqrs")
        return random.choice(
            (
                f"array_has(tags, '{one}')",
                f"array_has_any(tags, ['{one}', '{other}'])",
                f"array_has_all(tags, ['{one}', '{other}'])",
            )
        )
    if column in "gw":
        word = random.choice(("apple", "tree", "an", "nana", "zzz", "pie"))
        return random.choice(
            (f"contains({column}, '{word}')", f"{column} = '{random.choice(WORDS)}'")
        )
    literals = [_literal(random, column) for _ in range(3)]
    return random.choice(
        (
            f"{column} {random.choice(('=', '!=', '<', '<=', '>', '>='))} {literals[0]}",
            f"{column} between {literals[0]} and {literals[1]}",
            f"{column} {random.choice(('', 'not '))}in ({', '.join(literals)})",
        )
    )


def _literal(random: Random, column: str) -> str:
    if column == "k":
        return repr(random.choice("abcdefg"))
    return f"{random.randrange(1000) / 8}" if column == "z" else f"{random.randrange(-60, 220)}"


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


REFUSALS = (ValueError, TypeError, OSError, RuntimeError, NotImplementedError, pa.ArrowException)
"""What the oracle raises for a filter that it refuses."""

OURS = (LanceError,)
"""What the reference raises; anything else ends the campaign."""


def rows_of(
    dataset: Any, text: str, refusals: tuple[type[Exception], ...] = REFUSALS, **scan: bool
) -> list[int] | str:
    """Return the addresses of the rows that pass a filter, or why it is refused."""
    asked = {"columns": [], "filter": text, "with_row_address": True, **scan}
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
