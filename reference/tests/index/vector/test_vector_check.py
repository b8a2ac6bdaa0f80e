"""Vector indices, checked, and answers from damaged files."""

from __future__ import annotations

from pathlib import Path

import lanceref
import numpy as np
import pyarrow as pa
import pytest
from lanceref.errors import LanceError
from lanceref.index.vector import building

from .indexed import near, points, write

VALUES = points(300)


@pytest.mark.parametrize("kind", ["IVF_FLAT", "IVF_HNSW_FLAT", "IVF_HNSW_SQ"])
def test_what_was_written_is_sound(tmp_path, kind):
    """Every partition is read, and nothing is found."""
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", kind, ivf_centroids=VALUES[:3])
    assert [] == lanceref.validate(str(tmp_path / "t"), deep=True)


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
                assert near(lanceref.dataset(str(folder)), VALUES[7], k=5)[0]
            except LanceError:
                continue
        path.write_bytes(true)
    assert 5 == len(near(lanceref.dataset(str(folder)), VALUES[7], k=5)[0])
