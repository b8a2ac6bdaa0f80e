"""Filters in SQL over what compares in its own way."""

from __future__ import annotations

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

FLOAT_TEXTS = r"""
f = 1
f = 0
f = -0.0
f < 0
f <= 0
f > -1
f >= 1
f != 1
f != f
f = cast('nan' as double)
f < cast('nan' as double)
f > cast('inf' as double)
f in (0, 1)
f in (-0.0)
f in (cast('nan' as double), 1)
f not in (0, 1)
f not in (0, null)
f in (1, null)
f between 0 and 2
f not between 0 and 2
f = g
f < g
f is distinct from g
f is not distinct from g
g = 0.1
g > cast(0 as double)
isnan(f)
not isnan(f)
f is null
f + 1 > 1
f / 0 > 1
f * 0 = 0
-f = 0
abs(f) = 1.5
round(f) = 1
floor(f) = -2
ceil(f) = -1
sqrt(n) = 2
power(n, 2) = 9
x like 'a%'
x like 'a\%%'
x like 'a\\%'
x like '%\_'
x like ''
x ilike 'a%'
x not ilike 'A%'
x ilike 'É'
x like '_'
x in ('a', 'B')
x in ('a', null)
x not in ('a', null)
x not in ('a')
x = ''
x < 'a'
lower(x) = 'b'
upper(x) = 'A'
length(x) = 1
char_length(x) = 1
octet_length(x) = 2
character_length(x) = 0
starts_with(x, 'a')
ends_with(x, 'b')
contains(x, '%')
regexp_like(x, '^a')
regexp_match(x, '^a')
regexp_match(x, '^a') is null
not regexp_match(x, '^a')
regexp_match(x, '^a') or n = 1
concat(x, 'x') = 'ax'
x || 'x' = 'ax'
reverse(x) = 'b%a'
replace(x, 'a', 'z') = 'z'
left(x, 1) = 'a'
right(x, 1) = 'b'
strpos(x, 'b') = 3
lpad(x, 2, '-') = '-a'
rpad(x, 2, '-') = 'a-'
repeat(x, 2) = 'aa'
split_part(x, '%', 2) = 'b'
ltrim(x) = 'a'
btrim(x) = 'a'
ascii(x) = 97
coalesce(f, 7) = 7
coalesce(x, 'q') = 'q'
nullif(n, 1) is null
greatest(n, 3) = 3
least(n, 3) = 3
array_has(k, 1)
not array_has(k, 1)
array_contains(k, 2)
list_has(k, 3)
array_has_any(k, [1, 3])
array_has_any(k, make_array(1, 3))
array_has_all(k, [1, 2])
array_has_all(k, [])
array_has_any(k, [])
array_has_any(k, [1, null])
array_has_any(k, [null])
array_has_any(k, null)
not array_has_any(k, null)
array_has_all(k, [1, null])
array_has_all(k, [null, null])
not array_has_all(k, [null])
array_has(k, null)
array_length(k) = 2
array_length(k) = 0
cardinality(k) = 0
array_length(k) is null
k is null
k = [1, 2]
k[1] = 1
k[2] = 3
k[-1] = 1
k[1] is null
array_element(k, 1) = 1
empty(k)
coalesce(case when n = 1 then true end, false)
date_part('year', cast(n as timestamp)) = 1970
_rowid in (1, 3)
_rowid = 1 or n = 3
_rowaddr > 5
_rowoffset = 2
n = 1 and _rowoffset = 1
_row_created_at_version = 1 and n < 2
""".strip().splitlines()
"""Filters over `FLOATS`."""
