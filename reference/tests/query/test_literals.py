"""Literals in the type of what they meet."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from lanceref.errors import QueryRefused
from lanceref.query.literals import coerce


@pytest.mark.parametrize(
    ("value", "wanted", "made"),
    [
        (pa.scalar(5), pa.int8(), 5),
        (pa.scalar(5), pa.float32(), 5.0),
        (pa.scalar(5), pa.decimal128(10, 2), Decimal("5.00")),
        (pa.scalar(1.1), pa.float32(), pytest.approx(1.1)),
        (pa.scalar("x"), pa.large_string(), "x"),
        (pa.scalar("x"), pa.dictionary(pa.int8(), pa.utf8()), "x"),
        (pa.scalar(b"ab"), pa.binary(2), b"ab"),
        (pa.scalar(date(2020, 1, 1)), pa.timestamp("us"), datetime(2020, 1, 1)),
        (pa.scalar(None), pa.int8(), None),
    ],
)
def test_a_literal_takes_the_type(value, wanted, made):
    """Where the type holds it exactly."""
    assert made == coerce(value, wanted).as_py()


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (pa.scalar(300), pa.uint8()),
        (pa.scalar(-1), pa.uint8()),
        (pa.scalar(1.0), pa.int32()),
        (pa.scalar(1.5), pa.decimal128(10, 2)),
        (pa.scalar("1"), pa.int32()),
        (pa.scalar("true"), pa.bool_()),
        (pa.scalar(1), pa.bool_()),
        (pa.scalar("2020-01-01"), pa.date32()),
        (pa.scalar("ab"), pa.binary()),
        (pa.scalar(b"abc"), pa.binary(2)),
    ],
)
def test_another_kind_is_refused(value, wanted):
    """The text names both types."""
    with pytest.raises(QueryRefused, match="could not convert"):
        coerce(value, wanted)


def test_a_moment_without_a_zone_is_in_that_of_the_column():
    """As if it were written there."""
    made = coerce(pa.scalar(datetime(2020, 1, 1)), pa.timestamp("us", "UTC"))

    assert "UTC" == made.type.tz
    assert "2020-01-01 00:00:00+00:00" == str(made.as_py())
