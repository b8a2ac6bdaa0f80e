"""Mini-block pages: what is read of them, and when they are alike."""

import pyarrow as pa
from lanceref.pages.layers import ALL_VALID_ITEM, NULLABLE_ITEM

from .building import chunk, chunk_table, flat, mini_layout, opened, words


def _page(values, num_items, *layers):
    stored = chunk(words(*range(num_items)))
    layout = mini_layout(values, num_items, *layers)
    return opened(pa.int32(), layout, num_items, chunk_table((stored, 0)), stored)


def test_pages_are_alike_but_for_their_items():
    """Another number of items makes no difference, another layer does."""
    page = _page(flat(32), 3, ALL_VALID_ITEM)

    assert page.mini.is_like(_page(flat(32), 2, ALL_VALID_ITEM).mini)
    assert not page.mini.is_like(_page(flat(32), 3, NULLABLE_ITEM).mini)


def test_the_extent_reaches_over_all_buffers():
    """From the chunk table to the end of the chunks."""
    page = _page(flat(32), 3, ALL_VALID_ITEM)
    table, chunks = page.page.extents

    assert (table.offset, chunks.end) == (page.extent.offset, page.extent.end)
