"""FLAT storage."""

from __future__ import annotations

import numpy as np
import pytest
from lanceref.core.context import Context
from lanceref.core.errors import FormatError
from lanceref.index.vector import flat_storage
from lanceref.index.vector.flat_storage import FLAT, Flat
from lanceref.index.vector.storage import Model

MODEL = Model("cosine", np.zeros((1, 2), np.float32))
PLACE = Context("f").at(0, 0)


def test_vectors_are_kept():
    """Distances are exact; those between rows are by l2 where directions count."""
    flat = Flat(MODEL)
    vectors = np.array([[0.6, 0.8], [0, 1]], np.float32)
    rows = flat.unpack(flat.pack(flat.encode(vectors, np.zeros(2, np.int64))))
    stored = flat.open_rows(rows, 0)
    near = stored.score(np.array([0, 1], np.float32), "normal")
    np.testing.assert_allclose([0.2, 0], near(slice(None)), atol=1e-6)
    np.testing.assert_allclose([0], near(np.array([1])), atol=1e-6)
    points = stored.points()
    assert MODEL.of_vectors == "l2"
    np.testing.assert_allclose(0.2, ((points[0] - points[1]) ** 2).sum(), atol=1e-6)


@pytest.mark.parametrize("given", [{}, {"dim": 3}, {"dim": "2"}, {"dim": None}])
def test_another_dimension_is_refused(given):
    """It is that of the centroids."""
    with pytest.raises(FormatError, match="dimension"):
        FLAT.parse(given, None, MODEL, PLACE)
    assert {"dim": 2} == FLAT.parse({"dim": 2}, None, MODEL, PLACE).metadata()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_nearest_are_found_by_estimates(dtype, monkeypatch):
    """The same rows as by all distances, of those that are kept, though all lie far from 0."""
    source = np.random.default_rng(2)
    vectors = (source.normal(size=(500, 8)) + 50).astype(dtype)
    stored = Flat(Model("l2", np.zeros((1, 8), dtype))).open_rows({"flat": vectors}, 0)
    kept = source.random(500) < 0.5
    query = vectors[7]
    every = stored.score(query, "normal")(slice(None))
    wanted = np.flatnonzero(kept)[np.argsort(every[kept], kind="stable")[:5]]
    monkeypatch.setattr(flat_storage, "BLOCK_VALUES", 100)
    rows, near = stored.nearest(query, "normal", kept, 5)
    assert set(wanted) <= set(rows) < set(np.flatnonzero(kept))
    np.testing.assert_array_equal(every[rows], near)
