"""Types in which values meet, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.query.coercion import common_type, decimal_of

S, US = pa.timestamp("s"), pa.timestamp("us")


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        (pa.int8(), pa.int64(), pa.int64()),
        (pa.uint8(), pa.int8(), pa.int16()),
        (pa.uint8(), pa.int64(), pa.int64()),
        (pa.uint32(), pa.int32(), pa.int64()),
        (pa.uint64(), pa.int8(), pa.decimal128(20, 0)),
        (pa.int64(), pa.float32(), pa.float32()),
        (pa.float16(), pa.float64(), pa.float64()),
        (pa.int64(), pa.decimal128(10, 2), pa.decimal128(22, 2)),
        (pa.decimal128(38, 0), pa.decimal128(10, 5), pa.decimal256(43, 5)),
        (pa.float64(), pa.decimal128(10, 2), pa.decimal128(30, 15)),
        (pa.float16(), pa.decimal128(10, 2), None),
        (pa.utf8(), pa.int32(), pa.int32()),
        (pa.utf8(), pa.date32(), pa.date32()),
        (pa.utf8(), pa.duration("s"), None),
        (pa.utf8(), pa.binary(), pa.large_binary()),
        (pa.binary(3), pa.binary(), pa.binary()),
        (pa.binary(3), pa.large_binary(), None),
        (pa.utf8(), pa.bool_(), None),
        (pa.date32(), S, S),
        (pa.date64(), pa.date32(), pa.date32()),
        (pa.date32(), pa.int32(), pa.date32()),
        (pa.date32(), pa.int16(), None),
        (S, US, US),
        (S, pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
        (pa.null(), pa.int8(), pa.int8()),
        (pa.list_(pa.int8()), pa.list_(pa.int64()), pa.list_(pa.int64())),
        (pa.list_(pa.int8()), pa.int8(), None),
    ],
)
def test_two_types_meet_in_one_or_in_none(left, right, wanted):
    """Whichever stands first."""
    assert wanted == common_type(left, right)
    assert wanted == common_type(right, left)


def test_numbers_as_decimals():
    """Digits enough for every value, or none."""
    assert pa.decimal128(20, 0) == decimal_of(pa.int64())
    assert pa.decimal128(5, 1) == decimal_of(pa.decimal128(5, 1))
    assert decimal_of(pa.float16()) is None
