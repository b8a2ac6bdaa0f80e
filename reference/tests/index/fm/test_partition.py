"""FM partitions, read."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pyarrow as pa
import pytest
from lanceref.core.errors import BytesError, LanceError
from lanceref.index.fm.fm import rows_with, texts_of
from lanceref.index.fm.partition import open_partition

from ..rewriting import rewritten
from .texts import make

TEXTS = ["banana", "", "ana"]
"""Text: 13 bytes, 4 nodes."""


def numbers(*values: int) -> str:
    """Return numbers as metadata has them."""
    return np.array(values, np.uint64).tobytes().hex()


@pytest.fixture
def segment(tmp_path):
    """A segment over the texts."""
    (found,) = make(TEXTS, tmp_path)._snapshot.indices.segments
    return found


@pytest.mark.parametrize(
    ("metadata", "clause"),
    [
        ({"c_table": None}, "L.index.files.metadata"),
        ({"c_table": "xyz"}, "L.index.files.metadata"),
        ({"c_table": "00"}, "L.index.files.metadata"),
        ({"c_table": ""}, "L.index.fm.counts"),
        ({"c_table": numbers(*range(257))}, "L.index.fm.counts"),
        ({"c_table": numbers(1, *[13] * 256)}, "L.index.fm.counts"),
        ({"c_table": numbers(0, *[13] * 256)}, "L.index.fm.topology"),
        ({"bwt_len": "14"}, "L.index.fm.counts"),
        ({"bwt_len": "99999999999"}, "L.index.fm.numbers"),
        ({"bwt_len": "minus"}, "L.index.files.metadata"),
        ({"tree_topology": "00000000"}, "L.index.fm.topology"),
        ({"huffman_codes": "00" * 256 * 7}, "L.index.fm.codes"),
        ({"sa_sample_rate": "0"}, "L.index.fm.samples"),
        ({"sa_samples_len": "2"}, "L.index.fm.numbers"),
        ({"num_bwt_nodes": "3"}, "L.index.fm.numbers"),
        ({"num_sa_blocks": "0"}, "L.index.fm.numbers"),
        ({"total_wavelet_rows": "5"}, "L.index.fm.numbers"),
        ({"alphabet_size": "255"}, "L.index.fm.numbers"),
        ({"row_ids": numbers(0, 1)}, "L.index.fm.texts"),
        ({"row_ids": numbers(0, 1), "doc_start_positions": numbers(0, 7)}, "L.index.fm.texts"),
        ({"doc_start_positions": numbers(0, 8, 7)}, "L.index.fm.texts"),
        ({"doc_start_positions": numbers(1, 7, 8)}, "L.index.fm.texts"),
        ({"doc_start_positions": numbers(0, 7, 12)}, "L.index.fm.texts"),
    ],
)
def test_damaged_metadata_is_refused(segment, metadata, clause):
    """Each entry is held against the others."""
    with pytest.raises(BytesError) as caught:
        open_partition(rewritten(segment, "part_0_fm.lance", metadata=metadata))
    assert caught.value.clause == clause


@pytest.mark.parametrize(
    ("column", "values", "clause"),
    [
        ("node_id", pa.array([0, 1, 2, 4, 0xFFFFFFFF], pa.uint32()), "L.index.fm.node"),
        ("node_id", pa.array([0, 1, 2, 3, None], pa.uint32()), "L.index.fm.node"),
        ("block_id", pa.array([0, 1, 0, 0, 0], pa.uint32()), "L.index.fm.node"),
        ("bit_len", pa.array([13, 5, 2, 9, 1], pa.uint64()), "L.index.fm.node"),
        ("bit_len", pa.array([13, 5, 2, 8, 1], pa.uint32()), "L.index.files.column"),
        ("prefix_rank", pa.array([0, 1, 0, 0, 0], pa.uint64()), "L.index.fm.rank"),
        ("words", pa.array([b"", None, b"", b"", b""], pa.large_binary()), "L.index.fm.rank"),
        ("words", pa.array([b"abc", b"", b"", b"", b""], pa.large_binary()), "L.index.fm.node"),
        ("words", pa.array([None, b"", b"", b"", b""], pa.large_binary()), "L.index.fm.node"),
    ],
)
def test_damaged_columns_are_refused(segment, column, values, clause):
    """When they are first needed."""
    with pytest.raises(BytesError) as caught:
        rows_with(open_partition(rewritten(segment, "part_0_fm.lance", {column: values})), b"n")
    assert caught.value.clause == clause


def test_damaged_words_are_found_by_a_check(segment):
    """Two bits exchanged change no count; the texts that come back are others."""
    words = segment.file("part_0_fm.lance").read("words").to_pylist()
    words[3] = b"\x7c" + words[3][1:]
    columns = {"words": pa.array(words, pa.large_binary())}
    partition = open_partition(rewritten(segment, "part_0_fm.lance", columns))
    with pytest.raises(LanceError):
        texts_of(partition)


def test_only_lance_errors_escape(segment):
    """Whatever bytes of the file change."""
    source = random.Random(0)
    store = segment.bases.store_of(None)
    place = f"{segment.folder}/part_0_fm.lance"
    file = store.open(place)
    whole = bytes(file.read(0, file.size))
    for _ in range(300):
        data = bytearray(whole)
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)
        store.delete(place)
        store.put(place, bytes(data))
        segment._opened.clear()
        with contextlib.suppress(LanceError):
            partition = open_partition(segment.file("part_0_fm.lance"))
            for text in (b"a", b"na", b"\x80", b"banana"):
                rows_with(partition, text)
            texts_of(partition)
