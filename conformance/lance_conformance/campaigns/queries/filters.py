"""Grammar part: random filters over one table of all types, by the oracle and by the reference.

A rule lists expressions of one type over the columns of `TABLE`, in which `{a|b}` is either text,
and `<name>` an expression by another rule. Both implementations evaluate functions by DataFusion,
so that rules have a few deterministic functions of each form. The part `answers`, and histories of
tables with indices, draw filters that use an index.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pylanceref
from lanceref.core.errors import LanceError
from lanceref_testing.columns import ORDERED, WORDS, Column, lists, sql

from lance_conformance.campaigns.queries.answers import addresses
from lance_conformance.campaigns.runner import Outcome, Part, Plan, Session
from lance_conformance.guarded_call import REFUSALS, guarded
from lance_conformance.oracle import lance

MOMENTS = [datetime.datetime(1969, 12, 31, 23, 59, 59, 250000), datetime.datetime(1970, 1, 1)]
MOMENTS += [datetime.datetime(2020, month, 29, 12, 30, month) for month in (1, 2, 3, 5, 8, 12)]

ROWS, MOST = 48, 1000
"""Rows of the table, and the largest integer, whose sums do not overflow."""

_SHORT = {f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 32, 64)}
_SHORT |= {"f32": "float32", "f64": "float64", "dec": "decimal128", "flag": "bool"}
_SHORT |= {"s": "utf8", "t": "large_utf8", "bin": "binary"}

_MADE = {
    name: replace(
        of, values=[one for one in of.values if not isinstance(one, int) or abs(one) <= MOST]
    )
    for name, of in ((name, ORDERED[own]) for name, own in _SHORT.items())
}
_PARTS = [{"x": x, "y": y} for x in (1, 5, None) for y in ("p", "q", None)]

COLUMNS: dict[str, Column] = {
    **_MADE,
    "d": Column(pa.date32(), [one.date() for one in MOMENTS], sql),
    "ts": Column(pa.timestamp("us"), MOMENTS, sql),
    "tz": Column(pa.timestamp("ms", "UTC"), MOMENTS, sql),
    "li": lists(_MADE["i64"]),
    "lt": lists(_MADE["s"]),
    "st": Column(pa.struct([("x", pa.int32()), ("y", pa.utf8())]), _PARTS, sql),
}

TABLE = pa.table({name: one.draw(Random(name), ROWS) for name, one in COLUMNS.items()})
"""The filtered rows."""


_CHOICE, _RULE = re.compile(r"\{([^}]*)\}"), re.compile(r"<([a-z ]+)>")


_KINDS = ("integer", "integer", "real", "text", "day", "moment")

_LISTED = {"integer": "number", "text": "word", "day": "date"}

LEAVES = {
    "boolean": ("flag", "true", "false", "flag is null"),
    "integer": ("<integers>", "<number>"),
    "real": ("f32", "f64", "1.5", "0.0", "-2.5", "dec", "cast(i32 as double)"),
    "text": ("<texts>", "<word>"),
}
"""Expressions of the recursive rules at the largest depth."""

RULES: dict[str, Sequence[str]] = {
    "boolean": (
        "(<boolean> {and|or} <boolean>)",
        "not (<boolean>)",
        "(<boolean>) is {true|not true|not false}",
        *["<comparison>"] * 4,
        *["<membership>"] * 2,
        *["<of text>"] * 2,
        "<of list>",
    ),
    "comparison": tuple(
        f"<{kind}> {rest}"
        for kind in _KINDS
        for rest in (
            *[f"<sign> <{kind}>"] * 2,
            f"between <{kind}> and <{kind}>",
            f"is {{|not }}distinct from <{kind}>",
            "is {|not }null",
        )
    ),
    "membership": tuple(
        f"<{kind}> {{|not }}in ({', '.join([f'<{one}>'] * count)})"
        for kind, one in _LISTED.items()
        for count in (1, 2, 3, 4)
    ),
    "of text": (
        "<text> {|not }{like|ilike} {'a%'|'%b'|'%a%'|'_'|'A\\_b'|''|'%'}",
        "{starts_with|ends_with|contains}(<text>, <word>)",
        "regexp_{like|match}(<text>, {'^a'|'[0-9]+'|'b$'})",
    ),
    "of list": (
        *("array_has(li, <number>)", "array_has(lt, <word>)", "array_length(li) > {0|1|2}"),
        *("array_has_any(li, [<number>, <number>])", "array_has_all(lt, [<word>])"),
        *("li[1] = <number>", "isnan(<real>)"),
    ),
    "integer": (
        "<integers>",
        "(<integer> {+|-|*} <integer>)",
        "(<integer> {/|%} {2|3|-7})",
        "abs({i32|i64|st.x} % 1000)",
        "case when <shallow> then <integer> else <integer> end",
        "coalesce(<integer>, <integer>)",
        "cast(<integer> as {bigint|double})",
        "octet_length(<text>)",
        "date_part('{year|month|day|hour|dow|quarter}', {d|ts|tz})",
    ),
    "real": (
        "{f32|f64|dec}",
        "(<real> {+|*} <real>)",
        "{abs|floor}(<real>)",
        "cast({i8|i32|i64|u8|u64|st.x|dec} as {double|float})",
    ),
    "text": (
        "<texts>",
        "{upper|trim}(<text>)",
        "substr(<text>, {1|2|3}, {0|1|2|3})",
        "(<text> || <text>)",
        "coalesce(<text>, <word>)",
        "cast({i32|flag|d|i8|dec} as string)",
    ),
    "day": ("d", "<date>", "cast({d|ts} as date)", "coalesce(d, <date>)"),
    "moment": (
        *("{ts|tz}", "timestamp '{1970-01-01 00:00:00|2020-02-29 12:30:02}'"),
        "date_trunc('{year|week|hour|second}', {ts|tz})",
        *("cast({d|ts} as timestamp)", "date_bin(interval '{1 hour|2 days}', ts)"),
    ),
    "shallow": ("flag", "<comparison>", "<comparison>", "<membership>", "<of text>"),
    "sign": ["=", "!=", "<", "<=", ">", ">="],
    "number": ["0", "1", "2", "3", "-1", "7", "100", "255"],
    "word": tuple(map(sql, WORDS)),
    "date": [f"date '{day}'" for day in ("1970-01-01", "2020-02-29", "2020-05-29", "2021-01-01")],
    "integers": ["i8", "i32", "i64", "u8", "u64", "st.x"],
    "texts": ["s", "t", "st.y"],
}
"""Expressions by rule."""


def expression(name: str, random: Random, depth: int) -> str:
    """Return an expression by a rule, with at most `depth` levels of recursive rules."""
    is_recursive = name in LEAVES
    rules = LEAVES if is_recursive and depth <= 0 else RULES
    text = _CHOICE.sub(lambda match: random.choice(match[1].split("|")), random.choice(rules[name]))
    return _RULE.sub(lambda match: expression(match[1], random, depth - is_recursive), text)


FRAGMENT_ROWS = 20
"""Rows of a fragment of the table of all types."""

ORACLE_REFUSALS = (*REFUSALS, TypeError, RuntimeError, pa.ArrowException)
"""Errors of the oracle for a filter; of the reference any but a LanceError ends the campaign."""


def rows_of(
    dataset: Any, text: str, refusals: tuple[type[Exception], ...] = ORACLE_REFUSALS
) -> list[int] | str:
    """Return the addresses of the rows that pass a filter, or its error."""
    result = guarded(lambda: addresses(dataset, text), refusals)
    return result.value if isinstance(result.value, list) else result.error


def compare(text: str, expected: object, result: object) -> Outcome:
    """Compare the rows or errors of the oracle and of the reference for a filter."""
    if expected == result and not isinstance(expected, str):
        return Outcome("agreed")
    details = (text, f"oracle    {str(expected)[:400]}", f"reference {str(result)[:400]}")
    if isinstance(expected, str) and isinstance(result, str):
        return Outcome("refused", (expected.partition(":")[0], *details))
    return Outcome("differed", details)


def grammar(plan: Plan) -> Iterator[Session]:
    """Open the part: filters over the table of all types."""
    uri = str(plan.folder / "grammar.lance")
    lance().write_dataset(
        TABLE, uri, mode="overwrite", data_storage_version="2.1", max_rows_per_file=FRAGMENT_ROWS
    )
    theirs, ours = lance().dataset(uri), pylanceref.dataset(uri)

    def run(case: str) -> Outcome:
        random = Random(f"{plan.seed}/{case}")
        text = expression("boolean", random, random.choice((1, 2, 2, 3, 4)))
        return compare(text, rows_of(theirs, text), rows_of(ours, text, (LanceError,)))

    yield Session(map(str, range(plan.count)), run)


PARTS = (Part("grammar", 10_000, grammar),)
