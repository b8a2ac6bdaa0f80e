"""Partitions, read from files that are damaged."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lanceref.core.errors import FormatError
from lanceref.core.file_versions import FileVersion
from lanceref.index.full_text.fst import Fst
from lanceref.index.full_text.partition import Partition
from lanceref.index.full_text.posting_blocks import BlockLayout
from lanceref.index.index_file import write_index_file

from ..tables import write

TEXTS = ["red fox", "red red dog", None, "cow"]


def opened(root, **parameters):
    """Return the folder of an index over some texts, and its partition."""
    dataset = write(pa.table({"s": TEXTS}), root)
    dataset.create_scalar_index("s", "INVERTED", with_position=True, **parameters)
    (segment,) = dataset._snapshot.indices.segments
    segment.entry.ClearField("files")
    layout = BlockLayout(fixed_tail=parameters.get("format_version") == 1)
    return segment, Partition(segment, 0, layout)


@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_a_worked_partition(tmp_path, format_version):
    """Tokens are numbered as they come, documents without a token are none."""
    _, partition = opened(tmp_path, format_version=format_version)
    assert [("cow", 3), ("dog", 2), ("fox", 1), ("red", 0)] == list(partition.items())
    assert [0, 1, 3] == partition.keys.tolist()
    assert [2, 3, 1] == partition.lengths.tolist()
    red = partition.postings(partition.number_of("red"))
    assert ([0, 1], [1, 2]) == (red.documents.tolist(), red.frequencies.tolist())
    assert [[0], [0, 1]] == [one.tolist() for one in partition.positions(0)]
    assert partition.number_of("re") is None
    assert (3, 6) == (partition.corpus.num_documents, partition.corpus.num_tokens)
    assert isinstance(partition.tokens, Fst)


def rewritten(segment, part: str, change, metadata=None) -> Partition:
    """Write a file of the segment anew and return the partition with it."""
    path = f"part_0_{part}.lance"
    file = segment.file(path)
    table = {name: file.read(name) for name in file.names}
    table = {**table, **change(table)}
    batch = pa.record_batch({name: value for name, value in table.items() if value is not None})
    store = segment.bases.store_of(None)
    store.delete(f"{segment.folder}/{path}")
    write_index_file(
        store,
        f"{segment.folder}/{path}",
        batch.schema,
        FileVersion(2, 2),
        [batch],
        dict(file.metadata) if metadata is None else metadata,
    )
    segment._opened.clear()
    return Partition(segment, 0, BlockLayout())


def test_tokens_may_be_a_list(tmp_path):
    """As old writers stored them."""
    segment, _ = opened(tmp_path)
    tokens = {
        "_token_fst_bytes": None,
        "_token_next_id": None,
        "_token_total_length": None,
        "_token": pa.array(["red", "fox", "dog", "cow"]),
        "_token_id": pa.array([0, 1, 2, 3], pa.uint32()),
    }
    partition = rewritten(segment, "tokens", lambda _: tokens)
    assert [("cow", 3), ("dog", 2), ("fox", 1), ("red", 0)] == list(partition.items())
    assert 1 == partition.number_of("fox")


@pytest.mark.parametrize(
    ("part", "column", "value", "metadata", "clause"),
    [
        ("docs", "_num_tokens", pa.array([2, 3, 2], pa.uint32()), None, "total-tokens"),
        ("docs", "_rowid", pa.array([0, None, 3], pa.uint64()), None, "docs"),
        ("invert", "_length", pa.array([2, None, 1, 1], pa.uint32()), None, "postings"),
        ("invert", "_length", pa.array([300, 1, 1, 1], pa.uint32()), None, "posting.blocks"),
        (
            "invert",
            "_position_block_offset",
            pa.array([[1], [0], [0], [0]], pa.list_(pa.uint32())),
            None,
            "positions.offsets",
        ),
        ("tokens", "_token_fst_bytes", pa.array([b"12"], pa.large_binary()), None, "fst.version"),
    ],
)
def test_damage_is_refused(tmp_path, part, column, value, metadata, clause):
    """Each of the conditions."""
    segment, _ = opened(tmp_path)
    partition = rewritten(segment, part, lambda _: {column: value}, metadata)
    with pytest.raises(FormatError, match=rf"L\.index\.fts\.{clause}"):
        list(partition.items())
        assert partition.keys is not None
        assert partition.lengths is not None
        for number in range(4):
            partition.positions(number)
            partition.document_count(1)


def test_a_token_without_postings_is_refused(tmp_path):
    """The dictionary has more tokens than the postings have rows."""
    segment, _ = opened(tmp_path)
    partition = rewritten(
        segment, "invert", lambda table: {n: v.slice(0, 3) for n, v in table.items()}
    )
    with pytest.raises(FormatError, match=r"L\.index\.fts\.tokens"):
        partition.number_of("cow")
