"""Literals next to columns, by hand."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from pylanceref.sql.strict import coerce


@pytest.mark.parametrize(
    ("value", "type_", "wanted"),
    [
        (pa.scalar(1), pa.int8(), 1),
        (pa.scalar(1), pa.float16(), 1.0),
        (pa.scalar(1), pa.decimal128(5, 2), Decimal("1.00")),
        (pa.scalar(0.1), pa.float32(), 0.10000000149011612),
        (pa.scalar("a"), pa.large_utf8(), "a"),
        (pa.scalar("a"), pa.dictionary(pa.int8(), pa.utf8()), "a"),
        (pa.scalar(b"a"), pa.binary(1), b"a"),
        (pa.scalar(None), pa.list_(pa.int8()), None),
        (pa.scalar((1 << 64) - 1, pa.uint64()), pa.uint64(), (1 << 64) - 1),
    ],
)
def test_a_literal_takes_the_type_of_a_column(value, type_, wanted):
    """Where it is a value of it."""
    assert wanted == coerce(value, type_).as_py()


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (pa.scalar(300), pa.int8()),
        (pa.scalar(-1), pa.uint64()),
        (pa.scalar(1.0), pa.int64()),
        (pa.scalar(1.0), pa.decimal128(5, 2)),
        (pa.scalar("1"), pa.int64()),
        (pa.scalar("1970-01-01"), pa.date32()),
        (pa.scalar(1), pa.utf8()),
        (pa.scalar(1), pa.bool_()),
        (pa.scalar(True), pa.int8()),
        (pa.scalar("a"), pa.binary()),
        (pa.scalar((1 << 64) - 1, pa.uint64()), pa.float16()),
        (pa.scalar([1]), pa.struct({"a": pa.int8()})),
    ],
)
def test_a_literal_that_is_no_value_of_the_type_is_refused(value, type_):
    """Nothing is cut, read or written for it."""
    with pytest.raises(QueryRefused, match="could not convert to literal"):
        coerce(value, type_)
