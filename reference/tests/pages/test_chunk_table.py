"""Chunk table: words, by hand."""

import pytest
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage
from lanceref.fast.page_coalescing import concat_tables, parse_tables
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
    second = table.part(slice(1, 2)).moved(-64)

    assert ([64, 464], [400, 800]) == (table.starts.tolist(), table.ends.tolist())
    assert ([1], [400], [800], [176]) == (
        second.numbers.tolist(),
        second.starts.tolist(),
        second.ends.tolist(),
        second.counts.tolist(),
    )


def test_joined_tables_count_on():
    """Two pages of 1 200 values: bytes and values run through, starts stay absolute."""
    one = _table(bytes.fromhex("1a031003"), 1200, 800, at=64)
    two = _table(bytes.fromhex("1a031003"), 1200, 800, at=1000)
    both = concat_tables([one, two])

    assert [64, 464, 1000, 1400] == both.starts.tolist()
    assert [400, 800, 1200, 1600] == both.ends.tolist()
    assert [1024, 1200, 2224, 2400] == both.value_ends.tolist()


def test_tables_of_many_pages_are_those_of_each():
    """Parsed together, pages have the chunks they have alone, one without chunks too."""
    pages = [("1a031003", 1200, 800, 64), ("", 0, 0, 1024), ("0000", 5, 8, 2048)]
    cursors = [Cursor(memoryview(bytes.fromhex(words)), 0, Context("test")) for words, *_ in pages]
    extents = [Extent(at, size) for _, _, size, at in pages]
    together = parse_tables(cursors, False, [items for _, items, _, _ in pages], extents)

    assert [[64, 464], [], [2048]] == [table.starts.tolist() for table in together]
    assert [[400, 400], [], [8]] == [table.sizes.tolist() for table in together]
    assert [[1024, 176], [], [5]] == [table.counts.tolist() for table in together]


def test_the_page_with_the_fault_is_named_among_many():
    """The second of two tables has a last chunk without values: the error lies in its own words."""
    words = [bytes.fromhex("6000"), bytes.fromhex("61006000")]
    cursors = [Cursor(memoryview(part), 100 * at, Context("t")) for at, part in enumerate(words)]
    with pytest.raises(CorruptPage) as caught:
        parse_tables(cursors, False, [3, 1], [Extent(0, 56), Extent(0, 112)])

    assert ("L.page.miniblock.num-items", 102) == (caught.value.clause, caught.value.place.offset)
