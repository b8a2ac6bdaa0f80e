"""Vector indices, checked."""

from __future__ import annotations

from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pylanceref
import pytest
from lanceref.core.errors import LanceError
from lanceref.index.vector import building

from .indexed import near, points, write

VALUES = points(300)


def findings(dataset) -> list[str]:
    """Return the clauses that a thorough check of the table finds broken."""
    return [one.clause for one in lanceref.validate(dataset.uri, deep=True)]


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("index_type", ["IVF_FLAT", "IVF_SQ", "IVF_RQ", "IVF_HNSW_FLAT"])
def test_what_is_built_is_right(tmp_path, index_type, metric):
    """Nothing is found."""
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", index_type, num_partitions=4, metric=metric)
    assert [] == findings(dataset)


@pytest.mark.parametrize("index_type", ["IVF_FLAT", "IVF_SQ"])
def test_a_vector_in_another_partition(tmp_path, monkeypatch, index_type):
    """It is found among vectors that are kept as they are, and of others by their rows."""
    true = building.assigned

    def wrong(vectors, model):
        numbers, loss = true(vectors, model)
        numbers[7] = (numbers[7] + 1) % len(model.centroids)
        return numbers, loss

    monkeypatch.setattr(building, "assigned", wrong)
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", index_type, ivf_centroids=VALUES[:3])
    assert "L.index.vector.assignment" in findings(dataset)


def test_a_vector_that_is_not_finite(tmp_path, monkeypatch):
    """It should have been left out."""
    true = building.EncodedRows.in_order

    def wrong(rows):
        partitions, keys, columns = true(rows)
        columns["flat"][5, 2] = np.nan
        return partitions, keys, columns

    monkeypatch.setattr(building.EncodedRows, "in_order", wrong)
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", "IVF_FLAT", num_partitions=2)
    assert ["L.index.vector.rows.left-out"] == findings(dataset)


@pytest.mark.parametrize("name", ["index.idx", "auxiliary.idx"])
def test_broken_files(tmp_path, name):
    """Both files are held against the clauses of data files."""
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", "IVF_SQ", num_partitions=2)
    (path,) = (tmp_path / "t").glob(f"_indices/*/{name}")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert findings(dataset)


def test_partitions_that_nobody_asks_for_are_read(tmp_path, monkeypatch):
    """A fault in the last partition is found."""
    dataset = write(VALUES, tmp_path)
    true = building.arrow_column

    def changed(values, type_):
        column = true(values, type_).to_pylist()
        return pa.array([*column[:-1], None], type_)

    monkeypatch.setattr(building, "arrow_column", changed)
    dataset.create_index("v", "IVF_SQ", ivf_centroids=VALUES[:3])
    found = lanceref.validate(str(tmp_path / "t"), deep=True)
    assert "L.index.vector.columns.null" in {one.clause for one in found}


@pytest.mark.parametrize("kind", ["IVF_HNSW_FLAT", "IVF_HNSW_SQ"])
def test_damaged_files_are_refused_or_answer(tmp_path, kind):
    """Any byte of either file set to another: an error of ours, or rows; never none."""
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", kind, num_partitions=1, m=4, ef_construction=8)
    random = np.random.default_rng(11)
    folder = Path(tmp_path / "t")
    for path in sorted(folder.glob("_indices/*/*.idx")):
        true = path.read_bytes()
        places = [*range(len(true) - 150, len(true), 5), *random.integers(0, len(true), 90)]
        for place in places:
            data = bytearray(true)
            data[place] ^= int(random.integers(1, 256))
            path.write_bytes(data)
            try:
                assert near(pylanceref.dataset(str(folder)), VALUES[7], k=5)[0]
            except LanceError:
                continue
        path.write_bytes(true)
    assert 5 == len(near(pylanceref.dataset(str(folder)), VALUES[7], k=5)[0])
