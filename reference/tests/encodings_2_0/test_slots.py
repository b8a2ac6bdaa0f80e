"""Slots: single rows of raw buffers."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes
from lanceref.core.errors import OutOfRange
from lanceref.core.nesting import fixed_array
from lanceref.encodings_2_0.nullable import has_slots, take_slots
from lanceref.storage import BytesSource

from .building import Column, Page, flat, no_nulls, open_built, some_nulls, taken


def file_of(data: bytes) -> FileBytes:
    """A file of these bytes."""
    return FileBytes(BytesSource(data), Context("f"))


def test_rows_of_two_buffers_by_hand():
    """Row 1 of the buffer at 0 and row 0 of that at 4, two bytes each."""
    file = file_of(bytes.fromhex("0100 0200 0300"))

    found = take_slots(file, np.array([0, 4]), np.array([1, 0]), 16, pa.int16(), "L.c")

    assert [2, 3] == found.to_pylist()


@given(st.binary(min_size=1, max_size=40), st.data())
def test_booleans_are_single_bits(data, draw):
    """Row i of a bitmap is bit i, from the lowest."""
    rows = draw.draw(st.lists(st.integers(0, 8 * len(data) - 1), unique=True).map(sorted))

    found = take_slots(
        file_of(data), np.zeros(len(rows), int), np.array(rows, int), 1, pa.bool_(), "L.c"
    )

    assert [bool(data[row // 8] >> row % 8 & 1) for row in rows] == found.to_pylist()


def test_wide_lists_are_read_whole():
    """Rows of 300 bytes are lists of 300 items."""
    data, type_ = bytes(range(250)) * 6, pa.list_(pa.uint8(), 300)

    found = take_slots(file_of(data), np.zeros(2, int), np.array([0, 4]), 2400, type_, "L.c")

    found.validate(full=True)
    assert [list(data[:300]), list(data[1200:])] == found.to_pylist()


def test_a_row_outside_the_file_is_refused():
    """What does not lie in the file is named with its clause."""
    with pytest.raises(OutOfRange, match=r"L\.c"):
        take_slots(file_of(bytes(8)), np.array([0]), np.array([1]), 64, pa.int64(), "L.c")


def test_lists_in_lists_share_the_values():
    """Fixed-size lists lie around each other without bytes of their own."""
    values = np.arange(8, dtype=np.uint8)

    found = fixed_array(pa.list_(pa.list_(pa.uint8(), 2), 2), 2, values)

    assert [[[0, 1], [2, 3]], [[4, 5], [6, 7]]] == found.to_pylist()


@pytest.mark.parametrize(("bits", "single"), [(1, True), (3, False), (8, True), (0, False)])
def test_rows_are_single_bits_or_whole_bytes(bits, single):
    """Lists of three booleans do not begin at bytes, rows without bits lie nowhere."""
    assert single == has_slots(bits)


@given(st.lists(st.integers(0, 19), unique=True).map(sorted))
def test_pages_with_and_without_nulls_agree(rows):
    """Rows of raw pages read one by one are those of a page that has a bitmap."""
    values = np.arange(20, dtype="<i4").tobytes()
    raw = [Page(no_nulls(flat(32)), 12, [values[:48]]), Page(flat(32), 8, [values[48:]])]
    mapped = [*raw[:1], Page(some_nulls(flat(32, 1)), 8, [b"\xff", values[48:]])]

    found, wanted = (
        taken(open_built(pa.int32(), [Column(pages)]), *rows) for pages in (raw, mapped)
    )

    assert found == wanted == rows
