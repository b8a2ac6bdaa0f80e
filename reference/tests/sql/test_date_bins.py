"""Bins of moments: the answers are the oracle's."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import QueryRefused
from pylanceref.sql.expression import bind as bind_sql

FIRST, SECOND = datetime(2020, 2, 29, 12, 31, 45), datetime(1969, 12, 31, 23, 50)

BATCH = pa.record_batch(
    {
        "m": pa.array([FIRST, None, SECOND], pa.timestamp("us")),
        "d": [date(2020, 1, 31), None, date(1970, 1, 1)],
        "s": ["2020-01-31 10:20:00", None, "1970-01-01 00:01:00"],
        "n": [5, None, -3],
    }
)


def call(text):
    """Return the values of an expression."""
    return bind_sql(text, BATCH.schema).evaluate(BATCH)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (
            "interval '15 minutes', m",
            [datetime(2020, 2, 29, 12, 30), datetime(1969, 12, 31, 23, 45)],
        ),
        ("'15 minutes', m", [datetime(2020, 2, 29, 12, 30), datetime(1969, 12, 31, 23, 45)]),
        ("interval '1 hour 30 minutes', s", [datetime(2020, 1, 31, 9), datetime(1970, 1, 1)]),
        ("interval '2 days', d", [datetime(2020, 1, 31), datetime(1970, 1, 1)]),
        (
            "interval '1 week', d, date '2020-01-03'",
            [datetime(2020, 1, 31), datetime(1969, 12, 26)],
        ),
        ("interval '3 months', m", [datetime(2020, 1, 1), datetime(1969, 10, 1)]),
        ("interval '1 year', m", [datetime(2020, 1, 1), datetime(1969, 1, 1)]),
        (
            "interval '1 month', m, timestamp '2019-10-31 05:00:00'",
            [datetime(2020, 2, 29, 5), datetime(1969, 12, 31, 5)],
        ),
        (
            "interval '1 month', m, timestamp '2019-10-31 13:00:00'",
            [datetime(2020, 1, 31, 13), datetime(1969, 12, 31, 13)],
        ),
    ],
)
def test_a_moment_is_in_the_stretch_that_starts_before_it(arguments, wanted):
    """Null is in none."""
    found = call(f"date_bin({arguments})")

    first, second = wanted
    assert [first, None, second] == [
        None if one is None else one.as_py().replace(tzinfo=None) for one in map(_known, found)
    ]


def _known(value):
    return value if value.is_valid else None


def test_nothing_is_in_a_stretch_of_nothing():
    """Nor is a moment that is not there in any."""
    for arguments in ("null, m", "interval '1 day', null"):
        assert call(f"date_bin({arguments}) is null").to_pylist() == [True] * 3


@pytest.mark.parametrize(
    "arguments",
    [
        "interval '0 minutes', m",
        "interval '1 month 1 day', m",
        "interval '1 foo', m",
        "interval '1 day', n",
        "n, m",
        "5, m",
        "interval '1 day', m, m",
        "interval '1 day', m, null",
        "interval '1 day'",
    ],
)
def test_what_is_no_stretch_or_no_moment_is_refused(arguments):
    """Columns are moments only."""
    with pytest.raises((QueryRefused, pa.ArrowInvalid)):
        call(f"date_bin({arguments})")


@pytest.mark.oracle
def test_the_oracle_bins_the_same(tmp_path):
    """Moments before and after 1970, by stretches of every unit."""
    import lance

    source = random.Random(3)
    moments = [
        datetime(1970, 1, 1) + timedelta(seconds=source.randrange(-(2**31), 2**31))
        for _ in range(60)
    ]
    made = pylanceref.write_dataset(
        pa.table({"m": pa.array(moments, pa.timestamp("us"))}), tmp_path / "t"
    )
    for _ in range(25):
        unit = source.choice(["second", "minute", "hour", "day", "week", "month", "year"])
        start = f", timestamp '{source.choice(moments)}'" if source.random() < 0.5 else ""
        bin_ = f"date_bin(interval '{source.randint(1, 40)} {unit}s', m{start})"
        words = f"{bin_} >= timestamp '{source.choice(moments)}'"
        found = [one.dataset(made.uri).to_table(filter=words) for one in (lance, pylanceref)]
        assert found[0] == found[1], words
        assert made.to_table(filter=f"{bin_} <= m").num_rows == 60, words
