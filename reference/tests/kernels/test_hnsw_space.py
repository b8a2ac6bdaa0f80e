"""Space: the two formulas give the distances of the four metrics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels.hnsw_graph import space_of
from numpy.typing import NDArray


@pytest.mark.parametrize(
    ("metric", "left", "right", "wanted"),
    [
        ("l2", [3, 4], [0, 0], 25.0),
        ("dot", [3, 4], [1, 2], -10.0),
        ("cosine", [3, 4], [4, 3], 1 - 24 / 25),
        ("hamming", [3, 4], [1, 1], 3.0),
    ],
)
def test_worked_distances(metric: str, left: list[int], right: list[int], wanted: float) -> None:
    """Each way of asking gives the distance worked by hand, both ways round."""
    space = space_of(np.array([left, right], np.uint8), metric)
    zero = np.array([0]), np.array([1])

    assert space.pairs(*zero)[0] == pytest.approx(wanted, abs=1e-6)
    assert space.take(slice(1, 2)).to(space)[0, 0] == pytest.approx(wanted, abs=1e-6)
    assert space.to_one(np.array([1]))[0, 0] == pytest.approx(wanted, abs=1e-6)
    assert space.take(np.array([1, 0])).pairs(*zero)[0] == pytest.approx(wanted, abs=1e-6)


@given(st.integers(0, 2**32), st.sampled_from(["l2", "dot", "hamming"]), st.integers(1, 30))
def test_blocks_are_their_pairs(seed: int, metric: str, num_rows: int) -> None:
    """Whole numbers are exact: blocks, groups and pairs agree to the bit."""
    random = np.random.default_rng(seed)
    vectors: NDArray[np.uint8] = random.integers(0, 256, (num_rows, 3), dtype=np.uint8)
    space = space_of(vectors, metric)
    rows = np.arange(num_rows)
    left, right = np.repeat(rows, num_rows), np.tile(rows, num_rows)

    pairs = space.pairs(left, right).reshape(num_rows, num_rows)

    assert pairs.tolist() == space.to(space).tolist()
    for row in rows.tolist():
        assert pairs[:, row].tolist() == space.to_one(np.array([row]))[0].tolist()
    halves = space.take(np.concatenate((rows, rows))).to_one(np.array([0, num_rows - 1]))
    assert pairs[:, [0, -1]].T.tolist() == halves.tolist()


def test_directions_are_of_length_one_by_dot_product() -> None:
    """Vectors of one direction lie together then, and l2 leaves vectors alone."""
    space = space_of(np.array([[1, 0], [9, 0], [0, 2]]), "dot")
    zero = space_of(np.zeros((1, 2)), "dot")

    np.testing.assert_allclose(
        space.directions.to(space.directions), [[0, 0, 2], [0, 0, 2], [2, 2, 0]], atol=1e-6
    )
    assert np.isfinite(zero.directions.vectors).all()
    assert (nearby := space_of(np.eye(2), "l2")).directions is nearby
