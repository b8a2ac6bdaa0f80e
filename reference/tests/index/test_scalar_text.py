"""Scalars as plans show them."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from lanceref.index.predicate import scalar_text

SHOWN = [
    (1, pa.int64(), "1"),
    (1.0, pa.float64(), "1"),
    (1e20, pa.float64(), "100000000000000000000"),
    (1e-7, pa.float64(), "0.0000001"),
    (0.1, pa.float32(), "0.1"),
    (float("nan"), pa.float64(), "NaN"),
    (float("-inf"), pa.float64(), "-inf"),
    (True, pa.bool_(), "true"),
    (b"abc", pa.binary(), "616263"),
    (b"0123456789", pa.large_binary(), "30313233343536373839"),
    (b"0123456789a", pa.binary(11), "30313233343536373839..."),
    (Decimal("1.50"), pa.decimal128(10, 2), "Some(150),10,2"),
    (date(2020, 1, 1), pa.date32(), "2020-01-01"),
    (datetime(2020, 1, 1, tzinfo=UTC), pa.timestamp("us", "UTC"), "1577836800000000"),
    (5, pa.duration("s"), "5"),
    (1000, pa.time32("s"), "1000"),
    ("it's", pa.utf8(), "it's"),
]
"""Value, type, text."""


@pytest.mark.parametrize(("value", "type_", "text"), SHOWN)
def test_a_value_is_shown(value, type_, text):
    """By type: one of each way."""
    assert scalar_text(pa.scalar(value, type_)) == text


@pytest.mark.oracle
def test_plans_show_the_values_that_the_oracle_shows(tmp_path):
    """Of columns with an index each, whatever is asked of them."""
    import lance
    import pylanceref

    names = [f"c{number}" for number in range(len(SHOWN))]
    arrays = [pa.array([value], type_) for value, type_, _ in SHOWN]
    table = lance.write_dataset(pa.table(arrays, names=names), tmp_path)
    for name in names:
        table.create_scalar_index(name, "BTREE")
    floats = [name for name, array in zip(names, arrays, strict=True) if array.type == "double"]
    for condition in (
        *(f"{name} > {value}" for name in floats for value in (1.0, 1e20, 1e-7)),
        "c7 = true",
        "c8 = X'616263'",
        "c12 = date '2020-01-01'",
        "c13 > timestamp '2020-01-01 00:00:00'",
        "c11 > 1",
        "c16 in ('a', 'b')",
    ):
        asked = [
            engine.dataset(tmp_path).scanner(filter=condition).explain_plan().partition("query=")[2]
            for engine in (lance, pylanceref)
        ]
        assert asked[0].strip() == asked[1].strip() != ""
