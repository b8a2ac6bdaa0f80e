"""Tests of accepted types: which count as one, and that leniency is reported."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lance_conformance.accepted import canonical, leniencies, mismatch

SAME = [
    (pa.string(), pa.large_string()),
    (pa.string(), pa.string_view()),
    (pa.binary(), pa.large_binary()),
    (pa.list_(pa.string()), pa.large_list(pa.large_string())),
    (pa.string(), pa.dictionary(pa.int8(), pa.string())),
    (pa.struct([("x", pa.string())]), pa.struct([pa.field("x", pa.large_string(), False)])),
    (pa.list_(pa.int8(), 3), pa.list_(pa.field("element", pa.int8()), 3)),
]

OTHER = [
    (pa.string(), pa.binary()),
    (pa.int32(), pa.uint32()),
    (pa.list_(pa.int8(), 3), pa.list_(pa.int8(), 4)),
    (pa.list_(pa.int8()), pa.list_(pa.int8(), 4)),
    (pa.timestamp("us"), pa.timestamp("us", "UTC")),
    (pa.struct([("x", pa.int8())]), pa.struct([("y", pa.int8())])),
]


@pytest.mark.parametrize(("ours", "theirs"), SAME)
def test_types_that_count_as_one(ours: pa.DataType, theirs: pa.DataType) -> None:
    """Offset widths, dictionaries, item names and nullability make no other type."""
    assert canonical(ours) == canonical(theirs)


@pytest.mark.parametrize(("ours", "theirs"), OTHER)
def test_types_that_differ(ours: pa.DataType, theirs: pa.DataType) -> None:
    """Any other difference is a mismatch that names both types."""
    told = mismatch(pa.schema([("c", ours)]), pa.schema([("c", theirs)]), {})

    assert told is not None
    assert str(theirs) in told


def test_leniency_is_told() -> None:
    """An accepted type is named with its column, an identical one is not."""
    ours = pa.schema([("a", pa.string()), ("b", pa.list_(pa.int8()))])
    theirs = pa.schema([("a", pa.large_string()), ("b", pa.list_(pa.field("x", pa.int8())))])

    assert ["a: large_string taken for string"] == list(leniencies(ours, theirs))
