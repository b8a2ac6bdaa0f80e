"""Mini-block pages: what is read of them, and when they are alike."""

import pyarrow as pa
import pytest
from lanceref.core.errors import CorruptPage
from lanceref.pages.layers import ALL_VALID_ITEM, NULLABLE_ITEM

from .building import chunk, chunk_table, flat, mini_layout, opened, scanned, words


def _page(values, num_items, *layers, before=None, num_rows=None):
    stored = chunk(words(*range(num_items)))
    layout = mini_layout(values, num_items, *layers)
    rows = num_items if num_rows is None else num_rows
    return opened(pa.int32(), layout, rows, chunk_table((stored, 0)), stored, before=before)


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


def test_a_page_like_the_one_before_shares_its_decoder():
    """What is read is its own all the same."""
    first = _page(flat(32), 3, ALL_VALID_ITEM)
    second = _page(flat(32), 2, ALL_VALID_ITEM, before=first)

    assert second.decoder is first.decoder
    assert second.is_like(first)
    assert [0, 1] == scanned(second, pa.int32())


@pytest.mark.parametrize(
    ("bits", "num_rows", "clause"),
    [
        (64, 3, "L.codec.flat.size"),
        (7, 3, "L.codec.flat.bits"),
        (32, 4, "L.page.miniblock.num-items"),
    ],
)
def test_a_page_behind_a_sound_one_passes_its_own_gates(bits, num_rows, clause):
    """A description that differs is checked, and so is the number of rows of each page."""
    sound = _page(flat(32), 3, ALL_VALID_ITEM)
    with pytest.raises(CorruptPage) as caught:
        scanned(_page(flat(bits), 3, ALL_VALID_ITEM, before=sound, num_rows=num_rows), pa.int32())

    assert clause == caught.value.clause
