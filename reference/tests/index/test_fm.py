"""FM: suffix arrays, trees, partitions, and rows by parts of their text."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.cursor import Cursor
from lanceref.core.errors import CorruptPage
from lanceref.index.fm import fm
from lanceref.index.fm.fm import rows_with, texts_of
from lanceref.index.fm.partition import Partition, open_partition, suffix_array
from lanceref.index.fm.wavelet import BYTE, HuffmanTree, build_tree, parse_topology
from pylanceref.indices import IndexConfig

from .tables import ids, write


def fm_over(values, root, **options) -> pylanceref.LanceDataset:
    """Write texts and an FM index over them."""
    dataset = write(pa.table({"s": pa.array(values, pa.string())}), root, **options)
    dataset.create_scalar_index("s", IndexConfig("fm"))
    return dataset


def partitions(dataset) -> list[Partition]:
    """Return the partitions of the only segment."""
    (segment,) = pylanceref.dataset(dataset.uri)._snapshot.indices.segments
    return [open_partition(segment.file(one.path)) for one in segment.entry.files]


def array_of(text: bytes) -> list[int]:
    """Return the suffix array of a text."""
    return suffix_array(np.frombuffer(text, np.uint8)).tolist()


@given(st.text("ab\x00\xff", max_size=200).map(lambda text: text.encode("latin-1")))
def test_as_sorted_by_hand(text):
    """Equal to sorting the endings themselves."""
    assert array_of(text) == sorted(range(len(text)), key=lambda start: text[start:])


def tree_of(text: bytes) -> HuffmanTree:
    """Return the tree over the bytes of a text."""
    return build_tree(np.bincount(np.frombuffer(text, np.uint8), minlength=256))


def parsed(data: bytes) -> HuffmanTree:
    """Parse a topology."""
    return parse_topology(Cursor(memoryview(data), 0, Context("x")))


@given(st.binary(min_size=2).filter(lambda text: len(set(text)) > 1))
def test_what_is_written_is_parsed(text):
    """And every byte has a path of its own, no longer than that of a rarer byte."""
    tree = tree_of(text)
    assert parsed(tree.encode_topology()) == tree
    paths = tree.paths()
    assert set(paths) == set(text)
    lengths = sorted((-text.count(byte), len(path)) for byte, path in paths.items())
    assert all(a[1] <= b[1] for a, b in pairwise(lengths) if a[0] < b[0])


SIDES = st.tuples(st.sampled_from([0, 1, 2]), st.integers(0, 5) | st.integers(250, 260))


@given(st.binary(min_size=2, max_size=6).filter(lambda text: len(set(text)) > 1), SIDES, st.data())
def test_a_side_is_another_byte_or_there_is_no_tree(text, side, draw):
    """A node in another place, or a byte twice, is refused."""
    sides = [list(both) for both in tree_of(text).sides]
    node, bit = draw.draw(st.integers(0, len(sides) - 1)), draw.draw(st.integers(0, 1))
    before, sides[node][bit] = sides[node][bit], side
    data = HuffmanTree([tuple(both) for both in sides]).encode_topology()
    if side == before or (
        (before[0], side[0]) == (BYTE, BYTE) and side[1] not in {*text, *range(256, 261)}
    ):
        assert parsed(data).encode_topology() == data
    else:
        with pytest.raises(CorruptPage):
            parsed(data)


def test_worked_columns(tmp_path):
    """The text is banana FF FF ana FF 00; its endings begin at 12 11 7 6 ...: 00, FF 00, ..."""
    (partition,) = partitions(fm_over(["banana", "", None, "ana"], tmp_path))
    file = partition.file
    assert partition.num_bytes == 13
    assert [0, 1, 3] == partition.row_ids.tolist()
    assert [0, 7, 8] == partition.starts.tolist()
    assert [6, 7, 11] == partition.ends.tolist()
    assert [0, 1, 2, 3, 0xFFFFFFFF] == file.read("node_id").to_pylist()
    assert [13, 5, 2, 8, 1] == file.read("bit_len").to_pylist()
    assert (
        "851f000000000000 0e00000000000000 0100000000000000 bc00000000000000 0c00000000000000"
    ) == " ".join(words.hex() for words in file.read("words").to_pylist())
    assert np.flatnonzero(np.diff(partition.firsts)).tolist() == [0, *b"abn", 0xFF]
    assert file.text("partition_fingerprint") == "a26c57570a7f6c92"


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.text("ab日", max_size=60), min_size=1, max_size=30),
    st.lists(st.text("ab日", min_size=1, max_size=3), min_size=1, max_size=8),
)
def test_what_is_found_holds_the_text(texts, parts):
    """Every text that does, and no other; steps one by one lead where all together lead."""
    with tempfile.TemporaryDirectory() as root:
        (partition,) = partitions(fm_over(texts, Path(root)))
        for part in parts:
            expected = [number for number, text in enumerate(texts) if part in text]
            assert rows_with(partition, part.encode()).tolist() == expected
        texts_of(partition)


def test_partitions_end_with_their_last_row(tmp_path, monkeypatch):
    """By texts, or by bytes with one for each text."""
    texts = ["ab", "cd", "e", "", "fghijk", "l", "", None, "mn", "opq", "r"]
    monkeypatch.setattr(fm, "PARTITION_BYTES", 4)
    found = [one.row_ids.tolist() for one in partitions(fm_over(texts, tmp_path / "b"))]
    assert found == [[0, 1], [2, 3, 4], [5, 6, 8], [9], [10]]
    monkeypatch.undo()
    monkeypatch.setattr(fm, "PARTITION_ROWS", 3)
    dataset = fm_over(texts, tmp_path / "r")
    found = [one.row_ids.tolist() for one in partitions(dataset)]
    assert found == [[0, 1, 2], [3, 4, 5], [6, 8, 9], [10]]
    assert ids(dataset, "contains(s, 'r') or contains(s, 'd')") == [1, 10]
