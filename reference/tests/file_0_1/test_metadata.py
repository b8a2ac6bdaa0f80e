"""Metadata of 0.1 files."""

import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import BytesError
from lanceref.file_0_1.footer import Footer, parse_metadata, write_section
from lanceref.proto import file_pb2
from lanceref.storage import BytesSource

from .building import file_bytes

MESSAGE = file_pb2.Metadata(batch_offsets=[0, 2, 3], manifest_position=7, page_table_position=9)


def _section(**change) -> bytes:
    message = file_pb2.Metadata()
    message.CopyFrom(MESSAGE)
    message.ClearField("batch_offsets")
    message.batch_offsets.extend(change.get("batch_offsets", [0, 2, 3]))
    return write_section(message.SerializeToString())


def test_batch_offsets_count_the_rows_before_each_batch():
    """0, 2, 3 are two batches of two rows and one."""
    data = _section()

    metadata = parse_metadata(file_bytes(data), Footer(0, len(data)))

    assert (3, 2) == (metadata.num_rows, metadata.num_batches)
    assert metadata.message == MESSAGE


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (_section(batch_offsets=[]), "L.legacy.metadata.batches"),
        (_section(batch_offsets=[0]), "L.legacy.metadata.batches"),
        (_section(batch_offsets=[1, 3]), "L.legacy.metadata.batch-offsets"),
        (_section(batch_offsets=[0, 3, 3]), "L.legacy.metadata.batch-offsets"),
        (_section(batch_offsets=[0, -1]), "L.legacy.metadata.batch-offsets"),
        (b"\xff" + _section()[1:], "L.legacy.metadata.length"),
        (write_section(b"\xff\xff"), "L.legacy.metadata.message"),
    ],
)
def test_broken_metadata_is_refused(data, clause):
    """Each fault under its clause."""
    with pytest.raises(BytesError) as refusal:
        parse_metadata(file_bytes(data), Footer(0, len(data)))
    assert clause == refusal.value.clause


def test_bytes_between_metadata_and_footer_are_reported():
    """A reader passes over them."""
    findings, data = [], _section() + b"x"
    file = FileBytes(BytesSource(data), Context("f", findings=findings))

    assert 3 == parse_metadata(file, Footer(0, len(data))).num_rows
    assert ["L.legacy.metadata.end"] == [finding.clause for finding in findings]
