"""Nullable pages."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, LimitExceeded, UnknownEncoding
from lanceref.core.limits import Limits
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import (
    Column,
    Page,
    all_nulls,
    binary,
    flat,
    open_built,
    read_built,
    some_nulls,
    taken,
    words,
)


def test_the_worked_page():
    """Bits 1, 0, 1 over 1, 0, 3 read as 1, null, 3."""
    buffers = [b"\x05", bytes.fromhex("01000000 00000000 03000000")]

    found = read_built(pa.int32(), some_nulls(flat(32, 1)), 3, *buffers)

    assert [1, None, 3] == found.to_pylist()


def test_padding_bits_of_the_bitmap_mean_nothing():
    """Bits after the last row may be anything."""
    assert [1, None] == read_built(
        pa.int8(), some_nulls(flat(8, 1)), 2, b"\xfd", b"\x01\x02"
    ).to_pylist()


def test_a_page_of_nulls_stores_nothing():
    """all_nulls has rows and no buffers, for any type."""
    for type_ in (pa.int64(), pa.string(), pa.null(), pa.list_(pa.int8(), 3)):
        assert [None, None] == read_built(type_, all_nulls(), 2).to_pylist()


def test_validity_around_strings_adds_to_their_own_nulls():
    """some_nulls may wrap binary: a row is null when either says so."""
    encoding = some_nulls(binary(7, first=1))

    found = read_built(pa.string(), encoding, 3, b"\x05", words(7, 3, 6), b"foobar")

    assert [None, None, "bar"] == found.to_pylist()


def test_validity_of_another_width_is_refused():
    """Validity is one bit a row."""
    encoding = pb.ArrayEncoding(
        nullable={"some_nulls": {"validity": flat(8), "values": flat(8, 1)}}
    )

    with pytest.raises(CorruptPage, match=r"L\.array\.nullable\.validity"):
        read_built(pa.int8(), encoding, 1, b"\x01", b"\x01")


def test_nullable_without_an_arm_is_refused():
    """One of the three arms must be set."""
    with pytest.raises(UnknownEncoding, match=r"L\.array\.encoding\.tag"):
        read_built(pa.int8(), pb.ArrayEncoding(nullable={}), 1)


def test_nulls_cost_no_more_than_the_limits_allow():
    """A few bytes that claim huge null values are refused before anything is allocated."""
    huge = pa.list_(pa.int64(), 2**31 - 1)

    with pytest.raises(LimitExceeded, match=r"L\.array\.nullable\.all-nulls"):
        taken(open_built(huge, [Column([Page(all_nulls(), 1, [])])], limits=Limits()), 0)
