"""Types of casts, by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import QueryRefused
from lanceref.query.dialect import parse_expression
from lanceref.query.sqltypes import arrow_type_of


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("int", pa.int32()),
        ("bigint", pa.int64()),
        ("tinyint unsigned", pa.uint8()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("string", pa.utf8()),
        ("binary", pa.binary()),
        ("date", pa.date32()),
        ("timestamp", pa.timestamp("us")),
        ("timestamp(9)", pa.timestamp("ns")),
        ("decimal(10, 2)", pa.decimal128(10, 2)),
    ],
)
def test_names_are_arrow_types(name, wanted):
    """Moments count microseconds unless the digits of a second are given."""
    assert wanted == arrow_type_of(parse_expression(f"cast(a as {name})").args["to"])


@pytest.mark.parametrize("name", ["time", "uuid", "interval"])
def test_other_names_are_refused(name):
    """The oracle knows no more."""
    with pytest.raises(QueryRefused, match="Unsupported data type"):
        arrow_type_of(parse_expression(f"cast(a as {name})").args["to"])
