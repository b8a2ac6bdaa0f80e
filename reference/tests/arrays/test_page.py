"""Buffers of a page."""

import pyarrow as pa
import pytest
from lanceref.errors import OutOfRange, UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import flat, read_built


def test_a_buffer_that_the_page_does_not_have_is_refused():
    """Buffer indices are bounded by the page's own list."""
    with pytest.raises(OutOfRange, match=r"L\.array\.buffer\.index"):
        read_built(pa.int8(), flat(8, buffer=1), 1, b"\x01")


def test_a_buffer_of_the_file_is_not_supported():
    """Only page and column buffers can be read."""
    encoding = pb.ArrayEncoding(flat={"bits_per_value": 8, "buffer": {"buffer_type": 2}})

    with pytest.raises(UnknownEncoding, match=r"L\.array\.buffer\.type"):
        read_built(pa.int8(), encoding, 1, b"\x01")
