"""Var-binary pages."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.errors import BytesError
from lanceref.file_0_1.encodings import binary_node, encode_binary
from lanceref.file_0_1.page_table import BatchRanges, Node, Pages

from .building import file_bytes, i64


def _node(data: bytes, rows: int, type_: pa.DataType, *, nullable: bool = True) -> Node:
    position = len(data) - 8 * (rows + 1)
    pages = Pages(np.array([position]), np.array([rows]), len(data), Context("f").at(0))
    return binary_node(file_bytes(data), pages, type_, np.array([rows]), nullable=nullable)


def test_bytes_stand_before_absolute_offsets():
    """`a`, null, `bcd` from position 100."""
    data, ends = encode_binary(pa.array(["a", None, "bcd"]), 100)
    assert (b"abcd", i64(100, 101, 101, 104)) == (bytes(data), ends)


@pytest.mark.parametrize(("nullable", "empty"), [(True, None), (False, "")])
def test_a_value_without_bytes_is_null_where_null_may_be(nullable, empty):
    """Else it is empty."""
    node = _node(b"abcd" + i64(0, 1, 1, 4), 3, pa.string(), nullable=nullable)
    assert ["a", empty, "bcd"] == node.read(BatchRanges.whole(0, 3)).to_pylist()


@pytest.mark.parametrize(
    ("data", "clause"),
    [
        (b"abcd" + i64(0, 5, 4), "L.legacy.binary.ascending"),
        (b"abcd" + i64(-1, 0, 4), "L.legacy.binary.offsets"),
        (b"abcd" + i64(0, 1, 2**62), "L.legacy.binary.offsets"),
        (b"ab\xffd" + i64(0, 1, 4), "L.legacy.binary.utf8"),
    ],
)
def test_broken_pages_are_refused(data, clause):
    """Each fault under its clause."""
    with pytest.raises(BytesError) as refusal:
        _node(data, 2, pa.string()).read(BatchRanges.whole(0, 2))
    assert clause == refusal.value.clause


@pytest.mark.parametrize("type_", [pa.binary(), pa.large_binary()])
@given(values=st.lists(st.none() | st.binary(max_size=9)), before=st.binary(max_size=9))
def test_what_is_written_reads_equal(type_, values, before):
    """Any slice of an array; empty becomes null."""
    array = pa.array([b"skipped", *values], type_)[1:]
    data, ends = encode_binary(array, len(before))

    read = _node(before + bytes(data) + ends, len(array), type_).read(
        BatchRanges.whole(0, len(array))
    )
    assert [value or None for value in values] == read.to_pylist()
    assert type_ == read.type
