"""Chunk table and chunk headers: the worked example of a list page, byte by byte."""

import numpy as np
import pytest
from lanceref.context import Context
from lanceref.cursor import Cursor
from lanceref.errors import CorruptPage
from lanceref.pages.chunks import ChunkShape, parse_chunks, parse_table
from lanceref.spans import SpanRecorder

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
    return parse_table(_cursor(words), False, num_items, chunk_bytes)


def _chunks(data, spans=None, findings=None):
    table = _table(bytes.fromhex("6000"), 3, 56)
    return parse_chunks(_cursor(data, spans, findings), SHAPE, table, np.arange(1))


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
    table = parse_table(_cursor(bytes.fromhex("70000000")), True, 3, 64)
    shape = ChunkShape(True, True, 1, True)
    head = bytes.fromhex("05000a00 0a000c00 0000fefe fefefefe")
    chunks = parse_chunks(_cursor(head + CHUNK[8:]), shape, table, np.arange(1))

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
