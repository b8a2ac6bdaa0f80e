"""Names of Arrow types in casts."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.arrow_names import arrow_type_named
from lanceref.core.errors import QueryRefused


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("Int8", pa.int8()),
        ("FixedSizeList(32, Float32)", pa.list_(pa.float32(), 32)),
        ("FixedSizeList(3 x Float16)", pa.list_(pa.float16(), 3)),
        ("List(FixedSizeList(2, Utf8))", pa.list_(pa.list_(pa.utf8(), 2))),
        ("Timestamp(Nanosecond, None)", pa.timestamp("ns")),
        ('Timestamp(Millisecond, Some("UTC"))', pa.timestamp("ms", "UTC")),
        ("Decimal128(10, 2)", pa.decimal128(10, 2)),
        ("Dictionary(Int32, Utf8)", pa.dictionary(pa.int32(), pa.utf8())),
        ("FixedSizeBinary(4)", pa.binary(4)),
        ("Time64(Nanosecond)", pa.time64("ns")),
    ],
)
def test_names_are_types(text, type_):
    """With their parameters, one inside of the other."""
    assert type_ == arrow_type_named(text)


@pytest.mark.parametrize(
    "text", ["foo", "Struct([])", "int8", "List()", "FixedSizeList(-1, Int8)", "Decimal128(1)"]
)
def test_other_names_are_refused(text):
    """They name no type."""
    with pytest.raises(QueryRefused, match="Unsupported type"):
        arrow_type_named(text)
