"""End offsets of strings and lists."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, OutOfRange, UnknownEncoding
from lanceref.proto import encodings_v2_0_pb2 as pb

from .building import Column, Page, binary, flat, open_built, read_built, taken, words

WORKED = [words(7, 3, 6, 13, 13, 13), b"foofoo"]


@pytest.mark.parametrize(
    ("ends", "adjustment", "error", "clause"),
    [
        (words(3, 2), 7, CorruptPage, "L.array.ends.order"),
        (words(3, 8), 10, OutOfRange, "L.array.ends.bound"),
        (words(3, 6), 0, CorruptPage, "L.array.ends.null-adjustment"),
        (words(0, 2**64 - 1), 2**63, OutOfRange, "L.array.ends.bound"),
    ],
    ids=["decreasing", "beyond the bytes", "adjustment 0", "huge"],
)
def test_impossible_ends_are_refused(ends, adjustment, error, clause):
    """Ends never decrease, stay inside the bytes and below the adjustment."""
    with pytest.raises(error) as told:
        read_built(pa.string(), binary(adjustment), 2, ends, b"foobar")

    assert clause == told.value.clause


def test_a_decreasing_end_is_named_by_its_offset():
    """The error points at the word of the row."""
    with pytest.raises(CorruptPage) as told:
        read_built(pa.string(), binary(7), 3, words(3, 6, 5), b"foobar")

    assert (16, 24) == told.value.span


def test_narrow_ends_are_refused():
    """Ends are 64 bits wide."""
    encoding = pb.ArrayEncoding(
        binary={"indices": flat(32), "bytes": flat(8, 1), "null_adjustment": 7}
    )

    with pytest.raises(CorruptPage, match=r"L\.array\.ends\.width"):
        read_built(pa.string(), encoding, 1, bytes(4), b"")


def test_ends_stored_otherwise_are_refused():
    """Ends are flat values."""
    encoding = pb.ArrayEncoding(binary={"indices": binary(1), "bytes": flat(8, 2)})

    with pytest.raises(UnknownEncoding, match=r"L\.array\.encoding\.tag"):
        read_built(pa.string(), encoding, 1, words(0), b"", b"")


def test_a_take_reads_the_end_before_each_range():
    """A string starts where the one before it ends, also when that one is not wanted."""
    column = open_built(pa.string(), [Column([Page(binary(7), 6, WORKED)])])

    assert ["foo", None] == taken(column, 2, 3)
    assert [None, "foo"] == taken(column, 0, 1)
