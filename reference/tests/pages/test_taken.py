"""Taken pages: rows of many pages, read at once; nobody notices which were alike."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.pages.column import open_leaf
from lanceref.pages.layers import ALL_VALID_ITEM
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding
from lanceref.storage import BytesSource

from .building import V2_1, chunk, chunk_table, field_of, flat, mini_layout, path_to, words


def _leaf(pages, gap=0):
    """A column of integers, one chunk a page, pages `gap` bytes apart."""
    data, found, chunks = bytearray(), [], []
    ctx = Context("test", "decode")
    for page in pages:
        stored = chunk(words(*page))
        extents = []
        for buffer in (chunk_table((stored, 0)), stored):
            extents.append(Extent(len(data), len(buffer)))
            data += buffer + b"H" * (-len(buffer) % 64)
        data += bytes(gap)
        layout = mini_layout(flat(32), len(page), ALL_VALID_ITEM)
        found.append(PageMetadata(tuple(extents), len(page), 0, layout, ctx.at(0)))
        chunks.append(extents[1])
    source = BytesSource(data)
    metadata = ColumnMetadata(0, tuple(found), ColumnEncoding(), (), ctx.at(0))
    leaf = open_leaf(FileBytes(source, ctx), path_to(field_of(pa.int32())), metadata, V2_1)
    return leaf, source, chunks, data


def _taken(leaf, rows):
    pieces = leaf.take(np.array(rows, np.int64))
    return [value for part in pieces for value in part.leaf.to_pylist()]


def test_tables_and_chunks_of_all_pages_are_two_requests():
    """Three small pages; of the second time the tables are known."""
    leaf, source, *_ = _leaf([[1, 2], [3], [4, 5]])

    assert [2, 3, 5] == _taken(leaf, [1, 2, 4])
    assert 2 == source.stats.read_iops
    assert [1, 4] == _taken(leaf, [0, 3])
    assert 3 == source.stats.read_iops


def test_pages_far_from_each_other_are_requests_of_their_own():
    """One for each table and one for each chunk."""
    leaf, source, *_ = _leaf([[1, 2], [3], [4, 5]], gap=8192)

    assert [2, 3, 5] == _taken(leaf, [1, 2, 4])
    assert 6 == source.stats.read_iops


@pytest.mark.parametrize("page", [0, 1, 2])
def test_an_error_names_its_own_chunk(page):
    """A chunk whose header says it has levels."""
    leaf, _, chunks, data = _leaf([[1, 2], [3], [4, 5]])
    data[chunks[page].offset] = 1
    with pytest.raises(CorruptPage) as caught:
        _taken(leaf, [0, 2, 3])

    assert "L.page.miniblock.num-levels" == caught.value.clause
    assert chunks[page].offset == caught.value.place.offset


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(0, 5000),
    st.data(),
)
def test_any_rows_of_any_pages_are_what_a_list_gives(pages, gap, data):
    """Rows ascend, each once."""
    values = [value for page in pages for value in page]
    rows = sorted(data.draw(st.sets(st.integers(0, len(values) - 1))))

    assert [values[row] for row in rows] == _taken(_leaf(pages, gap=gap)[0], rows)
