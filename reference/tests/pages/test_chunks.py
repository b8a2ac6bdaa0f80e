"""Chunk table and chunk headers: the worked example of a list page, byte by byte."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.context import Context
from lanceref.cursor import Cursor, Extent
from lanceref.errors import CorruptPage
from lanceref.pages.chunk_table import parse_table
from lanceref.pages.chunks import ChunkShape, parse_chunks
from lanceref.spans import SpanRecorder

from .building import chunk, chunk_table

CHUNK = bytes.fromhex(
    "05000a00 0a000c00"  # five levels; 10 bytes of repetition, 10 of definition, 12 of values
    "01000000 01000100 0100fefe fefefefe"
    "00000000 01000200 0000fefe fefefefe"
    "01000000 02000000 03000000 fefefefe"
)
SHAPE = ChunkShape(has_rep=True, has_def=True, num_buffers=1, wide=False)


def _cursor(data, spans=None, findings=None):
    return Cursor(memoryview(bytes(data)), 0, Context("test", spans=spans, findings=findings))


def _table(words, num_items, chunk_bytes):
    return parse_table(_cursor(words), False, num_items, Extent(0, chunk_bytes))


def _chunks(data, spans=None, findings=None):
    table = _table(bytes.fromhex("6000"), 3, 56)
    return parse_chunks(_cursor(data, spans, findings), SHAPE, table.choose(np.arange(1)))


def test_worked_chunk_is_cut_as_written():
    """The word 60 00 is one chunk of 56 bytes; its three buffers start at 8, 24 and 40."""
    chunks = _chunks(CHUNK)

    assert 56 == len(CHUNK)
    assert [5] == chunks.num_levels.tolist()
    assert [[8], [24], [40]] == chunks.run.starts.tolist()
    assert [[10], [10], [12]] == chunks.run.sizes.tolist()
    assert [3] == chunks.run.counts.tolist()


def test_header_and_padding_are_owned():
    """Four header words and three pads; the buffers themselves belong to the codecs."""
    spans = SpanRecorder()
    _chunks(CHUNK, spans, [])
    leaves = list(spans.finish(56).leaves())

    assert 4 == sum(leaf.kind == "u16" for leaf in leaves)
    assert [(18, 24), (34, 40), (52, 56)] == [
        (leaf.start, leaf.end) for leaf in leaves if leaf.kind == "padding"
    ]


def test_wide_words_and_sizes():
    """From 2.2 on a chunk word has four bytes, and so has the size of a value buffer."""
    table = parse_table(_cursor(bytes.fromhex("70000000")), True, 3, Extent(0, 64))
    shape = ChunkShape(True, True, 1, True)
    head = bytes.fromhex("05000a00 0a000c00 0000fefe fefefefe")
    chunks = parse_chunks(_cursor(head + CHUNK[8:]), shape, table.choose(np.arange(1)))

    assert [[16], [32], [48]] == chunks.run.starts.tolist()


def test_padding_is_only_a_lint():
    """Other padding bytes are read without complaint, and reported by a validator."""
    findings = []
    _chunks(CHUNK[:-1] + b"\0")
    _chunks(CHUNK[:-1] + b"\0", None, findings)

    assert ["L.page.miniblock.padding"] == [finding.clause for finding in findings]


@pytest.mark.parametrize(
    ("at", "value", "clause"),
    [
        (0, 2, "num-levels"),  # fewer levels than values
        (2, 255, "chunk-fill"),  # repetition levels beyond the chunk
        (6, 200, "chunk-fill"),  # values beyond the chunk
        (6, 1, "chunk-fill"),  # bytes that nothing owns
    ],
)
def test_headers_that_do_not_fill_the_chunk_are_refused(at, value, clause):
    """Sizes and counts are held against the chunk before anything is decoded."""
    data = bytearray(CHUNK)
    data[at] = value
    with pytest.raises(CorruptPage) as caught:
        _chunks(data)

    assert f"L.page.miniblock.{clause}" == caught.value.clause


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
        parse_table(_cursor(data), wide, num_items, Extent(0, chunk_bytes))

    assert place == (caught.value.offset, caught.value.place.size_bytes)


def test_a_last_chunk_without_values_is_only_for_pages_without_any():
    """Two values in the first of two chunks leave none; one chunk of none is an empty page."""
    with pytest.raises(CorruptPage) as caught:
        _table(bytes.fromhex("1100 1000"), 2, 32)

    assert "L.page.miniblock.num-items" == caught.value.clause
    assert [0] == _table(bytes.fromhex("1000"), 0, 16).counts.tolist()


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.binary(max_size=20)),
        min_size=1,
        max_size=5,
    ),
    st.booleans(),
)
def test_any_buffers_are_cut_as_they_were_put_together(parts, wide):
    """Definition levels and one value buffer a chunk, of any size, padded to eight bytes."""
    logs = [3] * (len(parts) - 1) + [0]
    chunks = [chunk(data, levels=([0] * 8,), wide=wide) for _, data in parts[:-1]]
    chunks.append(chunk(parts[-1][1], levels=(parts[-1][0],), wide=wide))
    words = chunk_table(*zip(chunks, logs, strict=True), wide=wide)
    joined = b"".join(chunks)
    num_items = 8 * (len(parts) - 1) + len(parts[-1][0])
    table = parse_table(_cursor(words), wide, num_items, Extent(0, len(joined)))
    cut = parse_chunks(
        _cursor(joined), ChunkShape(False, True, 1, wide), table.choose(np.arange(len(parts)))
    )
    starts, sizes = cut.value_run.starts[0], cut.value_run.sizes[0]

    assert [data for _, data in parts] == [
        joined[start : start + size]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    assert [8] * (len(parts) - 1) + [len(parts[-1][0])] == cut.num_levels.tolist()
