"""Random filters: a grammar of the expressions in SQL that DataFusion types.

Each rule draws an expression of one type over the columns of `TABLE`. Rules name functions whose
answer depends on nothing but their arguments: no clocks, no random numbers.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
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

INTEGERS = ("i8", "i32", "i64", "u8", "u64", "st.x")
FLOATS = ("f32", "f64")
TEXTS = ("s", "t", "st.y")
PARTS = ("year", "month", "day", "hour", "minute", "second", "dow", "doy", "week", "quarter")
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
SIGNS = ("=", "!=", "<", "<=", ">", ">=")


class Grammar:
    """The rules, drawing from one source of random numbers."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def filter(self) -> str:
        """Return a condition of at most four levels."""
        return self._boolean(self._random.choice((1, 2, 2, 3, 4)))

    def _one(self, *rules: Callable[[], str]) -> str:
        return self._random.choice(rules)()

    def _of(self, *texts: str) -> str:
        return self._random.choice(texts)

    def _boolean(self, depth: int) -> str:
        if depth <= 0:
            return self._of("flag", "true", "false", "flag is null")
        down = depth - 1
        return self._one(
            lambda: f"({self._boolean(down)} {self._of('and', 'or')} {self._boolean(down)})",
            lambda: f"not ({self._boolean(down)})",
            lambda: f"({self._boolean(down)}) is {self._of('true', 'not true', 'not false')}",
            *[lambda: self._comparison(down)] * 4,
            *[lambda: self._membership(down)] * 2,
            *[lambda: self._of_text(down)] * 2,
            lambda: self._of_list(down),
        )

    def _comparison(self, depth: int) -> str:
        rule = self._random.choice(
            (self._integer, self._integer, self._real, self._text, self._day, self._moment)
        )
        left, right = rule(depth), rule(depth)
        return self._one(
            lambda: f"{left} {self._of(*SIGNS)} {right}",
            lambda: f"{left} {self._of(*SIGNS)} {right}",
            lambda: f"{left} between {right} and {rule(depth)}",
            lambda: f"{left} is {self._of('', 'not ')}distinct from {right}",
            lambda: f"{left} is {self._of('', 'not ')}null",
        )

    def _membership(self, depth: int) -> str:
        rule, literal = self._random.choice(
            ((self._integer, self._number), (self._text, self._word), (self._day, self._date))
        )
        listed = ", ".join(literal() for _ in range(self._random.randint(1, 4)))
        return f"{rule(depth)} {self._of('', 'not ')}in ({listed})"

    def _of_text(self, depth: int) -> str:
        text = self._text(depth)
        return self._one(
            lambda: f"{text} {self._of('', 'not ')}{self._of('like', 'ilike')} {self._pattern()}",
            lambda: f"{self._of('starts_with', 'ends_with', 'contains')}({text}, {self._word()})",
            lambda: f"regexp_like({text}, '{self._of('^a', '[0-9]+', 'b$')}')",
            lambda: f"regexp_count({text}, 'a') {self._of(*SIGNS)} 1",
        )

    def _of_list(self, depth: int) -> str:
        number, word = self._number(), self._word()
        return self._of(
            f"array_has(li, {number})",
            f"array_has(lt, {word})",
            f"array_has_any(li, [{number}, {self._number()}])",
            f"array_has_all(lt, [{word}])",
            f"array_length(li) > {self._of('0', '1', '2')}",
            f"array_position(li, {number}) = 1",
            f"li[1] = {number}",
            f"array_to_string(lt, ',') = {word}",
            "empty(li)",
            f"cardinality(lt) = {self._of('0', '1', '2')}",
            f"isnan({self._real(depth)})",
            f"iszero({self._real(depth)})",
        )

    def _number(self) -> str:
        return self._of("0", "1", "2", "3", "-1", "7", "100", "255")

    def _word(self) -> str:
        return f"'{self._random.choice(WORDS)}'"

    def _pattern(self) -> str:
        return self._of("'a%'", "'%b'", "'%a%'", "'_'", "'A\\_b'", "''", "'%'")

    def _date(self) -> str:
        return f"date '{self._of('1970-01-01', '2020-02-29', '2020-05-29', '2021-01-01')}'"

    def _integer(self, depth: int) -> str:
        if depth <= 0:
            return self._one(lambda: self._of(*INTEGERS), self._number)
        inner, other = self._integer(depth - 1), self._integer(depth - 1)
        return self._one(
            lambda: self._of(*INTEGERS),
            lambda: f"({inner} {self._of('+', '-', '*')} {other})",
            lambda: f"({inner} {self._of('/', '%')} {self._of('2', '3', '-7')})",
            lambda: f"factorial({self._of('u8 % 5', '4')})",
            lambda: f"abs({self._of('i32', 'i64', 'st.x')} % 1000)",
            lambda: self._case(inner, other),
            lambda: f"{self._of('coalesce', 'nullif', 'greatest', 'least')}({inner}, {other})",
            lambda: f"cast({inner} as {self._of('bigint', 'double')})",
            lambda: f"{self._of('length', 'octet_length', 'ascii')}({self._text(depth - 1)})",
            lambda: f"strpos({self._text(depth - 1)}, {self._word()})",
            lambda: f"date_part('{self._of(*PARTS)}', {self._moment(depth - 1)})",
            lambda: f"date_part('{self._of(*PARTS)}', d)",
            lambda: f"signum({inner})",
            lambda: f"gcd({self._of('i64', 'u8')}, {self._of('6', '10')})",
        )

    def _case(self, yes: str, no: str) -> str:
        return f"case when {self._boolean(1)} then {yes} else {no} end"

    def _real(self, depth: int) -> str:
        if depth <= 0:
            return self._of(*FLOATS, "1.5", "0.0", "-2.5", "dec", "cast(i32 as double)")
        inner, other = self._real(depth - 1), self._real(depth - 1)
        return self._one(
            lambda: self._of(*FLOATS, "dec"),
            lambda: f"({inner} {self._of('+', '*')} {other})",
            lambda: f"{self._of('abs', 'floor', 'ceil', 'round', 'trunc')}({inner})",
            lambda: f"round({inner}, {self._of('0', '1', '2')})",
            lambda: f"{self._of('exp', 'atan', 'cbrt', 'tanh', 'degrees')}({inner})",
            lambda: f"{self._of('sqrt', 'ln', 'log2', 'log10')}(abs({inner}) + 1.0)",
            lambda: f"power({inner}, {self._of('2', '0.5', '3')})",
            lambda: f"{self._of('coalesce', 'nullif', 'nanvl')}({inner}, {other})",
            lambda: f"cast({self._of(*INTEGERS, 'dec')} as {self._of('double', 'float')})",
        )

    def _text(self, depth: int) -> str:
        if depth <= 0:
            return self._one(lambda: self._of(*TEXTS), self._word)
        inner, count = self._text(depth - 1), self._of("0", "1", "2", "3")
        return self._one(
            lambda: self._of(*TEXTS),
            lambda: f"{self._of('upper', 'lower', 'trim', 'ltrim', 'rtrim', 'btrim')}({inner})",
            lambda: f"{self._of('reverse', 'initcap', 'md5')}({inner})",
            lambda: f"{self._of('left', 'right', 'repeat')}({inner}, {count})",
            lambda: f"substr({inner}, {self._of('1', '2', '3')}, {count})",
            lambda: f"{self._of('lpad', 'rpad')}({inner}, {self._of('3', '6')}, 'xy')",
            lambda: f"chr({self._of('65', '97', '48')})",
            lambda: f"replace({inner}, {self._word()}, {self._word()})",
            lambda: f"split_part({inner}, ',', {self._of('1', '2')})",
            lambda: f"translate({inner}, 'ab', 'ba')",
            lambda: f"({inner} || {self._text(depth - 1)})",
            lambda: f"concat({inner}, {self._word()})",
            lambda: f"concat_ws('-', {inner}, {self._word()})",
            lambda: f"coalesce({inner}, {self._word()})",
            lambda: f"cast({self._of('i32', 'flag', 'd', 'i8', 'dec')} as string)",
            lambda: f"regexp_replace({inner}, '[a-c]', 'z')",
            lambda: f"encode(bin, '{self._of('hex', 'base64')}')",
        )

    def _day(self, depth: int) -> str:
        return self._one(
            lambda: "d",
            self._date,
            lambda: f"cast({self._of('ts', 'd')} as date)",
            lambda: f"coalesce(d, {self._date()})",
            lambda: f"nullif(d, {self._date()})",
            lambda: f"to_date({self._of('d', 'cast(d as string)')})",
        )

    def _moment(self, depth: int) -> str:
        return self._one(
            lambda: self._of("ts", "tz"),
            lambda: f"timestamp '{self._of('1970-01-01 00:00:00', '2020-02-29 12:30:02')}'",
            lambda: f"date_trunc('{self._of(*UNITS)}', {self._of('ts', 'tz')})",
            lambda: f"cast({self._of('d', 'ts')} as timestamp)",
            lambda: f"date_bin(interval '{self._of('1 hour', '2 days')}', ts)",
            lambda: f"coalesce(ts, {self._of('ts', 'cast(d as timestamp)')})",
            lambda: f"to_timestamp({self._of('i32', '0', 'ts')})",
        )
