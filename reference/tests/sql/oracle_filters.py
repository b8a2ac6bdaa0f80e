"""Filters in SQL that the reference and the oracle have to answer alike, and their tables."""

import decimal
from itertools import combinations

import numpy as np
import pyarrow as pa

FLOATS = pa.table(
    {
        "n": pa.array(range(8)),
        "f": [1.0, float("nan"), None, -0.0, 0.0, float("inf"), -float("inf"), -1.5],
        "g": pa.array([1.0, -float("nan"), 3.0, 0.0, -0.0, 1.0, None, -1.5], pa.float32()),
        "x": ["a", "B", None, "a%b", "A_", "", "ab\\c", "\u00e9"],
        "k": pa.array([[1, 2], None, [], [None, 3], [2], [1, 1], [3, 2, 1], [None]]),
    }
)
"""What compares in its own way: NaN, zeros of both signs, text with signs of patterns, lists."""

FLOAT_FILTERS = r"""
f = 1
f = 0
f = -0.0
f != f
f in (0, 1)
f not in (0, 1)
f = g
f < g
f is distinct from g
isnan(f)
f / 0 > 1
f * 0 = 0
x like '%\_'
x not ilike 'A%'
not regexp_match(x, '^a')
regexp_match(x, '^a') or n = 1
(not (regexp_match(x, '^a') is null)) is true
coalesce(f, 7) = 7
array_has(k, 1)
array_has_any(k, [1, 3])
array_has_any(k, [])
array_has_any(k, [1, null])
array_has_any(k, [null])
not array_has_any(k, null)
array_has_all(k, [1, null])
array_has_all(k, [null, null])
not array_has_all(k, [null])
array_has(k, null)
array_length(k) = 2
k[1] = 1
coalesce(case when n = 1 then true end, false)
_rowid in (1, 3)
_rowid = 1 or n = 3
_rowoffset = 2
f not between 0 and 2
f is not distinct from g
f is distinct from 1
x in ('a', null)
""".strip().splitlines()
"""Filters over `FLOATS`."""

NUMBERS = pa.array([1, 2, None, 3])


def _table() -> pa.Table:
    """Return four rows with a null in each column."""
    widths = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
    widths += (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64())
    names = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")
    columns = {name: NUMBERS.cast(type_) for name, type_ in zip(names, widths, strict=True)}
    halves = [None if one is None else np.float16(one) for one in NUMBERS.to_pylist()]
    columns["f16"] = pa.array(halves, pa.float16())
    text = pa.array(["1", "b", None, "c"])
    columns |= {"s": text, "ls": text.cast(pa.large_utf8()), "dic": text.dictionary_encode()}
    data = pa.array([b"1", b"b", None, b"c"])
    columns |= {"b": data, "lb": data.cast(pa.large_binary()), "fsb": data.cast(pa.binary(1))}
    columns["d32"] = pa.array([1, 2, None, 3], pa.date32())
    columns["d64"] = columns["d32"].cast(pa.date64())
    columns |= {f"t{unit}": NUMBERS.cast(pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")}
    columns["tz"] = NUMBERS.cast(pa.timestamp("us", "UTC"))
    columns["t32"] = NUMBERS.cast(pa.int32()).cast(pa.time32("s"))
    columns["t64"] = NUMBERS.cast(pa.time64("us"))
    columns["dur"] = NUMBERS.cast(pa.duration("us"))
    exact = [None if one is None else decimal.Decimal(one) for one in NUMBERS.to_pylist()]
    columns["dec"] = pa.array(exact, pa.decimal128(10, 2))
    columns["d256"] = pa.array(exact, pa.decimal256(40, 2))
    columns["bo"] = pa.array([True, False, None, True])
    columns["l"] = pa.array([[1], [2], None, [3]])
    columns["st"] = pa.array([{"a": 1}, {"a": 2}, None, {"a": None}])
    columns["fsl"] = pa.array([[1.0, 2.0], [2.0, 2.0], None, [1.0, 1.0]], pa.list_(pa.float32(), 2))
    return pa.table(columns)


TABLE = _table()

LITERALS = (
    "1", "300", "-1", "18446744073709551615", "1.0", "1.5", "'1'", "X'31'", "true", "null",
    "date '1970-01-02'", "timestamp '1970-01-01 00:00:01'", "cast('1' as string)",
    "cast(1 as double)",
)  # fmt: skip

FORMS = ("{} = {}", "not ({} < {})", "{} in ({})")


def matrix() -> list[str]:
    """Return each column against each literal and each other column."""
    names = TABLE.column_names
    against = [form.format(name, one) for name in names for one in LITERALS for form in FORMS]
    return against + [f"{one} = {other}" for one, other in combinations(names, 2)]


FILTERS = r"""
f64 / 0 > 1
not (i64 = 'x')
cast('x' as int) = 1
try_cast(s as int) = 1
cast(f64 as string) = '1.0'
cast(i64 as boolean)
cast(dec as string) = '1.00'
cast(-2.5 as decimal(10,0)) = -3
cast(-1 as int unsigned) = 1
cast(s as binary) = X'62'
cast(d32 as int) = 1
i64::string = '1'
i64 = +1
f64 > 1e400
not (st.a = 1.5)
st.A = 1
st.a.b = 1
bo = 1
i64 = 1 and
(i64 = 1
i64 = 1 -- c
not (i64 between 1.5 and 2)
i64 between symmetric 3 and 1
s = 'it''s'
`s` = "b"
q1.i64 = 1
i64 = `i32`
bo is distinct from true
_rowid in (1,2)
_ROWID = 1
_row_created_at_version = 1
_distance < 1
@a = 1
~bo
i64 div 2 = 1
interval '1 day' = dur
time '00:00:01' = t32
1
array[1,2] = l
exists (select 1)
sum(i64) > 1
i64 == 1
(1,2) = (1,2)
st.b = 1
st['a'] = 1
t32 = cast('00:00:01' as time)
i64 is null
bo is not distinct from null
d32 < current_date
i64 = 7 / 2
i64 = 2 - 1
`nope` = 1
s like 'b'
s like null
s like s
""".strip().splitlines()
"""Filters over `TABLE`, a column of each type."""

ODD_FILTERS = r"""
f is distinct from 0.0
-0.0 is not distinct from f
(f is not distinct from 0.0) is true
tanh(0.0) > f
0.0 between -2.5 and f
f in (tanh(0.0), 1)
u between 1 and (i / -7)
i = abs(l | 3)
ts = cast('2020-01-02' as datetime(6))
y = 0x61
i in ()
b is unknown
b is distinct from true and i = 3
cast(i as bool)
_rowid % 2 = 0
i << 33 = 4
i >> -1 = -1
c / 3 > 0.7
contains(s, 1)
sqrt(l) > 0
li > [2]
li between [1] and [2, 5]
replace(s, '', '-') = '-a-'
not (f is distinct from 0.0)
0.0 not between f and 1.5
0.0 between c and f
cast(i as decimal) = 1
""".strip().splitlines()
"""Filters over the table of `expressions` that once were answered otherwise."""

ODD_COLUMNS = r"""
i + c
c % 2
f % 1.1
l % cast(u as bigint unsigned)
cast(f as string)
cast(g / 1e7 as string)
cast(i as decimal(10,2))
cast(f as decimal(38,10))
try_cast(s as decimal(10,2))
try_cast(s as timestamp)
try_cast(y as int)
arrow_cast(i, 'Duration(Second)')
cast(arrow_cast(l, 'Duration(Millisecond)') as string)
greatest(i, f)
upper('ß')
lpad(s, 2, 'xy')
regexp_replace(s, '[a-b]', '#', 'g')
date_part('epoch', ts)
_rowoffset
1
array_append(li, 1.5)
array_sort(li, 'DESC', 'NULLS LAST')
array_union(li, [1, 9])
array_to_string(lt, '-', 'N')
array_position(li, 2)
string_to_array(s, '%')
range(u)
date_bin(interval '1 month', ts, timestamp '2019-10-31 13:00:00')
date_bin(interval '0 minutes', ts)
to_char(ts, '%b %e, %I %p %A %j')
to_char(arrow_cast(l, 'Duration(Millisecond)'), 'iso8601')
make_date(2020 + u, 2, 30)
encode(y, 'base64')
sha256(s)
digest(y, 'blake2s')
arrow_typeof(make_array(i, i))
substring_index(s, '%', -1)
""".strip().splitlines()
"""Computed columns over the same table; one or two of each family of functions."""
