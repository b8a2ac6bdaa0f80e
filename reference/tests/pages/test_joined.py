"""Joined pages: what is scanned together, and that nobody notices."""

import pyarrow as pa
import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import Extent, FileBytes
from lanceref.core.errors import CorruptPage
from lanceref.file.container import ColumnMetadata, PageMetadata
from lanceref.pages.column import open_leaf
from lanceref.pages.layers import ALL_VALID_ITEM
from lanceref.proto.encodings_v2_0_pb2 import ColumnEncoding
from lanceref.storage import BytesSource

from .building import V2_1, chunk, chunk_table, field_of, flat, mini_layout, path_to, words


def _leaf(pages, gaps=()):
    """A column of integers, one chunk a page, and where each page's chunk lies."""
    data, found, chunks = bytearray(), [], []
    ctx = Context("test", "decode")
    for number, page in enumerate(pages):
        stored = chunk(words(*page))
        extents = []
        for buffer in (chunk_table((stored, 0)), stored):
            extents.append(Extent(len(data), len(buffer)))
            data += buffer + b"H" * (-len(buffer) % 64)
        data += bytes(gaps[number] if number < len(gaps) else 0)
        layout = mini_layout(flat(32), len(page), ALL_VALID_ITEM)
        found.append(PageMetadata(tuple(extents), len(page), 0, layout, ctx.at(0)))
        chunks.append(extents[1])
    source = BytesSource(data)
    metadata = ColumnMetadata(0, tuple(found), ColumnEncoding(), (), ctx.at(0))
    leaf = open_leaf(FileBytes(source, ctx), path_to(field_of(pa.int32())), metadata, V2_1)
    return leaf, source, chunks, data


def _scanned(leaf, start, end):
    return [part.leaf.to_pylist() for part in leaf.scan(start, end)]


def test_pages_that_follow_each_other_are_read_at_once():
    """Three pages, one request, one array."""
    leaf, source, *_ = _leaf([[1, 2], [3], [4, 5]])

    assert [[1, 2, 3, 4, 5]] == _scanned(leaf, 0, 5)
    assert 1 == source.stats.read_iops


def test_a_page_far_behind_is_read_on_its_own():
    """What lies between pages is read along only when it is little."""
    leaf, *_ = _leaf([[1, 2], [3], [4, 5]], gaps=(0, 8192))

    assert [[1, 2, 3], [4, 5]] == _scanned(leaf, 0, 5)


def test_a_page_of_which_a_part_is_wanted_is_read_on_its_own():
    """Rows 1 to 4 of five: the first page is cut, the others are whole."""
    leaf, *_ = _leaf([[1, 2], [3], [4, 5]])

    assert [[2], [3, 4, 5]] == _scanned(leaf, 1, 5)


def test_an_error_has_the_place_of_its_own_page():
    """The header of the second page's chunk says 255 bytes of values."""
    leaf, _, chunks, data = _leaf([[1, 2], [3], [4, 5]])
    data[chunks[1].offset + 2] = 255
    with pytest.raises(CorruptPage) as caught:
        _scanned(leaf, 0, 5)

    assert ("L.page.miniblock.chunk-fill", chunks[1].offset) == (
        caught.value.clause,
        caught.value.offset,
    )
