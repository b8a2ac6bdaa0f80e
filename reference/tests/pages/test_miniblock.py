"""Mini-block pages: what is read of them, and when they are alike."""

import numpy as np
import pyarrow as pa
import pytest
from lanceref.context import Context
from lanceref.file.data_file import open_file
from lanceref.pages.layers import ALL_VALID_ITEM, NULLABLE_ITEM
from lanceref.storage import BytesSource

from .building import chunk, chunk_table, flat, mini_layout, opened, words
from .oracle_files import column, write
from .shapes import Shape

WIDE = pa.array(np.random.default_rng(5).integers(-(2**62), 2**62, 1_200_000))


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["2.1", "2.2"])
def test_take_reads_the_chunk_table_and_the_chunks_of_the_rows(version, tmp_path):
    """Two far rows: one request for the table, one for each chunk; again, only the chunks."""
    source = BytesSource(write(Shape(WIDE), version, tmp_path / "c.lance"))
    reader = column(open_file(source, Context("c.lance")))
    rows = np.array([10, 500_000])
    source.stats.incremental()
    taken, first = reader.take(rows), source.stats.incremental()
    reader.take(rows)
    again = source.stats.incremental()

    assert WIDE.take(pa.array(rows)).equals(taken)
    assert (3, 2) == (first.read_iops, again.read_iops)
    assert again.read_bytes < 2 * 4200


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
