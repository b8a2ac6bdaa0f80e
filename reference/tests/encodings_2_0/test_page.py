"""Buffers of a page."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, OutOfRange, UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, binary, flat, open_built, read_built, words


def test_a_buffer_that_the_page_does_not_have_is_refused():
    """Buffer indices are bounded by the page's own list."""
    with pytest.raises(OutOfRange, match=r"L\.array\.buffer\.index"):
        read_built(pa.int8(), flat(8, buffer=1), 1, b"\x01")


def test_a_buffer_of_the_file_is_not_supported():
    """Only page and column buffers can be read."""
    encoding = pb.ArrayEncoding(flat={"bits_per_value": 8, "buffer": {"buffer_type": 2}})

    with pytest.raises(UnknownEncoding, match=r"L\.array\.buffer\.type"):
        read_built(pa.int8(), encoding, 1, b"\x01")


@pytest.mark.parametrize(
    ("second", "buffers", "found"),
    [
        (1, 2, []),
        (1, 3, ["buffer 2 of the page named 0 times"]),
    ],
)
def test_each_buffer_is_named_once(second, buffers, found):
    """A buffer that no part names is reported."""
    findings = []
    encoding = binary(9)
    encoding.binary.bytes.flat.buffer.buffer_index = second
    page = Page(encoding, 1, [words(8), b"abcdefgh", b""][:buffers])
    column = open_built(pa.binary(), [Column([page])], findings=findings)

    column.check()

    assert found == [f.found for f in findings if f.clause == "L.array.buffer.named"]


def test_two_parts_share_no_buffer():
    """Bytes where the ends lie: they would read as other strings."""
    encoding = binary(9)
    encoding.binary.bytes.flat.buffer.buffer_index = 0
    findings = []
    page = Page(encoding, 1, [words(8), b"abcdefgh"])
    open_built(pa.binary(), [Column([page])], findings=findings).check()

    with pytest.raises(CorruptPage, match=r"L\.array\.buffer\.shared"):
        read_built(pa.binary(), encoding, 1, words(8), b"abcdefgh")
    assert ["L.array.buffer.shared"] == [finding.clause for finding in findings]
