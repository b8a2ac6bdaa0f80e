"""Fixed-size binary: strings of one width."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, flat, open_built, read_built, taken


def fixed(width: int, bits: int = 8) -> pb.ArrayEncoding:
    """Strings of `width` bytes whose bytes are described as values of `bits`."""
    return pb.ArrayEncoding(fixed_size_binary={"bytes": flat(bits), "byte_width": width})


@pytest.mark.parametrize("bits", [8, 24])
@pytest.mark.parametrize("type_", [pa.binary(), pa.string(), pa.large_string()])
def test_strings_of_three_bytes(type_, bits):
    """The bytes may be described as bytes or as whole values, for every string type."""
    column = open_built(type_, [Column([Page(fixed(3, bits), 3, [b"abcdefghi"])])])

    found = taken(column, 0, 2)

    assert [b"abc", b"ghi"] == [v.encode() if isinstance(v, str) else v for v in found]
    assert type_ == column.type


@pytest.mark.parametrize(
    ("type_", "encoding"),
    [
        (pa.binary(3), fixed(3)),
        (pa.string(), fixed(3, 16)),
        (pa.int8(), fixed(1)),
        (pa.string(), fixed(0)),
    ],
)
def test_a_width_that_does_not_fit_is_refused(type_, encoding):
    """The field is of a string type, the width more than nothing."""
    with pytest.raises(CorruptPage, match=r"L\.array\.fixed-size-binary\.width"):
        read_built(type_, encoding, 3, b"abcdefghi")


def test_too_few_bytes_are_refused():
    """Rows times width bytes are stored."""
    with pytest.raises(CorruptPage, match=r"L\.array\.flat\.size"):
        read_built(pa.string(), fixed(3), 3, b"abcdefgh")
