"""Expressions in SQL that a search for differences from the oracle turned up, over `TABLE`."""

ODD_FILTERS = r"""
f is distinct from 0.0
not (f is distinct from 0.0)
-0.0 is not distinct from f
(f is not distinct from 0.0) is true
tanh(0.0) > f
0.0 between -2.5 and f
0.0 not between f and 1.5
f in (tanh(0.0), 1)
u between 1 and (i / -7)
i = abs(l | 3)
i = l | 3
ts = cast('2020-01-02' as datetime(6))
y = 0x61
i not in (1.5)
i not between 1.5 and 2
not i in (1.5)
not (i between 1.5 and 2)
b and i not in (1.5, 2)
i in ()
b is unknown
b is not unknown
b is distinct from true and i = 3
s is distinct from 'a' or b
not b is distinct from true and i = 1
cast(s as text) = 'a'
cast(i as varchar) = '1'
cast(i as int8) = 1
cast(i as bool)
cast(i as decimal) = 1
lower(cast(i as text)) = '1'
_rowid % 2 = 0
_rowid * i = 2
i << 33 = 4
i >> -1 = -1
c % 2 = 0.1
c / 3 > 0.7
contains(s, 1)
starts_with(substr(s, 1, 1), 'a')
sqrt(l) > 0
-sqrt(l) > 0
li > [2]
li <= [3, 1]
li between [1] and [2, 5]
lt < ['a', 'c']
lt > lt
replace(s, '', '-') = '-a-'
repeat(s, -1) = ''
cast(i as timestamp) = timestamp '1970-01-01 00:00:00.000001'
cast(ts as bigint) = 1577836800000000
""".strip().splitlines()
"""Filters; each answers or is refused as by the oracle."""

ODD_COLUMNS = r"""
i + c
u * c
l * c
c / c
c % 2
c - f
f % 1.1
l % cast(u as bigint unsigned)
i >> l
cast(f as string)
cast(g as string)
cast(f * 1e20 as string)
cast(g / 1e7 as string)
cast(i as decimal(10,2))
cast(f as decimal(38,10))
try_cast(s as decimal(10,2))
try_cast(g as decimal(4,1))
cast(i as binary)
cast(i as timestamp(0))
cast(ts as double)
cast(d as timestamp)
cast(tz as string)
cast(dict as string)
try_cast(s as timestamp)
try_cast(y as int)
arrow_cast(i, 'Duration(Second)')
cast(arrow_cast(l, 'Duration(Millisecond)') as string)
round(i)
round(c, 1)
signum(i)
power(i, 2)
cbrt(i)
trunc(f, 1)
ceil(f)
abs(ceil(f))
greatest(i, f)
least(f, 0)
greatest(i, null)
nullif(i, 1)
nvl(i, 7)
upper('ß')
lpad(s, 2, 'xy')
rpad(s, 5, 'xy')
ltrim(s, 'a')
split_part(s, '%', -1)
concat(s, i)
contains(s, s)
initcap(s)
translate(s, 'ab', 'x')
concat_ws('-', s, 'x')
regexp_replace(s, '[a-b]', '#', 'g')
regexp_replace(s, '(a)', '<\1>')
to_hex(i)
levenshtein(s, 'ab')
date_part('epoch', ts)
date_part('isodow', d)
date_part('microsecond', ts)
date_trunc('month', d)
to_timestamp(i)
_rowoffset
1
""".strip().splitlines()
"""Computed columns."""
