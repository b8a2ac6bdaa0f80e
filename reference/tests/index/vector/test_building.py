"""Building of vector indices: which vectors, how many partitions, and how they change."""

from contextlib import nullcontext

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import IndexRefused, QueryRefused
from lanceref.index.indices import indexed_column
from lanceref.index.vector import vector_kind
from lanceref.index.vector.parameters import VectorParameters, check_column
from lanceref.index.vector.vector_index import TYPES
from lanceref.index.vector.vector_kind import Vector
from lanceref.index.vector.vectors import (
    VectorType,
    indexed_vectors,
    sampled_vectors,
    vector_type,
    vectors_of,
)
from lanceref.operations.index_build import training_of

from .indexed import DIMENSION, near, opened, points, table, write


@pytest.mark.parametrize("element", [pa.float16(), pa.float32(), pa.float64(), pa.uint8()])
def test_rows_without_a_vector_are_left_out(element):
    """Each vector is known by its row, in a part of a column too."""
    column = pa.array([[1, 2], None, [3, 4], [5, 6]], pa.list_(pa.float32(), 2))
    column = column.cast(pa.list_(element, 2))
    found = vectors_of(column)
    assert [0, 2, 3] == found.rows.tolist()
    assert [[1, 2], [3, 4], [5, 6]] == found.values.tolist()
    assert [[3, 4], [5, 6]] == vectors_of(column.slice(1)).values.tolist()
    assert VectorType(element, 2, multivector=False).dtype == found.values.dtype


def test_rows_with_several():
    """A row may hold none, one or more; the type says so."""
    type_ = pa.list_(pa.list_(pa.float32(), 2))
    column = pa.array([[[1, 2], [3, 4]], [], None, [[5, 6]]], type_)
    found = vectors_of(column)
    assert [0, 0, 3] == found.rows.tolist()
    assert [[1, 2], [3, 4], [5, 6]] == found.values.tolist()
    assert VectorType(pa.float32(), 2, multivector=True) == vector_type(type_)


def training(dataset):
    """Return the rows of the column of vectors."""
    found = dataset._snapshot
    return training_of(found, Vector, indexed_column(found.manifest.schema, "v"), found.fragments)


def test_what_is_left_out(tmp_path):
    """Nulls and what is not finite always, zeros where directions count."""
    values = [[3, 4], None, [float("nan"), 0], [float("inf"), 0], [0, 0], [0, 2]]
    table = pa.table({"v": pa.array(values, pa.list_(pa.float32(), 2))})
    dataset = pylanceref.write_dataset(table, tmp_path / "t")
    (found,) = indexed_vectors(training(dataset), "l2")
    assert [0, 4, 5] == found.keys.tolist()
    (found,) = indexed_vectors(training(dataset), "cosine")
    assert [0, 5] == found.keys.tolist()
    np.testing.assert_allclose([[0.6, 0.8], [0, 1]], found.vectors, rtol=1e-6)


@pytest.mark.parametrize("most", [1, 20, 100, 101, 1000])
def test_vectors_are_drawn_from_all_rows(tmp_path, most):
    """Rows are drawn once, in their order, whether all are read for it or only those."""
    values = points(500)
    dataset = write(values, tmp_path)
    dataset.delete("i % 5 = 0")
    left = [row.tolist() for number, row in enumerate(values) if number % 5]
    for seed in range(8):
        drawn = sampled_vectors(training(dataset), "l2", most, np.random.default_rng(seed)).tolist()
        places = [left.index(row) for row in drawn]

        assert min(most, len(left)) == len(places)
        assert sorted(set(places)) == places
        assert most < 20 or places[-1] >= 200 > places[0]


FLAT = TYPES["IVF_FLAT"]


@pytest.mark.parametrize(
    ("given", "rows", "wanted"),
    [
        ({}, 4095, 1),
        ({}, 8191, 1),
        ({}, 8192, 2),
        ({"target_partition_size": 100}, 1000, 10),
        ({"num_partitions": 3, "target_partition_size": 100}, 1000, 3),
        ({"centroids": np.zeros((5, 2))}, 1000, 5),
    ],
)
def test_how_many_partitions(given, rows, wanted):
    """As many as are asked for, else by the rows; there is one at least."""
    assert wanted == VectorParameters(FLAT, "l2", **given).partitions(rows)


@pytest.mark.parametrize(
    ("element", "multivector", "metric", "type_", "told"),
    [
        (pa.uint8(), False, "hamming", "IVF_HNSW_FLAT", None),
        (pa.uint8(), False, "l2", "IVF_FLAT", "Unsupported training sample type uint8"),
        (pa.float32(), False, "hamming", "IVF_FLAT", "type float with metric hamming"),
        (pa.uint8(), False, "hamming", "IVF_PQ", "IVF_PQ cannot store uint8 vectors"),
        (pa.float16(), True, "cosine", "IVF_RQ", None),
        (pa.float16(), True, "dot", "IVF_RQ", "only cosine distance"),
    ],
)
def test_which_columns_there_are_indices_over(element, multivector, metric, type_, told):
    """Bytes have their own metric, several vectors a direction."""
    column = VectorType(element, 8, multivector)
    with nullcontext() if told is None else pytest.raises(QueryRefused, match=told):
        check_column(column, metric, TYPES[type_])


def test_fewer_vectors_than_partitions(tmp_path):
    """There are as many partitions as vectors; without any there is nothing to train with."""
    dataset = write(points(3), tmp_path)
    dataset.create_index("v", "IVF_FLAT", num_partitions=4)
    assert [1, 1, 1] == opened(dataset).auxiliary.partitions.lengths.tolist()
    nothing = pa.table({"v": pa.array([None] * 3, pa.list_(pa.float32(), 2))})
    dataset = pylanceref.write_dataset(nothing, tmp_path / "n")
    with pytest.raises(IndexRefused, match="vectors"):
        dataset.create_index("v", "IVF_FLAT", num_partitions=1)


VALUES = points(900)


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


PLACES = (10 * np.eye(DIMENSION) * np.arange(1, DIMENSION + 1)[:, None]).astype("f4")
"""Centroids: number n lies at 10 (n + 1) of its own axis."""


def around(counts, seed: int = 1):
    """Return so many vectors near to each place, mixed."""
    source = np.random.default_rng(seed)
    values = np.repeat(PLACES[: len(counts)], counts, axis=0)
    values = values + source.normal(size=values.shape) / 10
    return source.permutation(values).astype("f4")


def around_places(root, counts, library=pylanceref, kind="IVF_FLAT", **options):
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
    dataset = around_places(tmp_path / "t", counts, **options)
    assert wanted == grown(dataset, [5] * len(counts))


def test_large_partitions_are_split(tmp_path):
    """Into as many as have the wanted rows on the average; small ones wait for the next time."""
    dataset = around_places(tmp_path / "t", [396, 100, 10], target_partition_size=100)
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
    dataset = around_places(tmp_path / "t", [10, 12])
    assert wanted == grown(dataset, [5, 5], num_indices_to_merge=merged)


def test_only_vectors_much_nearer_to_another_centroid_are_reported(tmp_path, monkeypatch):
    """All lie in partition 0, around the middle: the other may be 0.001 (1 + 25) nearer."""
    values = np.zeros((4, DIMENSION), "f4")
    values[:, 0] = 4, 5, 5.00128, 5.00132
    centroids = np.zeros((2, DIMENSION), "f4")
    centroids[1, 0] = 10
    monkeypatch.setattr(vector_kind, "assign", lambda vectors, *_: np.zeros(len(vectors), int))
    fault = "L.index.vector.assignment", "row 3 in partition 0", "partition 1, the nearest"
    for rows, wanted in ((2, []), (3, []), (4, [fault])):
        dataset = write(values[:rows], tmp_path / str(rows))
        dataset.create_index("v", "IVF_FLAT", ivf_centroids=centroids, num_partitions=2)
        found = lanceref.validate(dataset.uri, deep=True)
        assert wanted == [(x.clause, x.found, x.wanted) for x in found]
        assert {"auxiliary.idx"} >= {x.file.rpartition("/")[2] for x in found}
