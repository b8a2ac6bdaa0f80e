"""Functions of moments: the answers are the oracle's."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryFailed, QueryRefused
from pylanceref.sql.expression import bind as bind_sql

FIRST, SECOND = datetime(2020, 1, 31, 12, 30, 45, 123456), datetime(1969, 7, 20, 20, 17)

BATCH = pa.record_batch(
    {
        "m": pa.array([FIRST, None, SECOND], pa.timestamp("us")),
        "z": pa.array([FIRST, None, SECOND], pa.timestamp("ns", "UTC")),
        "d": [date(2020, 1, 31), None, date(1970, 1, 1)],
        "t": pa.array([86_399_000_000, None, 0], pa.time64("us")),
        "n": [5, None, -3],
        "s": ["x", None, "%Y"],
    }
)


def call(text):
    """Return the values of an expression."""
    return bind_sql(text, BATCH.schema).evaluate(BATCH)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("to_char(d, '%Y-%m')", ["2020-01", None, "1970-01"]),
        ("date_format(m, '%d/%m %H:%M:%S')", ["31/01 12:30:45", None, "20/07 20:17:00"]),
        (
            "to_char(m, '%b %e, %I %p %A %j')",
            ["Jan 31, 12 PM Friday 031", None, "Jul 20, 08 PM Sunday 201"],
        ),
        ("to_char(m, '%f %s %%')", ["123456000 1580473845 %", None, "000000000 -14182980 %"]),
        ("to_char(z, '%S%.3f%z')", ["45.123+0000", None, "00.000+0000"]),
        ("to_char(t, '%H')", ["23", None, "00"]),
        ("to_char(d, s)", ["x", None, "1970"]),
        ("to_unixtime(m)", [1580473845, None, -14182980]),
        ("to_unixtime(d)", [1580428800, None, 0]),
        ("to_unixtime(n)", [5, None, -3]),
        (
            "from_unixtime(n)",
            [datetime(1970, 1, 1, 0, 0, 5), None, datetime(1969, 12, 31, 23, 59, 57)],
        ),
        ("make_date(2020 + n, 1, 2)", [date(2025, 1, 2), None, date(2017, 1, 2)]),
        ("m - m", [timedelta(0), None, timedelta(0)]),
        ("datepart('year', d)", [2020, None, 1970]),
        ("datetrunc('day', m)", [datetime(2020, 1, 31), None, datetime(1969, 7, 20)]),
    ],
)
def test_answers(text, wanted):
    """Row by row, null for null."""
    assert wanted == call(text).to_pylist()


@pytest.mark.parametrize(
    ("name", "unit"), [("seconds", "s"), ("millis", "ms"), ("micros", "us"), ("nanos", "ns")]
)
def test_a_number_counts_the_unit(name, unit):
    """From 1970 on."""
    found = call(f"to_timestamp_{name}(n)")
    assert found.type == pa.timestamp(unit)
    assert found.cast(pa.int64()).to_pylist() == [5, None, -3]


def test_local_time_has_no_zone():
    """The hour is that of the zone."""
    assert call("to_local_time(z)").type == pa.timestamp("ns")
    assert call("to_local_time(m)").equals(BATCH["m"])


@pytest.mark.parametrize("text", ["make_date(n + 2000, 2, 30)", "to_char(n, '%Y')"])
def test_what_is_no_moment_is_refused(text):
    """A day that there is not, and a number."""
    with pytest.raises((QueryFailed, QueryRefused)):
        call(text)
