"""Global buffers."""

import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BadProto, OutOfRange
from lanceref.core.file_versions import V2_0, V2_1
from lanceref.file.container import check_global_buffers, parse_descriptor
from lanceref.proto.file_pb2 import FileDescriptor
from lanceref.storage import BytesSource

from .files import DESCRIPTOR


def _file(data: bytes) -> FileBytes:
    return FileBytes(BytesSource(data, "f"), Context("f"))


def test_the_worked_descriptor_reads_as_written():
    """One int32 field `a`, nullable; three rows."""
    descriptor = parse_descriptor(_file(DESCRIPTOR), Extent(0, len(DESCRIPTOR)))

    assert 3 == descriptor.num_rows
    assert ["a"] == descriptor.schema.arrow.names


def test_a_descriptor_without_a_schema_is_refused():
    """A length alone says nothing of the columns."""
    data = FileDescriptor(length=3).SerializeToString()

    with pytest.raises(OutOfRange) as caught:
        parse_descriptor(_file(data), Extent(0, len(data)))
    assert "L.file.globals.descriptor" == caught.value.clause


def test_garbage_is_no_descriptor():
    """Bytes that do not parse."""
    with pytest.raises(BadProto):
        parse_descriptor(_file(b"\xff\xff\xff"), Extent(0, 3))


def test_buffers_lie_before_the_column_metadata():
    """The end of each is held against it."""
    check_global_buffers([Extent(64, 36)], V2_1, 100, _file(bytes(200)))

    with pytest.raises(OutOfRange) as caught:
        check_global_buffers([Extent(64, 37)], V2_1, 100, _file(bytes(200)))
    assert "L.file.gbo.entry" == caught.value.clause


def test_alignment_is_asked_from_2_1_on():
    """A buffer at 8 is fine in 2.0 and refused in 2.1."""
    check_global_buffers([Extent(8, 1)], V2_0, 100, _file(bytes(200)))

    with pytest.raises(OutOfRange):
        check_global_buffers([Extent(8, 1)], V2_1, 100, _file(bytes(200)))
