"""Partitions, written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from lanceref.index.full_text import partition_writer
from lanceref.index.full_text.documents import Documents
from lanceref.index.full_text.parameters import Settings
from lanceref.index.full_text.partition_writer import (
    PartitionWriter,
    cut_tokens,
    merge_occurrences,
    postings_schema,
)

from .test_partition import opened


def test_documents_of_another_partition_are_renumbered(tmp_path):
    """Documents that are left out take along the tokens that only they held."""
    _, partition = opened(tmp_path)
    writer = PartitionWriter(Settings())
    one = np.array([0], np.uint32)
    new = Documents(one, one, np.array([1], np.uint32), ["new"], one)
    writer.add(np.array([77], np.uint64), new)
    writer.add_partition(partition, np.array([1, 2]), np.array([5, 6], np.uint64))
    assert 3 == writer.num_documents
    assert ["new", "red", "dog", "cow"] == list(writer._numbers)
    held = merge_occurrences([one.between(0, 4) for one in writer._held])
    assert [0, 1, 2, 3] == held.tokens.tolist()
    assert [0, 1, 1, 2] == held.documents.tolist()
    assert [1, 2, 1, 1] == held.frequencies.tolist()
    assert [77, 5, 6] == np.concatenate(writer._keys).tolist()


def test_columns_follow_the_format():
    """Without positions there are four columns."""
    wanted = ["_posting", "_max_score", "_length", "_impacts"]
    assert wanted == postings_schema(Settings()).names
    assert not any(field.nullable for field in postings_schema(Settings()))
    assert pa.float32() == postings_schema(Settings()).field("_max_score").type


def test_tokens_are_cut_by_rows_and_by_occurrences(monkeypatch):
    """A token with more occurrences than are encoded together stands alone."""
    monkeypatch.setattr(partition_writer, "MOST_OCCURRENCES", 10)
    monkeypatch.setattr(partition_writer, "BATCH_TOKENS", 3)
    counts = np.array([4, 6, 1, 99, 1, 1, 1, 1])
    assert [(0, 2), (2, 3), (3, 4), (4, 7), (7, 8)] == list(cut_tokens(counts))
    assert [] == list(cut_tokens(counts[:0]))
