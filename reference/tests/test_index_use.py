"""Indices kept in memory."""

from __future__ import annotations

from uuid import uuid4

import numpy as np
import pyarrow as pa
import pylanceref
import pytest


@pytest.fixture(scope="module")
def uri(tmp_path_factory):
    """A table with an index of each kind that can be kept."""
    rows, random = range(600), np.random.default_rng(3)
    vectors = random.normal(size=(600, 8)).astype(np.float32)
    data = pa.table(
        {
            "id": rows,
            "colour": [f"c{row % 5}" for row in rows],
            "labels": [[f"a{row % 3}"] for row in rows],
            "text": [f"word{row % 7} foo bar" for row in rows],
            "v": pa.FixedSizeListArray.from_arrays(vectors.ravel(), 8),
        }
    )
    path = str(tmp_path_factory.mktemp("use") / "t")
    made = pylanceref.write_dataset(data, path)
    made.create_scalar_index("id", "BTREE")
    made.create_scalar_index("colour", "BITMAP")
    made.create_scalar_index("labels", "LABEL_LIST")
    made.create_scalar_index("text", "INVERTED", with_position=True)
    made.create_index("v", "IVF_FLAT", num_partitions=2)
    return path


QUERIES = {
    "id_idx": {"filter": "id > 0"},
    "colour_idx": {"filter": "colour = 'c1'"},
    "labels_idx": {"filter": "array_has_any(labels, ['a1', 'a2'])"},
    "text_idx": {"full_text_query": "word1"},
    "v_idx": {"nearest": {"column": "v", "q": [0.0] * 8, "k": 3, "nprobes": 2}},
}


@pytest.mark.parametrize("name", QUERIES)
def test_what_is_kept_is_not_read_again(uri, name):
    """The answer is the same, and every part of it was there."""
    cold, warm, told = pylanceref.dataset(uri), pylanceref.dataset(uri), []
    warm.prewarm_index(name)
    kept = warm.index_cache_entry_count()
    assert kept > 0
    answer = warm.scanner(scan_stats_callback=told.append, **QUERIES[name]).to_table()
    assert answer == cold.to_table(**QUERIES[name])
    assert (0, kept) == (told[0].parts_loaded, warm.index_cache_entry_count())
    assert 1.0 == warm.index_cache_hit_rate()
    assert 0.0 == cold.index_cache_hit_rate()


@pytest.mark.parametrize("positions", [False, True])
def test_positions_are_kept_where_asked_for(uri, positions):
    """A phrase reads them otherwise."""
    table = pylanceref.dataset(uri)
    table.prewarm_index("text_idx", with_position=positions)
    before = table.index_cache_entry_count()
    table.to_table(full_text_query='"foo bar"')
    assert (table.index_cache_entry_count() > before) == (not positions)


def test_segments_may_be_chosen(uri):
    """Only these are kept; none at all is a choice too."""
    table = pylanceref.dataset(uri)
    table.prewarm_index("id_idx", index_segments=[])
    assert table.index_cache_entry_count() == 0
    (one,) = [index for index in table.describe_indices() if index.name == "id_idx"]
    table.prewarm_index("id_idx", index_segments=[one.segments[0].uuid])
    assert table.index_cache_entry_count() == 1


@pytest.mark.parametrize(
    ("name", "arguments", "error", "text"),
    [
        ("nope", {}, RuntimeError, "not found: name=nope"),
        ("id_idx", {"with_position": True}, ValueError, "inverted indices, got BTree"),
        ("id_idx", {"index_segments": "x"}, TypeError, "must be an iterable"),
        ("id_idx", {"index_segments": [1]}, TypeError, "Got <class 'int'>"),
        ("id_idx", {"index_segments": ["x"]}, ValueError, "invalid index segment uuid 'x'"),
        ("id_idx", {"index_segments": [str(uuid4())]}, RuntimeError, "segment_ids="),
    ],
)
def test_wrong_arguments_are_refused(uri, name, arguments, error, text):
    """With what pylance raises."""
    with pytest.raises(error, match=text):
        pylanceref.dataset(uri).prewarm_index(name, **arguments)
