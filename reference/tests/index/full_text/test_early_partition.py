"""Early partitions."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import FormatError
from lanceref.core.file_versions import FileVersion
from lanceref.index.full_text.inverted import Inverted, check
from lanceref.index.full_text.partition import EarlyPartition
from lanceref.index.index_file import write_index_file

from .test_partition import opened

TOKENS = pa.table({"_token": ["red", "dog"], "_token_id": pa.array([0, 1], pa.uint32())})
DOCS = pa.table(
    {"_rowid": pa.array([2, 0], pa.uint64()), "_num_tokens": pa.array([3, 1], pa.uint32())}
)
POSTINGS = {
    "_rowid": pa.array([2, 0, 2], pa.uint64()),
    "_frequency": pa.array([2, 1, 1], pa.float32()),
    "_position": pa.array([[0, 2], [0], [1]], pa.list_(pa.int32())),
}
OFFSETS = {"offsets": "[0,2]"}


def early(root, postings=None, metadata=OFFSETS):
    """A segment with files of the early layout: row 0 is `red`, row 2 `red dog red`."""
    segment, _ = opened(root)
    store = segment.bases.store_of(None)
    for one in list(store.walk(segment.folder)):
        store.delete(one.path)
    files = {
        "tokens": (TOKENS, {"tokenizer": '{"stem":false,"with_position":true}'}),
        "docs": (DOCS, {}),
        "invert": (pa.table({**POSTINGS, **(postings or {})}), metadata),
    }
    for name, (rows, said) in files.items():
        path = f"{segment.folder}/{name}.lance"
        write_index_file(store, path, rows.schema, FileVersion(2, 0), rows.to_batches(), said)
    segment._opened.clear()
    return segment


def test_a_worked_partition(tmp_path):
    """Documents are numbered by the keys of their rows."""
    index = Inverted(early(tmp_path))
    assert not index.settings.analysis.stem
    assert index.settings.analysis.lance_tokenizer is None
    assert [] == index.deleted_fragments.tolist()
    (partition,) = index.partitions
    assert isinstance(partition, EarlyPartition)
    assert ([0, 2], [1, 3]) == (partition.keys.tolist(), partition.lengths.tolist())
    assert (2, 4) == (partition.corpus.num_documents, partition.corpus.num_tokens)
    assert [("dog", 1), ("red", 0)] == list(partition.items())
    red = partition.postings(0)
    assert ([0, 1], [1, 2]) == (red.documents.tolist(), red.frequencies.tolist())
    assert [[0], [0, 2]] == [one.tolist() for one in partition.positions(0)]
    assert [2, 1] == [partition.document_count(number) for number in (0, 1)]


def test_all_of_an_early_segment_is_checked(tmp_path):
    """As of any other; a posting that nobody asked for is found."""
    check(early(tmp_path))
    bad = {"_frequency": pa.array([2, 1, 0], pa.float32())}
    with pytest.raises(FormatError, match=r"L\.index\.fts\.early\.documents"):
        check(early(tmp_path / "bad", bad))


def test_positions_may_be_missing(tmp_path):
    """Then there is no column of them."""
    segment = early(tmp_path)
    store = segment.bases.store_of(None)
    rows = pa.table(POSTINGS).drop(["_position"])
    path = f"{segment.folder}/invert.lance"
    write_index_file(store, path, rows.schema, FileVersion(2, 0), rows.to_batches(), OFFSETS)
    assert EarlyPartition(segment).positions(0) is None


@pytest.mark.parametrize(
    "changed", [{"_token": ["red", None]}, {"_token_id": pa.array([None, 1], pa.uint32())}]
)
def test_tokens_are_never_null(tmp_path, changed):
    """Neither the words nor their numbers."""
    segment = early(tmp_path)
    rows = pa.table({**dict(zip(TOKENS.column_names, TOKENS.columns, strict=True)), **changed})
    path = f"{segment.folder}/tokens.lance"
    store = segment.bases.store_of(None)
    write_index_file(store, path, rows.schema, FileVersion(2, 0), rows.to_batches(), {})
    with pytest.raises(FormatError, match=r"L\.index\.fts\.tokens"):
        assert EarlyPartition(segment).tokens


@pytest.mark.parametrize("text", ["", "[", "7", "[0,9]", "[2,1]", "[-1,0]", '["0"]', "[true]"])
def test_bad_offsets_are_refused(tmp_path, text):
    """They rise, and lie among the rows."""
    partition = EarlyPartition(early(tmp_path, metadata={"offsets": text}))
    with pytest.raises(FormatError, match=r"L\.index\.fts\.early\.offsets"):
        assert partition.num_tokens


@pytest.mark.parametrize(
    "changed",
    [
        {"_rowid": pa.array([2, 1, 2], pa.uint64())},
        {"_rowid": pa.array([2, 9, 2], pa.uint64())},
        {"_rowid": pa.array([2, 2, 2], pa.uint64())},
        {"_rowid": pa.array([2, None, 2], pa.uint64())},
        {"_frequency": pa.array([0, 1, 1], pa.float32())},
        {"_frequency": pa.array([float("nan"), 1, 1], pa.float32())},
        {"_frequency": pa.array([1e20, 1, 1], pa.float32())},
        {"_position": pa.array([[0], [0], [1]], pa.list_(pa.int32()))},
        {"_position": pa.array([None, [0], [1]], pa.list_(pa.int32()))},
        {"_position": pa.array([[0, None], [0], [1]], pa.list_(pa.int32()))},
    ],
)
def test_bad_postings_are_refused(tmp_path, changed):
    """Documents are known, come once, and have as many positions as frequencies say."""
    partition = EarlyPartition(early(tmp_path, changed))
    with pytest.raises(FormatError, match=r"L\.index\.fts\.early\.documents"):
        partition.positions(0)
