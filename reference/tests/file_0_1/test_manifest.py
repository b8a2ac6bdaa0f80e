"""Embedded manifest."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import BytesError
from lanceref.file_0_1.check import check_legacy
from lanceref.proto import table_pb2
from lanceref.storage import BytesSource

from .building import WORKED, metadata_of, opened, patched, with_metadata, written


def test_the_manifest_of_the_worked_example():
    """Version 1, the writer, the format, no fragments."""
    data = written(WORKED)
    assert bytes.fromhex("3c000000") == data[108:112]
    message = table_pb2.Manifest.FromString(data[112:172])

    assert 1 == message.version
    assert ("lance", "14.0.2") == (message.writer_version.library, message.writer_version.version)
    assert ("lance", "0.1") == (message.data_format.file_format, message.data_format.version)
    assert ["a"] == [field.name for field in message.fields]
    assert WORKED.schema == opened(data).manifest.schema.arrow


def test_schema_metadata_is_kept():
    """Of the table and of its fields."""
    field = pa.field("a", pa.int8(), metadata={"k": "v"})
    schema = pa.schema([field], metadata={"key": "value"})
    data = written(pa.table({"a": pa.array([1], pa.int8())}, schema=schema))
    assert opened(data).manifest.schema.arrow.equals(schema, check_metadata=True)


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (patched(written(WORKED), 108, b"\xff"), "L.legacy.manifest.section"),
        (patched(written(WORKED), 112, b"\xff\xff"), "L.legacy.manifest.message"),
        (
            with_metadata(written(WORKED), lambda m: setattr(m, "manifest_position", 2**40)),
            "L.legacy.manifest.position",
        ),
    ],
)
def test_a_broken_manifest_is_refused(data, clause):
    """Each fault under its clause."""
    with pytest.raises(BytesError) as refusal:
        opened(data)
    assert clause == refusal.value.clause


def test_a_file_without_manifest_needs_field_ids():
    """A table knows them."""
    data = with_metadata(written(WORKED), lambda m: m.ClearField("manifest_position"))
    field = opened(written(WORKED)).manifest.schema.fields[0]

    with pytest.raises(BytesError):
        opened(data)
    (array,) = opened(data, field_ids=[0]).open_field(field).scan(0, 3)
    assert [1, 0, 3] == array.to_pylist()


def test_another_version_inside_is_reported():
    """A reader does not look at it."""
    data = written(WORKED)
    position = metadata_of(data)[1].manifest_position
    at = data.index(b"\x18\x01", position)
    findings = []
    check_legacy(BytesSource(patched(data, at + 1, b"\x02")), Context("f", findings=findings))
    assert ["L.legacy.manifest.content"] == [finding.clause for finding in findings]
