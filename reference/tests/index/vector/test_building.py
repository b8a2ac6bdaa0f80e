"""Building of vector indices."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import IndexRefused
from lanceref.index.vector.building import assigned
from lanceref.index.vector.storage import Model

from .indexed import near, opened, points, write


def test_vectors_go_to_the_nearest_centroid():
    """The first of those as near; the loss is the sum of the distances."""
    model = Model("l2", np.array([[0, 0], [4, 0], [0, 0]], np.float32))
    numbers, loss = assigned(np.array([[1, 1], [2, 0], [4, 1]], np.float32), model)
    assert ([0, 0, 1], 2 + 4 + 1) == (numbers.tolist(), loss)


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("stable", [False, True])
def test_what_is_built_is_found(tmp_path, dtype, metric, stable):
    """With all partitions the answer is that of looking at every row."""
    values = points(dtype=dtype)
    dataset = write(values, tmp_path, enable_stable_row_ids=stable)
    dataset.create_index("v", "IVF_FLAT", num_partitions=5, metric=metric)
    assert values.dtype == opened(dataset).head.model.centroids.dtype
    for q in values[:3]:
        found = near(dataset, q, k=20, nprobes=5)
        wanted = near(dataset, q, k=20, use_index=False, metric=metric)
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-3, atol=1e-3)
        assert 18 <= len({*found[0]} & {*wanted[0]})


def test_centroids_that_are_given_are_kept(tmp_path):
    """Rows lie in the order of the table in each partition."""
    values = points()
    dataset = write(values, tmp_path)
    dataset.create_index("v", "IVF_FLAT", ivf_centroids=values[:3])
    index = opened(dataset)
    assert values[:3].tolist() == index.head.model.centroids.tolist()
    for number in range(3):
        assert (np.diff(index.keys(number).astype(np.int64)) > 0).all()


def test_fewer_vectors_than_partitions(tmp_path):
    """There are as many partitions as vectors; without any there is nothing to train with."""
    dataset = write(points(3), tmp_path)
    dataset.create_index("v", "IVF_FLAT", num_partitions=4)
    assert [1, 1, 1] == opened(dataset).auxiliary.partitions.lengths.tolist()
    nothing = pa.table({"v": pa.array([None] * 3, pa.list_(pa.float32(), 2))})
    dataset = pylanceref.write_dataset(nothing, tmp_path / "n")
    with pytest.raises(IndexRefused, match="vectors"):
        dataset.create_index("v", "IVF_FLAT", num_partitions=1)


def test_segments_are_merged(tmp_path):
    """Those of the same centroids become one with the rows of all."""
    values = points()
    dataset = write(values, tmp_path)
    built = [
        dataset.create_index_uncommitted(
            "v", "IVF_FLAT", fragment_ids=[number], ivf_centroids=values[:3]
        )
        for number in range(3)
    ]
    merged = dataset.merge_existing_index_segments(built)
    dataset.commit_existing_index_segments("v_idx", "v", [merged])
    assert near(dataset, values[5], k=9, nprobes=3) == near(
        dataset, values[5], k=9, use_index=False
    )
    other = dataset.create_index_uncommitted(
        "v", "IVF_FLAT", fragment_ids=[0], ivf_centroids=values[3:6]
    )
    with pytest.raises(IndexRefused, match="centroids"):
        dataset.merge_existing_index_segments([other, built[1]])
