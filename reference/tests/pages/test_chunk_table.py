"""Chunk table: words, by hand."""

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage
from lanceref.pages.chunks import parse_table


def _table(words, num_items, chunk_bytes, *, wide=False, at=0):
    cursor = Cursor(memoryview(words), 0, Context("test"))
    return parse_table(cursor, wide, num_items, Extent(at, chunk_bytes))


@pytest.mark.parametrize(
    ("words", "num_items", "chunk_bytes", "clause"),
    [
        ("600060", 3, 56, "table-size"),
        ("6000", 3, 64, "chunk-bytes"),
        ("60006000", 3, 112, "log"),
        ("61006000", 1, 112, "num-items"),
        ("6000", 2**40, 56, "num-items"),
        ("6200", 3, 56, "last-log"),
        ("", 3, 0, "num-items"),
    ],
)
def test_chunk_tables_that_contradict_the_page_are_refused(words, num_items, chunk_bytes, clause):
    """Sizes must add up to the chunk buffer, counts to the page's values."""
    with pytest.raises(CorruptPage) as caught:
        _table(bytes.fromhex(words), num_items, chunk_bytes)

    assert f"L.page.miniblock.{clause}" == caught.value.clause


def test_last_chunk_has_the_rest():
    """Logs 10 and 0 with 1200 values are 1024 and 176 values."""
    table = _table(bytes.fromhex("1a031003"), 1200, 800)

    assert [1024, 176] == table.counts.tolist()
    assert [400, 400] == table.sizes.tolist()


@pytest.mark.parametrize(
    ("words", "num_items", "wide", "place"),
    [
        ("1000 1000 1000", 9, False, (0, 2)),
        ("1100 1000 1000", 9, False, (2, 2)),
        ("11000000 10000000 10000000", 9, True, (4, 4)),
        ("1100 1100", 1, False, (2, 2)),
        ("1100 1200", 3, False, (2, 2)),
        ("11000000 12000000", 3, True, (4, 4)),
    ],
)
def test_errors_of_the_table_name_the_word(words, num_items, wide, place):
    """The first word without a log, or the last one, which has the wrong rest."""
    data = bytes.fromhex(words)
    chunk_bytes = 16 * len(words.split())
    with pytest.raises(CorruptPage) as caught:
        _table(data, num_items, chunk_bytes, wide=wide)

    assert place == (caught.value.offset, caught.value.place.size_bytes)


def test_a_last_chunk_without_values_is_only_for_pages_without_any():
    """Two values in the first of two chunks leave none; one chunk of none is an empty page."""
    with pytest.raises(CorruptPage) as caught:
        _table(bytes.fromhex("1100 1000"), 2, 32)

    assert "L.page.miniblock.num-items" == caught.value.clause
    assert [0] == _table(bytes.fromhex("1000"), 0, 16).counts.tolist()


def test_chunks_start_where_the_buffer_does():
    """Two chunks of 400 bytes in a buffer at 64; chosen and moved, they keep size and count."""
    table = _table(bytes.fromhex("1a031003"), 1200, 800, at=64)
    second = table.choose(np.array([1])).moved(-64)

    assert ([64, 464], [464, 864]) == (table.starts.tolist(), table.ends.tolist())
    assert ([1], [400], [800], [176]) == (
        second.numbers.tolist(),
        second.starts.tolist(),
        second.ends.tolist(),
        second.counts.tolist(),
    )
