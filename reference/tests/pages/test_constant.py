"""Constant pages: value buffers byte by byte."""

import pyarrow as pa
import pytest
from lanceref.context import Context
from lanceref.cursor import Extent, FileBytes
from lanceref.errors import FormatError
from lanceref.pages.constant import parse_value
from lanceref.storage import BytesSource

ABC = bytes.fromhex("02000000 08000000 03000000 00000000 03000000 616263")


def _value(data: bytes, type_: pa.DataType) -> pa.Array:
    file = FileBytes(BytesSource(data), Context("test"))
    return parse_value(file, Extent(0, len(data)), type_)


def test_worked_value_buffers():
    """The string abc has offsets and bytes; a fixed-size binary has one buffer."""
    fixed = bytes.fromhex("01000000 03000000 616263")

    assert ["abc"] == _value(ABC, pa.string()).to_pylist()
    assert [b"abc"] == _value(fixed, pa.binary(3)).to_pylist()


@pytest.mark.parametrize(
    ("data", "type_"),
    [
        (ABC[:-1], pa.string()),
        (ABC + b"d", pa.string()),
        (ABC, pa.large_string()),
        (ABC, pa.int32()),
        (b"\xff" * 4 + ABC[4:], pa.string()),
        (ABC.replace(b"\x03\0\0\0abc", b"\x04\0\0\0abc"), pa.string()),
        (ABC[:2], pa.string()),
        (ABC[:-1] + b"\xff", pa.string()),
        (bytes.fromhex("01000000 03000000 616263"), pa.binary(4)),
    ],
)
def test_buffers_that_are_not_one_value_are_refused(data, type_):
    """Counts, sizes, offsets, width and UTF-8 are all held against the type."""
    with pytest.raises(FormatError) as caught:
        _value(data, type_)

    assert caught.value.clause.startswith("L.page.")
