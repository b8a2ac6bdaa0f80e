"""Partitions that are split or given up."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest

from .indexed import DIMENSION, fixed, opened, table

PLACES = (10 * np.eye(DIMENSION) * np.arange(1, DIMENSION + 1)[:, None]).astype("f4")
"""Centroids: number n lies at 10 (n + 1) of its own axis."""

STORAGES = ["IVF_FLAT", "IVF_SQ", "IVF_PQ", "IVF_RQ", "IVF_HNSW_FLAT", "IVF_HNSW_SQ", "IVF_HNSW_PQ"]


def around(counts, seed: int = 1):
    """Return so many vectors near to each place, mixed."""
    source = np.random.default_rng(seed)
    values = np.repeat(PLACES[: len(counts)], counts, axis=0)
    values = values + source.normal(size=values.shape) / 10
    return source.permutation(values).astype("f4")


def built(root, counts, library=pylanceref, kind="IVF_FLAT", **options):
    """Write vectors with an index whose partitions have so many."""
    dataset = library.write_dataset(table(around(counts)), str(root))
    given = {"ivf_centroids": PLACES[: len(counts)], "num_partitions": len(counts), **options}
    if "PQ" in kind:
        given["num_sub_vectors"] = 4
    dataset.create_index("v", kind, **given)
    return dataset


def sizes(dataset):
    """Return the rows of the partitions of each segment."""
    held = dataset.stats.index_stats("v_idx")["indices"]
    return [[one["size"] for one in segment["partitions"]] for segment in held]


def grown(dataset, added, **options):
    """Append so many vectors near to each place, bring the index up to date, return its sizes."""
    dataset.insert(table(around(added, 2)))
    dataset.optimize.optimize_indices(**options)
    return sizes(dataset)


@pytest.mark.parametrize(
    ("counts", "options", "wanted"),
    [
        ([100, 100], {"target_partition_size": 100}, [[100, 100], [5, 5]]),
        ([100], {}, [[100], [5]]),
        ([19, 100], {"target_partition_size": 100}, [[129]]),
        ([20, 100], {"target_partition_size": 100}, [[20, 100], [5, 5]]),
        ([100, 10, 100, 10], {"target_partition_size": 100}, [[135, 105]]),
        ([10, 12, 12], {}, [[49]]),
        ([395, 100], {"target_partition_size": 100}, [[395, 100], [5, 5]]),
    ],
)
def test_small_partitions_are_given_up(tmp_path, counts, options, wanted):
    """Below a quarter of the rows that one is meant to have, with those that are new."""
    dataset = built(tmp_path / "t", counts, **options)
    assert wanted == grown(dataset, [5] * len(counts))


def test_the_last_of_the_largest_stays(tmp_path):
    """When all are small."""
    dataset = built(tmp_path / "t", [10, 12, 12])
    dataset.optimize.optimize_indices()
    assert PLACES[2:3].tolist() == opened(dataset).head.model.centroids.tolist()
    dataset.optimize.optimize_indices()
    assert [[34]] == sizes(dataset)
    assert [1] == [one.dataset_version for one in dataset._snapshot.manifest.indices]


def test_large_partitions_are_split(tmp_path):
    """Into as many as have the wanted rows on the average; small ones wait for the next time."""
    dataset = built(tmp_path / "t", [396, 100, 10], target_partition_size=100)
    (found,) = grown(dataset, [5, 5, 5])
    assert [105, 15] == found[1:3]
    assert 7 == len(found)
    assert 401 == sum(found) - 120
    centroids = opened(dataset).head.model.centroids
    assert PLACES[1:3].tolist() == centroids[1:3].tolist()
    assert (np.abs(centroids[[0, 3, 4, 5, 6]] - PLACES[0]).max(axis=1) < 1).all()
    dataset.optimize.optimize_indices()
    assert 120 + 401 == sum(sizes(dataset)[0])
    assert len(sizes(dataset)[0]) < 7


@pytest.mark.parametrize(("merged", "wanted"), [(0, [[10, 12], [5, 5]]), (1, [[15, 17]])])
def test_a_number_of_segments_leaves_partitions(tmp_path, merged, wanted):
    """However small they are."""
    dataset = built(tmp_path / "t", [10, 12])
    assert wanted == grown(dataset, [5, 5], num_indices_to_merge=merged)


@pytest.mark.parametrize("kind", STORAGES)
def test_what_was_learnt_stays(tmp_path, kind):
    """Quantizers are those of before, and rows are found as well."""
    dataset = built(tmp_path / "t", [300, 200, 10], kind=kind, target_partition_size=100)
    before = opened(dataset).auxiliary.quantizer
    assert [[320, 205]] == grown(dataset, [5, 5, 5])
    after = opened(dataset).auxiliary.quantizer
    assert before.metadata() == after.metadata()
    assert before.buffers() == after.buffers()
    found, wanted = (_near(dataset, use_index=use) for use in (True, False))
    assert len(found & wanted) >= 18


@pytest.mark.oracle
@pytest.mark.parametrize("kind", STORAGES)
def test_the_oracle_does_the_same(tmp_path, kind):
    """The same partitions are left of the same ones, and it finds rows in ours."""
    import lance

    for counts in ([300, 200, 10], [300, 120, 200, 14, 80]):
        options = {"kind": kind, "target_partition_size": 100}
        name, added = str(len(counts)), [5] * len(counts)
        theirs = grown(built(tmp_path / "a" / name, counts, lance, **options), added)
        assert theirs == grown(built(tmp_path / "b" / name, counts, **options), added)
    found = _near(lance.dataset(str(tmp_path / "b" / "5")))
    wanted = _near(pylanceref.dataset(str(tmp_path / "b" / "5")), use_index=False)
    assert len(found & wanted) >= 18


def _near(dataset, **options):
    """Return the row ids of the nearest to a place."""
    nearest = {"column": "v", "q": PLACES[1], "k": 20, "nprobes": 5, "refine_factor": 12}
    rows = dataset.to_table(columns=[], nearest={**nearest, **options}, with_row_id=True)
    return set(rows["_rowid"].to_pylist())


def test_rows_that_are_several_vectors(tmp_path):
    """Each of them counts."""
    values = fixed(around([44, 56]))
    rows = pa.ListArray.from_arrays(list(range(0, 101, 4)), values)
    dataset = pylanceref.write_dataset(pa.table({"v": rows}), tmp_path / "t")
    options = {"ivf_centroids": PLACES[:2] / [[10], [20]], "target_partition_size": 10}
    dataset.create_index("v", "IVF_FLAT", metric="cosine", **options)
    dataset.optimize.optimize_indices()
    assert 11 == len(sizes(dataset)[0])
    assert 100 == sum(sizes(dataset)[0])


def test_segments_that_have_learnt_otherwise_are_left_alone(tmp_path):
    """By one model of partitions and other codebooks: new rows go on with the last of them."""
    dataset = pylanceref.write_dataset(
        table(around([300, 300])), tmp_path / "t", max_rows_per_file=300
    )
    source = np.random.default_rng(3)
    segments = [
        dataset.create_index_uncommitted(
            "v",
            "IVF_PQ",
            fragment_ids=[number],
            num_partitions=2,
            num_sub_vectors=4,
            ivf_centroids=PLACES[:2],
            pq_codebook=source.normal(size=(4, 256, 2)).astype("f4"),
        )
        for number in range(2)
    ]
    dataset.commit_existing_index_segments("v_idx", "v", segments)
    before = sizes(dataset)
    assert [*before, [5, 5]] == grown(dataset, [5, 5])
