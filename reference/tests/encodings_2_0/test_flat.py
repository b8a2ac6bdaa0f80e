"""Flat values."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage

from .building import Column, Page, flat, no_nulls, open_built, read_built, taken


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
