"""Mini-block pages, written: the worked example of the chapter, and round trips."""

import numpy as np
import pytest
from lanceref.codecs.values import MiniBlocks
from lanceref.core.file_versions import V2_1, V2_2
from lanceref.pages.miniblock import StoredDictionary, chunk_ends, miniblock_page
from lanceref.pages.shred import RavelledLevels, flat_levels
from lanceref.proto.encodings_v2_1_pb2 import CompressiveEncoding

LIST = RavelledLevels(
    (1, 6),
    np.array([1, 0, 1, 1, 1], np.uint16),
    np.array([0, 0, 1, 2, 0], np.uint16),
    1,
    2,
    0,
    5,
)
"""[[1, 2], null, [], [3]]."""


def _flat(bits):
    encoding = CompressiveEncoding()
    encoding.flat.bits_per_value = bits
    return encoding


def _values(data, counts, bits=32):
    data = np.array(data, f"<u{bits // 8}").view(np.uint8)
    sizes = np.array(counts) * bits // 8
    return MiniBlocks(_flat(bits), np.array(counts), ((data, sizes),))


@pytest.mark.parametrize(
    ("version", "words", "header"),
    [
        (V2_1, "6000", "0500 0a00 0a00 0c00"),
        (V2_2, "70000000", "0500 0a00 0a00 0c000000 fefefefefefe"),
    ],
)
def test_the_worked_list_page_is_written_byte_for_byte(version, words, header):
    """Chunk word, header, levels, values and repetition index of [[1, 2], null, [], [3]]."""
    buffers, layout = miniblock_page(LIST, _values([1, 2, 3], [3]), None, version)

    assert bytes(buffers[0]).hex() == words
    assert bytes(buffers[1]) == bytes.fromhex(
        header
        + "0100 0000 0100 0100 0100 fefefefefefe"
        + "0000 0000 0100 0200 0000 fefefefefefe"
        + "01000000 02000000 03000000 fefefefe"
    )
    assert bytes(buffers[2]) == bytes([4] + [0] * 15)
    assert (layout.num_items, layout.num_buffers, layout.repetition_index_depth) == (3, 1, 1)
    assert layout.has_large_chunk == (version == V2_2)
    assert list(layout.layers) == [1, 6]


def test_a_page_without_levels_counts_none():
    """The header holds a zero, and no level sizes."""
    buffers, layout = miniblock_page(flat_levels(3), _values([1, 2, 3], [3]), None, V2_1)

    assert bytes(buffers[1])[:8] == bytes.fromhex("0000 0c00 fefefefe")
    assert not layout.HasField("rep_compression")
    assert not layout.HasField("def_compression")


def test_placeholders_behind_a_chunk_go_into_the_next():
    """Two chunks of one value: the null and the empty list lie in the second."""
    levels = RavelledLevels(LIST.codes, LIST.rep[1:], LIST.definition[1:], 1, 2, 0, 4)

    assert chunk_ends(levels, np.array([1, 1])).tolist() == [1, 4]


def test_the_word_of_a_chunk_holds_its_size_and_the_log_of_its_values():
    """4 values in 24 bytes: (24 / 8 - 1) << 4 | 2; the last chunk has log 0."""
    buffers, _ = miniblock_page(flat_levels(5), _values(range(5), [4, 1]), None, V2_1)

    assert np.frombuffer(bytes(buffers[0]), "<u2").tolist() == [2 << 4 | 2, 1 << 4]


def test_a_dictionary_stands_before_the_repetition_index():
    """Words, chunks, dictionary, index."""
    dictionary = StoredDictionary(_flat(8), b"abc", 3)

    buffers, layout = miniblock_page(LIST, _values([0, 1, 2], [3]), dictionary, V2_1)

    assert len(buffers) == 4
    assert bytes(buffers[2]) == b"abc"
    assert (layout.num_dictionary_items, layout.dictionary.flat.bits_per_value) == (3, 8)
