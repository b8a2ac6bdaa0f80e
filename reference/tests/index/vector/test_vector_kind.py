"""The kind of vector indices."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
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


def test_an_index_that_is_only_defined(tmp_path):
    """It has no files and is passed over; it is built when it is brought up to date."""
    dataset = write(VALUES[:600], tmp_path)
    dataset.create_index("v", "IVF_FLAT", train=False, metric="dot", num_partitions=3)
    (shown,) = dataset.describe_indices()
    assert ("IVF_FLAT", "DOT", 0) == (
        shown.index_type,
        shown.details["metric_type"],
        shown.segments[0].size_bytes,
    )
    assert [{}] == dataset.index_statistics("v_idx")["indices"]
    assert near(dataset, VALUES[5], k=9) == near(dataset, VALUES[5], k=9, use_index=False)
    dataset.optimize.optimize_indices()
    assert 600 == dataset.index_statistics("v_idx")["num_indexed_rows"]
    assert "dot" == opened(dataset).head.model.metric


def test_product_quantizers_need_rows(tmp_path):
    """With fewer than there are codes nothing is built."""
    dataset = write(VALUES[:100], tmp_path)
    dataset.create_index("v", "IVF_PQ", num_sub_vectors=4, num_partitions=1)
    assert 0 == dataset.index_statistics("v_idx")["num_indexed_rows"]
    (shown,) = dataset.describe_indices()
    assert {"type": "pq", "num_bits": 8, "num_sub_vectors": 4} == shown.details["compression"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (("IVF_SQ", {}), {"type": "sq", "num_bits": 8}),
        (("IVF_RQ", {"num_bits": 3}), {"type": "rq", "num_bits": 3, "rotation_type": "fast"}),
    ],
)
def test_details_of_storages(tmp_path, given, wanted):
    """They say how vectors are compressed."""
    dataset = write(VALUES[:300], tmp_path)
    index_type, parameters = given
    dataset.create_index("v", index_type, num_partitions=2, **parameters)
    (shown,) = dataset.describe_indices()
    assert (index_type, wanted) == (shown.index_type, shown.details["compression"])


def test_segments_that_do_not_go_together(tmp_path):
    """Of other types or metrics."""
    dataset = write(VALUES[:600], tmp_path)

    def built(number, index_type, metric):
        return dataset.create_index_uncommitted(
            "v", index_type, metric=metric, fragment_ids=[number], num_partitions=2
        )

    first = built(0, "IVF_FLAT", "l2")
    for other in (built(1, "IVF_SQ", "l2"), built(1, "IVF_FLAT", "dot")):
        with pytest.raises(ValueError, match="differ"):
            dataset.commit_existing_index_segments("v_idx", "v", [first, other])


@pytest.mark.parametrize(("count", "segments"), [(None, 1), (0, 2), (1, 2), (2, 1)])
def test_which_segments_become_one(dataset, count, segments):
    """The last ones, all unless a number is given; without new rows too, but for none."""
    dataset.optimize.optimize_indices(num_indices_to_merge=0)
    before = [one["uuid"] for one in dataset.list_indices()]
    dataset.optimize.optimize_indices(num_indices_to_merge=count)
    after = dataset.list_indices()
    assert [900] == [sum(dataset.index_statistics("v_idx")["num_indexed_rows_per_delta"])]
    assert segments == len(after)
    assert (before == [one["uuid"] for one in after]) == (count == 0)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("rows", "nulls", "odd", "built"),
    [(256, 0, 0, True), (263, 4, 3, True), (260, 5, 0, False), (260, 4, 3, None), (9, 9, 0, False)],
)
def test_an_index_without_enough_vectors_is_defined(rows, nulls, odd, built, tmp_path):
    """Nulls are none; those with odd numbers are counted and cannot be learnt from."""
    import lance

    values = np.random.default_rng(1).normal(size=(rows, 8)).astype("f4")
    values[rows - odd :] = np.nan
    mask = pa.array(np.arange(rows) < nulls)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), 8, mask=mask)
    for module in (lance, pylanceref):
        path = tmp_path / module.__name__
        dataset = module.write_dataset(pa.table({"v": vectors}), path)
        if built is None:
            with pytest.raises((RuntimeError, ValueError), match="Not enough rows to train"):
                dataset.create_index("v", "IVF_PQ", num_partitions=1, num_sub_vectors=2)
            continue
        dataset.create_index("v", "IVF_PQ", num_partitions=1, num_sub_vectors=2)
        assert 1 == len(dataset.describe_indices())
        assert built == (path / "_indices").exists()


@pytest.mark.oracle
def test_the_oracle_does_not_update_graphs_of_hamming(tmp_path):
    """It builds and asks them, and panics when there are new rows; here these are taken in."""
    import lance

    values = points(300, "u1")
    dataset = lance.dataset(write(values[:200], tmp_path).uri)
    dataset.create_index("v", "IVF_HNSW_FLAT", metric="hamming", num_partitions=1)
    dataset.insert(table(values[200:]))
    with pytest.raises(BaseException, match="HNSW, FLATBIN"):
        lance.dataset(dataset.uri).optimize.optimize_indices()
    ours = pylanceref.dataset(dataset.uri)
    ours.optimize.optimize_indices(num_indices_to_merge=1)
    assert 0 == ours.index_statistics("v_idx")["num_unindexed_rows"]
    found = [near(one, values[250], k=9) for one in (ours, lance.dataset(dataset.uri))]
    assert 0 == found[0][1][0]
    assert found[0][1] == found[1][1]


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("element", "metric"), [("f4", "hamming"), ("u1", "hamming"), ("u1", "l2")]
)
def test_an_index_that_cannot_be_is_not_built_later(element, metric, tmp_path):
    """The oracle defines one when there are few rows; neither builds it when there are more."""
    import lance

    values = points(300, element)
    dataset = lance.dataset(write(values[:9], tmp_path).uri)
    dataset.create_index("v", "IVF_PQ", metric=metric, num_partitions=1, num_sub_vectors=2)
    dataset.insert(table(values[9:]))
    for module in (lance, pylanceref):
        with pytest.raises((OSError, ValueError), match=r"nsupported|cannot store"):
            module.dataset(dataset.uri).optimize.optimize_indices()
