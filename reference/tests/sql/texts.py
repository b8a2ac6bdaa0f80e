"""Filters in SQL and the table they are asked of: a column of each type, with nulls."""

from __future__ import annotations

import decimal

import numpy as np
import pyarrow as pa

NUMBERS = pa.array([1, 2, None, 3])


def _table() -> pa.Table:
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

FORMS = ("{} = {}", "not ({} = {})", "{} in ({})", "{} < {}")


def matrix() -> list[str]:
    """Return each column against each literal and each other column."""
    names = TABLE.column_names
    against = [form.format(name, one) for name in names for one in LITERALS for form in FORMS]
    return against + [f"{one} = {other}" for one in names for other in names]


TEXTS = r"""
i8 + 1 > 200
i64 + 9223372036854775807 > 0
i64 / 0 = 1
f64 / 0 > 1
i64 % 0 = 1
i64 = 7 / 2
i64 * 1.5 = 3
u64 - 2 < 0
u8 - 2 < 0
u32 - 2 < 0
dec * 2 = 4
dec + 0.5 > 2
dec / 3 > 0.5
dec + dec = 4
s + 1 = 2
s || 1 = '11'
i64 || 'a' = '1a'
d32 + 1 > date '1970-01-03'
d32 - d32 = 0
not (i64 = 'x')
not (i64 = '1.5')
not (i64 = ' 1')
cast('x' as int) = 1
cast(s as int) = 1
try_cast(s as int) = 1
cast(f64 as int) = 1
cast(1.7 as int) = i64
cast(-1.7 as int) = -i64
cast(f64 as string) = '1'
cast(f64 as string) = '1.0'
cast(i64 as string) = '1'
cast(bo as string) = 'true'
cast(bo as int) = 1
cast(i64 as boolean)
cast('true' as boolean)
cast('t' as boolean)
cast('yes' as boolean)
cast(d32 as string) = '1970-01-02'
cast(tus as string) = '1970-01-01T00:00:00.000001'
cast(ts as string) = '1970-01-01T00:00:01'
cast(tz as string) = '1970-01-01T00:00:00.000001Z'
cast(dec as string) = '1.00'
cast(dec as int) = 1
cast(2.5 as decimal(10,0)) = 3
cast(-2.5 as decimal(10,0)) = -3
cast(1.005 as decimal(10,2)) = 1.01
cast('1.5' as decimal(10,2)) = 1.5
cast(300 as tinyint) = 1
try_cast(300 as tinyint) is null
cast(-1 as int unsigned) = 1
cast(b as string) = 'b'
cast(s as binary) = X'62'
cast('2020-01-01' as timestamp) > tus
cast('2020-01-01T01:02:03Z' as timestamp) > tus
cast('2020-01-01 01:02:03.5+02:00' as timestamp) > tus
timestamp '2020-13-01' > tus
cast('2020-01-01' as timestamp(3)) > tus
cast('2020-01-01' as timestamp(9)) > tus
cast('2020-01-01' as datetime) > tus
cast(1 as timestamp) = tus
cast(tus as bigint) = 1
cast(d32 as int) = 1
cast(f32 as double) = 1
i64::string = '1'
f32 = 0.1
f32 < cast(0.1 as double)
f16 = f32
i64 = f32 + 0.0
-f64 < 0
-u8 < 0
+i64 = 1
i64 = +1
i64 = 1e0
f64 = 1e0
i64 = .5
f64 > .5
f64 > 1.
f64 > 1e400
i64 > 99999999999999999999999
f64 < 99999999999999999999999
i64 in (1, 2, 3)
i64 in (s)
i64 in (i32, 7)
st.a in (1)
st.a = 1.0
st.a = 1.5
not (st.a = 1.5)
st['a'] = 1
st["a"] = 1
st.A = 1
ST.a = 1
st.b = 1
st.a.b = 1
st[0] = 1
l[1] = 1
l[0] = 1
l[-1] = 1
l[2] is null
fsl[1] = 1
l = [1]
l != [1]
l in ([1],[2])
l < [2]
fsl = [1.0, 2.0]
st = 1
1 = i64
1.5 > i64
'1' = s
'1' = i64
null = i64
i64 is null
i64 is not null
i64 isnull
i64 notnull
not i64 is null
bo is false
bo is not false
bo is null
(i64 = 1) is true
i64 is true
bo and i64 = 1
bo or i64 = 2
not bo and i64 = 2
bo and null
bo or null
not null
null is null
bo = 1
i64 = 1 and
(i64 = 1
i64 == 1
i64 <> 1
i64 != 1
i64 <=> 1
i64 = 1 -- c
i64 /* x */ = 1
i64 between 3 and 1
i64 between 1.5 and 2
not (i64 between 1.5 and 2)
i64 between '1' and '2'
i64 between symmetric 3 and 1
f64 between 1 and 2
s between 'a' and 'c'
d32 between date '1970-01-01' and date '1970-01-02'
i64 = 1 or 2
i64 in (1) = true
s like '%'
s like '_'
s like 'B'
s ilike 'B'
s like '\_'
s like 'b\'
s like null
s not like null
s not ilike 'B'
s like s
i64 like '1'
ls like '_'
dic like '_'
b like '_'
s similar to 'b'
s rlike 'b'
s like 'b' escape '\'
s ~* 'B'
s !~ 'b'
s = 'it''s'
s = "it's"
s = "b"
`s` = "b"
`S` = 'b'
`i64` = 1
q1.i64 = 1
i64 = `i32`
s = E'b'
bo is distinct from true
bo is not distinct from null
null is not distinct from i64
f64 is distinct from 1
_rowid in (1,2)
_rowid = 1.0
_ROWID = 1
_rowaddr between 1 and 2
_rowid = _rowaddr
_row_created_at_version = 1
_row_created_at_version is null
_row_last_updated_at_version < 1
_distance < 1
_score > 1
@a = 1
i64 ^ 1 = 0
i64 | 1 = 1
i64 # 1 = 0
i64 >> 1 = 1
i64 << 1 = 2
~i64 = -2
~bo
i64 xor 1
bo xor bo
i64 div 2 = 1
i64 = all (1)
case i64 when 1 then true else false end
if(i64 = 1, true, false)
interval '1 day' = dur
d32 = current_date
d32 < current_date
d32 < current_date()
tus < current_timestamp
tus < now()
tz < now()
time '00:00:01' = t32
cast('00:00:01' as time) = t32
date '1970-1-2' = d32
date "1970-01-02" = d32
true and true
false
1
'a'
[1]
array[1,2] = l
array[1] = l
make_array(1) = l
{'a':1} = st
struct(1) = st
row(1) = st
(1,2) = (1,2)
(i64, i32) in ((1,1))
exists (select 1)
sum(i64) > 1
""".strip().splitlines()
"""Filters over `TABLE`."""
