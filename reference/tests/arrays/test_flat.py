"""Flat values."""

import pyarrow as pa
import pytest
from lanceref.errors import CorruptPage, OutOfRange, UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, flat, no_nulls, open_built, read_built, scanned, taken


def test_integers_are_their_arrow_buffer():
    """Four bytes a value, little-endian."""
    found = read_built(pa.int32(), flat(32), 2, bytes.fromhex("01000000 ffffffff"))

    assert [1, -1] == found.to_pylist()


def test_booleans_are_a_bitmap_from_bit_0():
    """Value i is bit i of the buffer, lowest first."""
    found = read_built(pa.bool_(), no_nulls(flat(1)), 10, bytes([0b10000101, 0b10]))

    assert [1, 0, 1, 0, 0, 0, 0, 1, 0, 1] == [int(v) for v in found.to_pylist()]


def test_taken_booleans_need_not_start_at_a_byte():
    """Bits are moved when wanted ranges start inside a byte."""
    column = open_built(pa.bool_(), [Column([Page(flat(1), 10, [bytes([0b10000101, 0b10])])])])

    assert [True, True, True] == taken(column, 2, 7, 9)
    assert [True, True] == taken(column, 9, 9)


def test_three_byte_values_are_fixed_size_binary():
    """Any whole number of bytes is a width."""
    assert [b"abc", b"def"] == read_built(pa.binary(3), flat(24), 2, b"abcdef").to_pylist()


def test_a_bare_flat_page_reads_like_one_without_nulls():
    """The nullable wrapper may be missing."""
    bare = read_built(pa.int8(), flat(8), 2, b"\x01\x02")

    assert bare == read_built(pa.int8(), no_nulls(flat(8)), 2, b"\x01\x02")


@pytest.mark.parametrize("size", [7, 9])
def test_a_buffer_of_another_size_is_refused(size):
    """The buffer holds exactly the rows of the page."""
    with pytest.raises(CorruptPage, match=r"L\.array\.flat\.size") as told:
        read_built(pa.int32(), flat(32), 2, bytes(size))

    assert (0, size) == told.value.span


@pytest.mark.parametrize(
    ("type_", "bits", "clause"),
    [
        (pa.int32(), 64, "L.array.flat.type-width"),
        (pa.int32(), 12, "L.array.flat.type-width"),
        (pa.string(), 8, "L.array.flat.type-width"),
        (pa.list_(pa.int8(), 2), 16, "L.array.flat.type-width"),
        (pa.binary(0), 0, "L.array.flat.width"),
    ],
)
def test_another_width_than_the_types_is_refused(type_, bits, clause):
    """The width is 1 bit or whole bytes, and that of the type."""
    with pytest.raises(CorruptPage) as told:
        read_built(type_, flat(bits), 2, bytes(8))

    assert clause == told.value.clause


def test_a_buffer_that_the_page_does_not_have_is_refused():
    """Buffer indices are bounded by the page's own list."""
    with pytest.raises(OutOfRange, match=r"L\.array\.buffer\.index"):
        read_built(pa.int8(), flat(8, buffer=1), 1, b"\x01")


def test_a_buffer_of_the_file_is_not_supported():
    """Only page and column buffers can be read."""
    encoding = pb.ArrayEncoding(flat={"bits_per_value": 8, "buffer": {"buffer_type": 2}})

    with pytest.raises(UnknownEncoding, match=r"L\.array\.buffer\.type"):
        read_built(pa.int8(), encoding, 1, b"\x01")


def test_a_take_reads_only_the_bytes_of_its_rows():
    """One row far from the others costs one request of its width."""
    from lanceref.storage import BytesSource

    source = BytesSource(bytes(80_000))
    page = Page(flat(64), 10_000, [bytes(80_000)])
    column = open_built(pa.int64(), [Column([page])], source=source)

    taken(column, 3, 9_000)

    assert (2, 16) == (source.stats.read_iops, source.stats.read_bytes)


def test_a_scan_of_a_large_page_comes_in_runs():
    """No more than about 2 MiB is decoded at a time."""
    column = open_built(pa.int64(), [Column([Page(flat(64), 600_000, [bytes(4_800_000)])])])

    sizes = [len(part) for part in column.scan(5, 600_000)]

    assert 3 == len(sizes)
    assert 599_995 == sum(sizes)


def test_pages_are_joined_in_order():
    """Rows of later pages follow those of earlier ones, in scans and takes."""
    pages = [Page(flat(8), 2, [b"\x01\x02"]), Page(flat(8), 0, [b""]), Page(flat(8), 1, [b"\x03"])]
    column = open_built(pa.int8(), [Column(pages)])

    assert [1, 2, 3] == scanned(column).to_pylist()
    assert [2, 3, 3] == taken(column, 1, 2, 2)
