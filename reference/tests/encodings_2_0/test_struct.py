"""Structs."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage, OutOfRange

from .building import STRUCT, Column, Page, flat, open_built, scanned, taken

TYPE = pa.struct([pa.field("a", pa.int8()), pa.field("b", pa.int16())])
A = Column([Page(flat(8), 2, [b"\x01\x02"]), Page(flat(8), 1, [b"\x03"])])
B = Column([Page(flat(16), 3, [bytes.fromhex("0400 0500 0600")])])


def test_children_are_joined_whatever_their_pages():
    """The header counts rows; children have pages of their own."""
    column = open_built(TYPE, [Column([Page(STRUCT, 3, [])]), A, B])

    assert [{"a": i, "b": i + 3} for i in (1, 2, 3)] == scanned(column).to_pylist()
    assert [{"a": 3, "b": 6}] == taken(column, 2)
    assert [{"a": 2, "b": 5}] == next(column.scan(1, 2)).to_pylist()


def test_an_empty_struct_has_the_rows_of_its_header():
    """No children, no buffers: only a number of rows."""
    column = open_built(pa.struct([]), [Column([Page(STRUCT, 3, [])])])

    assert [{}, {}, {}] == scanned(column).to_pylist()
    assert [{}, {}] == taken(column, 0, 2)


def test_a_struct_without_rows_may_have_no_header_page():
    """A file without rows has no pages anywhere."""
    column = open_built(TYPE, [Column([]), Column([]), Column([])])

    assert 0 == column.num_rows
    assert [] == scanned(column).to_pylist()


@pytest.mark.parametrize(
    "header",
    [
        Column([Page(STRUCT, 2, []), Page(STRUCT, 1, [])]),
        Column([Page(flat(8), 3, [b"\x01\x02\x03"])]),
        Column([Page(STRUCT, 3, [b"x"])]),
    ],
    ids=["two pages", "another encoding", "a buffer"],
)
def test_another_header_is_refused(header):
    """The header is one page of struct without buffers."""
    with pytest.raises(CorruptPage, match=r"L\.array\.struct\.header"):
        open_built(TYPE, [header, A, B])


def test_a_header_of_another_length_is_refused():
    """Header and children have the same rows."""
    with pytest.raises(OutOfRange, match=r"L\.array\.struct\.length"):
        open_built(TYPE, [Column([Page(STRUCT, 4, [])]), A, B])
