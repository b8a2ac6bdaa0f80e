"""Statistics of a file."""

import pyarrow as pa
import pytest
from lanceref.core.errors import BytesError
from lanceref.file_0_1.statistics import covered_fields, parse_statistics

from .building import WORKED, metadata_of, opened, with_metadata, written


def _parse(data: bytes):
    file = opened(data)
    return parse_statistics(file.bytes, file.metadata, file.manifest.extent.offset)


def test_the_statistics_of_the_worked_example():
    """One null, 1 to 3, at the stated bytes."""
    data = written(WORKED)
    found = _parse(data)

    assert [{"null_count": 1, "min_value": 1, "max_value": 3}] == found.by_field["0"].to_pylist()
    assert 44 == metadata_of(data)[1].statistics.page_table_position
    assert [0, 1, 2, 3] == list(metadata_of(data)[1].statistics.fields)
    assert bytes.fromhex("01" + "00" * 7 + "01000000 03000000") == data[28:44]


def test_each_batch_has_a_row():
    """Strings with and without bounds."""
    table = pa.table({"s": ["b", "a", None, None, "c"]})
    rows = _parse(written(table, 2)).by_field["0"].to_pylist()
    assert [(0, "a", "b"), (2, None, None), (0, "c", "c")] == [tuple(row.values()) for row in rows]


def test_fields_below_structs_are_covered_and_below_lists_not():
    """In the order of their ids."""
    table = pa.table(
        {
            "l": pa.array([[1]]),
            "s": pa.array([{"a": 1, "t": None, "b": "x"}]),
            "c": pa.array([1.0]),
        }
    )
    schema = opened(written(table)).manifest.schema
    assert [3, 5, 6] == [field.id for field in covered_fields(schema)]


def test_without_covered_fields_there_are_no_statistics():
    """Timestamps have none."""
    table = pa.table({"t": pa.array([1], pa.timestamp("s"))})
    assert _parse(written(table)) is None
    assert not metadata_of(written(table))[1].HasField("statistics")


def _no_fields(message) -> None:
    message.statistics.ClearField("fields")


def _renamed(message) -> None:
    message.statistics.schema[0].name = "a"


def _far(message) -> None:
    message.statistics.page_table_position = 2**33


@pytest.mark.parametrize(
    ("change", "clause"),
    [
        (_no_fields, "L.legacy.statistics.no-fields"),
        (_renamed, "L.legacy.statistics.schema"),
        (_far, "L.legacy.page-table.extent"),
    ],
)
def test_broken_statistics_are_refused(change, clause):
    """Each fault under its clause."""
    with pytest.raises(BytesError) as refusal:
        _parse(with_metadata(written(WORKED), change))
    assert clause == refusal.value.clause
