"""Random filters: a grammar of the expressions in SQL that DataFusion types.

A rule lists expressions of one type over the columns of `TABLE`; in them `{a|b}` is either text,
and `<name>` an expression by another rule. Rules name functions whose answer depends on nothing but
their arguments: no clocks, no random numbers.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from random import Random

import pyarrow as pa

UTC = datetime.UTC
MOMENTS = [datetime.datetime(1969, 12, 31, 23, 59, 59, 250000), datetime.datetime(1970, 1, 1)]
MOMENTS += [datetime.datetime(2020, month, 29, 12, 30, month) for month in (1, 2, 3, 5, 8, 12)]
WORDS = [
    "",
    "a",
    "B",
    "ab",
    "a%b",
    "A_b",
    " x ",
    "Straße",
    "日本",
    "12",
    "-3.5",
    "a,b,c",
    "2020-02-29",
]


def _cycle(values: list[object], type_: pa.DataType, rows: int = 48, nulls: int = 7) -> pa.Array:
    """Return so many rows of the values in turn, every `nulls`-th one null."""
    cells = [None if row % nulls == 3 else values[row % len(values)] for row in range(rows)]
    return pa.array(cells, type_)


TABLE = pa.table(
    {
        "i8": _cycle([0, 1, -1, 127, -128], pa.int8()),
        "i32": _cycle([0, 1, -1, 7, 100, -(2**31)], pa.int32(), nulls=5),
        "i64": _cycle([0, 1, 2, -3, 10, 2**40], pa.int64()),
        "u8": _cycle([0, 1, 2, 255], pa.uint8()),
        "u64": _cycle([0, 1, 5, 2**63], pa.uint64(), nulls=9),
        "f32": _cycle([0.0, 1.5, -2.25, 100.0], pa.float32()),
        "f64": _cycle([0.0, -0.0, 1.0, -2.5, math.inf, 0.5], pa.float64(), nulls=8),
        "dec": _cycle([Decimal("1.10"), Decimal("-3.25"), Decimal(0)], pa.decimal128(10, 2)),
        "flag": _cycle([True, False], pa.bool_()),
        "s": _cycle(list(WORDS), pa.utf8()),
        "t": _cycle(list(reversed(WORDS)), pa.large_utf8(), nulls=6),
        "bin": _cycle([b"", b"a", b"\x00\xff", b"zz"], pa.binary()),
        "d": _cycle([one.date() for one in MOMENTS], pa.date32()),
        "ts": _cycle(list(MOMENTS), pa.timestamp("us")),
        "tz": _cycle([one.replace(tzinfo=UTC) for one in MOMENTS], pa.timestamp("ms", "UTC")),
        "li": _cycle([[1, 2], [], [3, None], [2], [9, 9, 1]], pa.list_(pa.int64())),
        "lt": _cycle([["a"], [], ["b", None], ["a", "ab"]], pa.list_(pa.utf8())),
        "st": _cycle(
            [{"x": 1, "y": "p"}, {"x": None, "y": "q"}, {"x": 5, "y": None}],
            pa.struct([("x", pa.int32()), ("y", pa.utf8())]),
        ),
    }
)
"""The rows that are filtered."""


_CHOICE, _RULE = re.compile(r"\{([^}]*)\}"), re.compile(r"<([a-z ]+)>")


def _words(text: str) -> tuple[str, ...]:
    """Return alternatives that have no blank in them."""
    return tuple(text.split())


_KINDS = ("integer", "integer", "real", "text", "day", "moment")

_LISTED = {"integer": "number", "text": "word", "day": "date"}

LEAVES = {
    "boolean": ("flag", "true", "false", "flag is null"),
    "integer": ("<integers>", "<number>"),
    "real": ("f32", "f64", "1.5", "0.0", "-2.5", "dec", "cast(i32 as double)"),
    "text": ("<texts>", "<word>"),
}
"""Expressions of the rules that have others of their kind inside, where the filter must end."""

RULES: dict[str, tuple[str, ...]] = {
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
        "regexp_like(<text>, {'^a'|'[0-9]+'|'b$'})",
        "regexp_count(<text>, 'a') <sign> 1",
    ),
    "of list": (
        *("array_has(li, <number>)", "array_has(lt, <word>)", "array_length(li) > {0|1|2}"),
        *("array_has_any(li, [<number>, <number>])", "array_has_all(lt, [<word>])"),
        *("array_position(li, <number>) = 1", "li[1] = <number>", "empty(li)"),
        *("array_to_string(lt, ',') = <word>", "cardinality(lt) = {0|1|2}"),
        *("isnan(<real>)", "iszero(<real>)"),
    ),
    "integer": (
        "<integers>",
        "(<integer> {+|-|*} <integer>)",
        "(<integer> {/|%} {2|3|-7})",
        "factorial({u8 % 5|4})",
        "abs({i32|i64|st.x} % 1000)",
        "case when <shallow> then <integer> else <integer> end",
        "{coalesce|nullif|greatest|least}(<integer>, <integer>)",
        "cast(<integer> as {bigint|double})",
        "{length|octet_length|ascii}(<text>)",
        "strpos(<text>, <word>)",
        "date_part('{year|month|day|hour|minute|second|dow|doy|week|quarter}', <moment>)",
        "date_part('{year|month|day|hour|minute|second|dow|doy|week|quarter}', d)",
        "signum(<integer>)",
        "gcd({i64|u8}, {6|10})",
    ),
    "real": (
        "{f32|f64|dec}",
        "(<real> {+|*} <real>)",
        "{abs|floor|ceil|round|trunc}(<real>)",
        "round(<real>, {0|1|2})",
        "{exp|atan|cbrt|tanh|degrees}(<real>)",
        "{sqrt|ln|log2|log10}(abs(<real>) + 1.0)",
        "power(<real>, {2|0.5|3})",
        "{coalesce|nullif|nanvl}(<real>, <real>)",
        "cast({i8|i32|i64|u8|u64|st.x|dec} as {double|float})",
    ),
    "text": (
        "<texts>",
        "{upper|lower|trim|ltrim|rtrim|btrim}(<text>)",
        "{reverse|initcap|md5}(<text>)",
        "{left|right|repeat}(<text>, {0|1|2|3})",
        "substr(<text>, {1|2|3}, {0|1|2|3})",
        "{lpad|rpad}(<text>, {3|6}, 'xy')",
        "chr({65|97|48})",
        "replace(<text>, <word>, <word>)",
        "split_part(<text>, ',', {1|2})",
        "translate(<text>, 'ab', 'ba')",
        "(<text> || <text>)",
        "concat(<text>, <word>)",
        "concat_ws('-', <text>, <word>)",
        "coalesce(<text>, <word>)",
        "cast({i32|flag|d|i8|dec} as string)",
        "regexp_replace(<text>, '[a-c]', 'z')",
        "encode(bin, '{hex|base64}')",
    ),
    "day": (
        *("d", "<date>", "cast({d|ts} as date)", "coalesce(d, <date>)"),
        *("nullif(d, <date>)", "to_date({d|cast(d as string)})"),
    ),
    "moment": (
        *("{ts|tz}", "timestamp '{1970-01-01 00:00:00|2020-02-29 12:30:02}'"),
        "date_trunc('{year|quarter|month|week|day|hour|minute|second}', {ts|tz})",
        *("cast({d|ts} as timestamp)", "date_bin(interval '{1 hour|2 days}', ts)"),
        *("coalesce(ts, {ts|cast(d as timestamp)})", "to_timestamp({i32|0|ts})"),
    ),
    "shallow": ("flag", "<comparison>", "<comparison>", "<membership>", "<of text>"),
    "sign": _words("= != < <= > >="),
    "number": _words("0 1 2 3 -1 7 100 255"),
    "word": tuple(f"'{word}'" for word in WORDS),
    "date": tuple(f"date '{day}'" for day in _words("1970-01-01 2020-02-29 2020-05-29 2021-01-01")),
    "integers": _words("i8 i32 i64 u8 u64 st.x"),
    "texts": _words("s t st.y"),
}
"""Expressions by the name of their rule."""


def random_filter(random: Random) -> str:
    """Return a condition of at most four levels."""
    return _expression("boolean", random, random.choice((1, 2, 2, 3, 4)))


def _expression(name: str, random: Random, depth: int) -> str:
    """Return an expression by a rule, at most so many levels deep."""
    has_levels = name in LEAVES
    rules = LEAVES if has_levels and depth <= 0 else RULES
    text = _CHOICE.sub(lambda found: random.choice(found[1].split("|")), random.choice(rules[name]))
    return _RULE.sub(lambda found: _expression(found[1], random, depth - has_levels), text)
