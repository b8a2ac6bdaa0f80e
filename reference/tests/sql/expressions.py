"""Expressions in SQL, over a table of many types: the rows were found with the oracle."""

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa

N = None
DATES = [(2020, 1, 1), (2021, 5, 6), N, (1969, 1, 1), (2020, 1, 2), (2020, 1, 3)]
DAYS = [one and dt.date(*one) for one in DATES]
MOMENTS = [one and dt.datetime(*one) for one in DATES]
MOMENTS[1] = dt.datetime(2021, 5, 6, 7, 8, 9, 10)
STRUCTS = [
    {"x": 1, "y": "p"},
    {"x": 2, "y": N},
    N,
    {"x": N, "y": "q"},
    {"x": 5, "y": "r"},
    {"x": 1, "y": "p"},
]

TABLE = pa.table(
    {
        "i": pa.array([1, 2, N, -3, 0, 5], pa.int32()),
        "l": pa.array([1, 2, N, -3, 0, 2**62], pa.int64()),
        "u": pa.array([1, 2, N, 3, 0, 255], pa.uint8()),
        "f": pa.array([1.5, math.nan, N, -0.0, 0.0, math.inf], pa.float64()),
        "g": pa.array([1.5, math.nan, N, -0.0, 0.0, 2.5], pa.float32()),
        "s": pa.array(["a", "Bc", N, "", "a%b", "xay"]),
        "ls": pa.array(["a", "Bc", N, "", "a%b", "xay"], pa.large_string()),
        "y": pa.array([b"a", b"\x00\xff", N, b"", b"zz", b"q"], pa.binary()),
        "b": pa.array([True, False, N, True, False, N]),
        "d": pa.array(DAYS, pa.date32()),
        "ts": pa.array(MOMENTS, pa.timestamp("us")),
        "tz": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
        "c": pa.array(
            [Decimal("1.10"), Decimal("2.20"), N, Decimal("-3.30"), Decimal(0), Decimal("5.55")],
            pa.decimal128(10, 2),
        ),
        "st": pa.array(STRUCTS),
        "li": pa.array([[1, 2], [], N, [3, N], [2], [9]], pa.list_(pa.int64())),
        "lt": pa.array([["a"], [], N, ["b", N], ["a", "b"], ["c"]], pa.list_(pa.string())),
        "dict": pa.array(["p", "q", N, "p", "r", "q"]).dictionary_encode(),
        "my col": pa.array([1, 2, 3, 4, 5, 6]),
    }
)
"""Six rows; `my col` numbers them from 1."""

_BY_ROWS: list[tuple[list[int], list[str]]] = [
    ([], ["s not in ('a', null)", "i > u"]),
    (
        [1],
        [
            *("s = 'a'", 's = "a"', "s in ('a', null)", "d = date '2020-01-01'"),
            *("ts = timestamp '2020-01-01 00:00:00'", "tz = timestamp '2020-01-01T00:00:00Z'"),
            *("cast(i as string) = '1'", "i::bigint = 1", "li = [1,2]", "'a' = s"),
        ],
    ),
    ([1, 2], ["i = 1 or s = 'Bc' and b is not null"]),
    ([1, 2, 3, 4, 5, 6], ["try_cast(s as int) is null", "true"]),
    ([1, 2, 4, 5], ["i = l"]),
    ([1, 2, 4, 5, 6], ["s = ls", "now() > ts"]),
    ([1, 2, 4, 6], ["dict in ('p','q')"]),
    ([1, 2, 5], ["i between 0 and 2"]),
    ([1, 2, 6], ["f > 1", "c > 1"]),
    ([1, 4], ["b", "d < to_date('2020-01-02')", "dict = 'p'"]),
    ([1, 4, 5], ["f in (1.5, 0)"]),
    ([1, 4, 5, 6], ["g < 1e10"]),
    (
        [1, 5],
        [
            *("starts_with(s,'a')", "regexp_match(s,'^a')", "regexp_match(s,'^a') is not null"),
            *("array_has(li, 2)", "array_has(lt, 'a')"),
        ],
    ),
    ([1, 5, 6], ["contains(s,'a')"]),
    (
        [1, 6],
        [
            *("st.x = 1", "st['x'] = 1", "`st`.`x` = 1", "array_has_any(li, [1,9])"),
            "get_field(st,'x') = 1",
        ],
    ),
    (
        [2],
        [
            *("isnan(f)", "y = X'00ff'", "c = cast(2.2 as decimal(10,2))"),
            "c = decimal(10,2) '2.20'",
        ],
    ),
    ([2, 3, 4, 5, 6], ["i is distinct from 1"]),
    ([2, 5, 6], ["ts > date '2020-01-01'", "tz > timestamp '2020-01-01 00:00:00'"]),
    ([2, 6], ["i > 1", "I > 1"]),
    ([3], ["st is null", "`my col` = 3 and i is null"]),
    ([3, 4], ["st.x is null"]),
    ([4], ["-i = 3"]),
    ([4, 5], ["f = 0", "f = -0.0", "i <= 0"]),
    ([5], ["s like 'a\\%b'", "array_has_all(lt, ['a','b'])"]),
    ([6], ["l = 4611686018427387904", "g = 2.5"]),
]
FOUND = {text: rows for rows, texts in _BY_ROWS for text in texts}
"""Rows for which an expression is true: what `oracle_filters` does not ask of the oracle."""

BY_ADDRESS = ["_rowid > 2", "_rowaddr < 2", "_rowid = 4294967296"]
"""Expressions for a table of two fragments."""

REFUSED = [
    *("i > 1.5", "i = '1'", "i > 9999999999", "u > 300", "u = -1", "l > 1e3", "f = 'nan'"),
    *("i in (1.0, 2)", "c = 1.1", "b = 1", "s > 1", "d > 5", "i / 0 = 1", "ceil(f) = 2"),
    "cast(s as int) = 1",
    *("y = 'a'", "d = '2020-01-01'", "ts > '2020-01-01'", "tz > '2020-01-01T00:00:00Z'"),
    *("s like 'a!%b' escape '!'", "regexp_match(s, '^a') is true"),
    "(not regexp_match(s, '^a')) is not true",
    *("(regexp_match(s, '^a') and i > 1) is not false", "st = struct(1,'p')"),
    *("st.z = 1", "my col > 3", "zz = 1", "a.b.c = 1", "nofunc(i) = 1", "null", "i >"),
    *("case when i > 0 then 'p' else 'n' end = 'p'", "substr(s,1,1) = 'a'", "trim(s) = 'a'"),
    *("s ~ '^a'", "select 1", "i & 1 = 1", "extract(year from d) = 2020"),
    *("ts + interval '1 day' > timestamp '2020-01-02'", "exists(select 1)", "i in (select 1)"),
    *("s similar to 'a.*'", "i = 1 xor b", "i BETWEEN SYMMETRIC 2 AND 0"),
]
"""Expressions that are refused, or fail on the values."""
