"""Vectors that an index can have."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.index.vector.vector_kind import VECTOR
from lanceref.index.vector.vectors import has_vectors, indexed_vectors, sampled_vectors
from lanceref.operations.index_build import indexed_field, training_of

from .indexed import points, write


def training(dataset):
    """Return the rows of the column of vectors."""
    snapshot = dataset._snapshot
    field, _ = indexed_field(snapshot.manifest.schema, "v")
    return training_of(snapshot, VECTOR, field, snapshot.fragments)


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


@pytest.mark.parametrize("most", [10, 100, 500, 1000])
def test_samples_are_rows_of_the_table(tmp_path, most):
    """As many as are asked for, each at most once, in their order."""
    values = np.arange(600 * 8, dtype=np.float32).reshape(600, 8)
    dataset = write(values, tmp_path)
    found = sampled_vectors(training(dataset), "l2", most, np.random.default_rng(0))
    first = found[:, 0]
    assert min(most, 600) == len(found)
    assert (np.diff(first) > 0).all()
    assert set(first.tolist()) <= set(values[:, 0].tolist())


def test_stable_row_ids_are_keys(tmp_path):
    """Where rows keep their ids."""
    dataset = write(points(), tmp_path, enable_stable_row_ids=True)
    keys = np.concatenate([one.keys for one in indexed_vectors(training(dataset), "l2")])
    assert list(range(600)) == keys.tolist()


def test_vectors_that_are_not_null_are_counted(tmp_path):
    """Whatever numbers they have; of a row each."""
    values = [[3, 4], None, [float("nan"), 0], [0, 0]]
    table = pa.table({"v": pa.array(values, pa.list_(pa.float32(), 2))})
    rows = training(pylanceref.write_dataset(table, tmp_path / "t", max_rows_per_file=2))
    assert has_vectors(rows, 3)
    assert not has_vectors(rows, 4)
    several = pa.array([values[:1] * 3, None, [], values], pa.list_(pa.list_(pa.float32(), 2)))
    rows = training(pylanceref.write_dataset(pa.table({"v": several}), tmp_path / "s"))
    assert has_vectors(rows, 6)
    assert not has_vectors(rows, 7)
