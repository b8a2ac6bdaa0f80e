"""Chunk table and chunk headers: the worked example of a list page, byte by byte."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor, Extent
from lanceref.core.errors import CorruptPage
from lanceref.core.spans import SpanRecorder
from lanceref.pages.chunks import MiniBlock, parse_chunks, parse_table
from lanceref.pages.layers import NULLABLE_ITEM

from .building import chunk, chunk_table, field_of, flat, path_to
from .nesting import layers_of

CHUNK = bytes.fromhex(
    "05000a00 0a000c00"  # five levels; 10 bytes of repetition, 10 of definition, 12 of values
    "01000000 01000100 0100fefe fefefefe"
    "00000000 01000200 0000fefe fefefefe"
    "01000000 02000000 03000000 fefefefe"
)


def _mini(*, has_rep=True, wide=False):
    """Describe a page of one value buffer with definition levels."""
    layers, levels = layers_of(path_to(field_of(pa.int32())), [NULLABLE_ITEM]), flat(16)
    rep = levels if has_rep else None
    return MiniBlock(layers, rep, levels, flat(32), None, 0, 1, 3, wide, 0)


SHAPE = _mini()


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
    shape = _mini(wide=True)
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
        _cursor(joined), _mini(has_rep=False, wide=wide), table.choose(np.arange(len(parts)))
    )
    starts, sizes = cut.value_run.starts[0], cut.value_run.sizes[0]

    assert [data for _, data in parts] == [
        joined[start : start + size]
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]
    assert [8] * (len(parts) - 1) + [len(parts[-1][0])] == cut.num_levels.tolist()
