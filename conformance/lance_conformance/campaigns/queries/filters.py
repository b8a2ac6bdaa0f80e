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
from random import Random
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError

from lance_conformance.campaigns.columns import Column, lists, sql
from lance_conformance.campaigns.conditions import (
    NULL_TESTS,
    Leaf,
    compared,
    either,
    equalled,
    labelled,
    null_test,
    spelled,
)
from lance_conformance.campaigns.guarded import REFUSALS, guarded
from lance_conformance.campaigns.queries.answers import addresses
from lance_conformance.campaigns.queries.filter_grammar import TABLE, random_filter
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.known_divergences import id_of
from lance_conformance.oracle import lance
from lance_conformance.recipes.indexed import create_index

_WORDS = ("apple pie", "banana", "an apple", "cherry tree", "", "pineapple", "tree")
_LETTERS = tuple("abcdefg")
_LABELS = lists(Column(pa.utf8(), tuple("pqrs"), sql))


def _worded(random: Random, name: str, column: Column) -> str:
    """Look for a part of a word, or for a whole text."""
    return random.choice((spelled, equalled))(random, name, column)


INDEXED: dict[str, tuple[str, Column, Leaf]] = {
    "n": ("BTREE", Column(pa.int32(), range(-60, 60), sql), compared),
    "k": ("BITMAP", Column(pa.utf8(), _LETTERS, sql), compared),
    "z": ("ZONEMAP", Column(pa.float64(), [n / 8 for n in range(1000)], sql), compared),
    "e": ("BLOOMFILTER", Column(pa.int64(), range(200), sql), compared),
    "g": ("NGRAM", Column(pa.utf8(), _WORDS, sql), _worded),
    "tags": ("LABEL_LIST", _LABELS, labelled),
    "w": ("FM", Column(pa.utf8(), _WORDS, sql), _worded),
}
"""Columns: the type of the index over each, its values, and how conditions on it are drawn."""

ROWS = 600


def write_indexed(uri: str) -> None:
    """Let the oracle write the table in three fragments, index it, delete and append rows."""
    dataset = lance().write_dataset(_rows(0, ROWS), uri, max_rows_per_file=ROWS // 3)
    for column, (kind, *_) in INDEXED.items():
        create_index(lance(), dataset, column, kind, {})
    dataset.delete("id % 11 = 4")
    lance().write_dataset(_rows(ROWS, ROWS // 4), uri, mode="append")


def _rows(start: int, count: int) -> pa.Table:
    random = Random(start)
    ids = pa.array(range(start, start + count), pa.int64())
    drawn = {name: column.drawn(random, count) for name, (_, column, _) in INDEXED.items()}
    return pa.table({"id": ids, **drawn})


def condition(random: Random, column: str) -> str:
    """Return a condition on a column, joined with one on another now and then."""
    text = _leaf(random, column)
    if random.random() < 0.35:
        text = either(random, text, _leaf(random, random.choice([*INDEXED])))
    return f"not ({text})" if random.random() < 0.15 else text


def _leaf(random: Random, name: str) -> str:
    _, column, leaf = INDEXED[name]
    return null_test(random, name) if random.random() < NULL_TESTS else leaf(random, name, column)


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
    dataset: Any, text: str, refusals: tuple[type[Exception], ...] = ORACLE_REFUSALS, **scan: bool
) -> list[int] | str:
    """Return the addresses of the rows that pass a filter, or why it is refused."""
    found = guarded(lambda: addresses(dataset, text, **scan), refusals)
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
        wanted = rows_of(theirs, text, use_index=False)
        for use_index in (True, False):
            found = rows_of(ours, text, OURS, use_index=use_index)
            outcome = judge(text, wanted, found)
            if outcome.verdict == "differed":
                break
        counts = {f"conditions by {INDEXED[column][0]}": 1}
        return Outcome(outcome.verdict, outcome.details, counts)

    yield Session(map(str, range(plan.count)), run)


PARTS = (
    Part("grammar", 10_000, grammar),
    Part(
        "indexed", 2100, indexed, {"": [f"conditions by {kind}" for kind, *_ in INDEXED.values()]}
    ),
)
