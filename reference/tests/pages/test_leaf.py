"""Leaf column: pages of any layout, one after the other."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import BytesError, LimitExceeded
from lanceref.core.limits import Limits
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.pages.column import LeafColumn, open_leaf
from lanceref.pages.constant import ConstantPage
from lanceref.pages.fullzip import FullZipPage
from lanceref.pages.layers import ALL_VALID_ITEM
from lanceref.pages.miniblock import MiniBlockPage
from lanceref.pages.sparse_page import SparsePage
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding
from lanceref.storage import BytesSource

from .building import (
    V2_1,
    V2_3,
    chunk,
    chunk_table,
    field_of,
    flat,
    mini_layout,
    opened,
    path_to,
    pb,
    pb3,
    words,
    zip_layout,
)

PAIRS = pa.list_(pa.struct([("a", pa.int32())]), 2)


def _column(*pages: list[int]) -> LeafColumn:
    """A column of int32 whose pages hold the given numbers, one chunk each."""
    data, found = bytearray(), []
    ctx = Context("test", "decode")
    for page in pages:
        stored = chunk(words(*page))
        extents = []
        for buffer in (chunk_table((stored, 0)), stored):
            extents.append(Extent(len(data), len(buffer)))
            data += buffer + b"H" * (-len(buffer) % 64)
        layout = mini_layout(flat(32), len(page), ALL_VALID_ITEM)
        found.append(PageMetadata(tuple(extents), len(page), 0, layout, ctx.at(0)))
    file = FileBytes(BytesSource(bytes(data)), ctx)
    column = ColumnMetadata(0, tuple(found), ColumnEncoding(), (), ctx.at(0))
    return open_leaf(file, path_to(field_of(pa.int32())), column, V2_1)


def _scanned(column: LeafColumn, start: int, end: int) -> list[int]:
    return [value for part in column.scan(start, end) for value in part.leaf.to_pylist()]


def test_rows_cross_pages():
    """Pages of 2, 1 and 3 rows: rows 1 to 4 touch all of them."""
    column = _column([1, 2], [3], [4, 5, 6])

    assert ([0, 2, 3, 6], 6) == (column.first_rows.tolist(), column.num_rows)
    assert [2, 3, 4] == _scanned(column, 1, 4)
    assert [] == _scanned(column, 6, 6)
    assert [2, 6] == [v for p in column.take(np.array([1, 5])) for v in p.leaf.to_pylist()]


@given(
    st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=5), min_size=1, max_size=5),
    st.data(),
)
def test_any_rows_of_any_pages(pages, data):
    """A range is a piece of all rows, and taken rows are those rows."""
    column, rows = _column(*pages), [value for page in pages for value in page]
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(rows))] * 2)))
    some = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1))))
    taken = [part.leaf.to_pylist() for part in column.take(np.array(some, np.int64))]

    assert rows[start:end] == _scanned(column, start, end)
    assert [rows[row] for row in some] == [value for part in taken for value in part]


def test_each_layout_has_its_page():
    """Mini-block, full-zip, constant, and any of them under a sparse structure."""
    stored = chunk(words(1))
    mini = mini_layout(flat(32), 1, ALL_VALID_ITEM)
    zipped = zip_layout(flat(32), 1, ALL_VALID_ITEM, bits_per_value=32)
    nulls = pb.PageLayout(constant_layout={"layers": [3]})
    sparse = pb3.PlanarLayout()
    validity = sparse.structure.sparse.layers.add().validity
    validity.meaning = pb3.SparseValiditySet.NULL_POSITIONS
    validity.positions.constant.SetInParent()
    sparse.values.none.SetInParent()

    assert isinstance(opened(pa.int32(), mini, 1, chunk_table((stored, 0)), stored), MiniBlockPage)
    assert isinstance(opened(pa.int32(), zipped, 1, words(1)), FullZipPage)
    assert isinstance(opened(pa.int32(), nulls, 1), ConstantPage)
    assert isinstance(opened(pa.int32(), sparse, 1, version=V2_3), SparsePage)


@pytest.mark.parametrize(
    ("type_", "layout", "num_rows", "clause"),
    [
        (pa.int32(), pb.PageLayout(), 1, "L.page.layout.present"),
        (PAIRS, pb.PageLayout(constant_layout={"layers": [1, 1, 3]}), 3, "L.page.layout.scale"),
        (pa.int32(), pb.PageLayout(constant_layout={"layers": []}), 1, "L.page.layers.present"),
        (pa.int32(), pb.PageLayout(constant_layout={"layers": [2]}), 1, "L.page.layers.path"),
    ],
)
def test_pages_of_no_layout_are_refused(type_, layout, num_rows, clause):
    """No arm, slots that make no row, layers that are not those of the schema."""
    with pytest.raises(BytesError) as caught:
        opened(type_, layout, num_rows)

    assert clause == caught.value.clause


def test_a_row_is_bounded():
    """One vector of 1 000 floats takes 4 000 bytes."""
    type_ = pa.list_(pa.float32(), 1000)
    layout = pb.PageLayout(constant_layout={"layers": [3]})
    limits = Limits(expansion_bytes=3999, expansion_factor=0)
    with pytest.raises(LimitExceeded) as caught:
        opened(type_, layout, 1, limits=limits)

    assert "L.page.limits.row" == caught.value.clause
    assert 1 == opened(type_, layout, 1, limits=Limits(expansion_bytes=4000)).num_rows
