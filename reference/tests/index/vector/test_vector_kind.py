"""The kind of vector indices."""

from __future__ import annotations

import pytest

from .indexed import near, opened, points, table, write

VALUES = points(900)


@pytest.fixture
def dataset(tmp_path):
    """An index over 600 rows; 300 were appended later."""
    found = write(VALUES[:600], tmp_path)
    found.create_index("v", "IVF_FLAT", num_partitions=3)
    return found.insert(table(VALUES[600:])) or found


def test_lists(dataset):
    """They have the type and what the details say."""
    (held,) = dataset.list_indices()
    assert ("v_idx", "IVF_FLAT", ["v"]) == (held["name"], held["type"], held["fields"])
    (shown,) = dataset.describe_indices()
    assert ("L2", 600) == (shown.details["metric_type"], shown.num_rows_indexed)
    assert "50" == shown.details["runtime_hints"]["lance.ivf.max_iters"]


@pytest.mark.parametrize("merged", [0, 1])
def test_rows_are_taken_in(dataset, merged):
    """By what was learnt, in a segment of their own or in one with the others."""
    before = opened(dataset).head.model.centroids
    dataset.optimize.optimize_indices(num_indices_to_merge=merged)
    segments = dataset.list_indices()
    assert 2 - merged == len(segments)
    for place in range(len(segments)):
        assert before.tolist() == opened(dataset, place).head.model.centroids.tolist()
    assert 0 == dataset.index_statistics("v_idx")["num_unindexed_rows"]
    found = near(dataset, VALUES[700], k=9, nprobes=3)
    assert near(dataset, VALUES[700], k=9, use_index=False) == found


def test_an_index_can_be_trained_again(dataset):
    """Over all rows, with other centroids."""
    before = opened(dataset).head.model.centroids
    dataset.optimize.optimize_indices(retrain=True)
    assert 1 == len(dataset.list_indices())
    after = opened(dataset)
    assert 900 == int(after.auxiliary.partitions.lengths.sum())
    assert before.tolist() != after.head.model.centroids.tolist()


def test_compaction_brings_rows_where_they_are(dataset):
    """The segment is written anew without the rows that were deleted."""
    dataset.delete("i < 100")
    uuid = dataset.list_indices()[0]["uuid"]
    loss = opened(dataset).head.message.loss
    dataset.optimize.compact_files()
    assert uuid != dataset.list_indices()[0]["uuid"]
    assert loss == opened(dataset).head.message.loss
    assert near(dataset, VALUES[5], k=9, nprobes=3) == near(
        dataset, VALUES[5], k=9, use_index=False
    )
