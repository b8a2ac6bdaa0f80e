"""Types of casts."""

import pyarrow as pa
import pytest
from lanceref.errors import QueryRefused
from lanceref.query.dialect import parse_expression
from lanceref.query.sqltypes import arrow_type_of


def _type(name):
    return arrow_type_of(parse_expression(f"cast(a as {name})").args["to"])


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("int", pa.int32()),
        ("bigint", pa.int64()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("string", pa.utf8()),
        ("varchar(5)", pa.utf8()),
        ("date", pa.date32()),
        ("timestamp", pa.timestamp("us")),
        ("timestamp(3)", pa.timestamp("ms")),
        ("decimal(10, 2)", pa.decimal128(10, 2)),
        ("decimal", pa.decimal128(10, 0)),
        ("decimal(7)", pa.decimal128(7, 0)),
    ],
)
def test_names(name, type_):
    """As PostgreSQL and the oracle call them."""
    assert type_ == _type(name)


def test_an_unknown_type_is_refused():
    """The name is shown."""
    with pytest.raises(QueryRefused, match="JSON"):
        _type("json")
