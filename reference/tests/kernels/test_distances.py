"""Distances between vectors, their nearest, and products of bytes."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.fast.indices import estimates, squares_of
from lanceref.kernels import distance
from lanceref.kernels.distance import blocks, distances, distances_from, products

FLOATS = (np.float16, np.float32, np.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("metric", "wanted"),
    [("l2", [0, 25, 50]), ("dot", [-24, 1, 26]), ("cosine", [0, 1, 2])],
)
def test_worked_numbers(metric, wanted, dtype):
    """Of (3, 4) from itself, from zero or a right angle, and from its opposite."""
    other = (0, 0) if metric != "cosine" else (4, -3)
    if metric == "l2":
        rows = np.array([(3, 4), other, (-2, -1)], dtype)
    else:
        rows = np.array([(3, 4), other, (-3, -4)], dtype)
    found = distances(np.array([(3, 4)], dtype), rows, metric)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [wanted], atol=1e-6)


def test_hamming_counts_bits():
    """Bits that differ are counted over all bytes."""
    rows = np.array([[0, 0], [255, 1], [3, 7]], np.uint8)
    found = distances(np.array([[0, 0], [255, 255]], np.uint8), rows, "hamming")
    assert found.tolist() == [[0, 9, 5], [16, 7, 11]]


@given(
    hnp.arrays(np.float32, (3, 5), elements=st.floats(-100, 100, width=32)),
    hnp.arrays(np.float32, (11, 5), elements=st.floats(-100, 100, width=32)),
    st.sampled_from(["l2", "dot"]),
    st.integers(1, 30),
)
def test_blocks_make_no_difference(queries, rows, metric, values):
    """Whatever is looked at together, the distances are those of float64."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance, "BLOCK_VALUES", values)
        found = distances(queries, rows, metric)
    wide = distances(queries.astype(np.float64), rows.astype(np.float64), metric)
    np.testing.assert_allclose(found, wide, rtol=1e-5, atol=0.05)


@given(
    hnp.arrays(np.float32, 5, elements=st.floats(-100, 100, width=32)),
    hnp.arrays(np.float32, (11, 5), elements=st.floats(-100, 100, width=32)),
    st.sampled_from(distance.METRICS),
    st.sampled_from(FLOATS),
)
def test_one_query_and_few_vectors(query, rows, metric, dtype):
    """They are as far as any; estimates are off by no more than they say."""
    of_rows = np.uint8 if metric == "hamming" else dtype
    query, rows = np.abs(query).astype(of_rows), np.abs(rows).astype(of_rows)
    wanted = distances(query[None], rows, metric)[0]
    found = distances_from(query, rows, metric)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=0.05)
    if metric == "l2":
        np.testing.assert_array_equal(found, wanted)
        near, error = estimates(query, rows, squares_of(rows))
        true = ((rows.astype(np.float64) - query.astype(np.float64)) ** 2).sum(1)
        assert (np.abs(near - true) <= error).all()
        assert (np.abs(near - found) <= error).all()
        assert error <= 1e-4 * (squares_of(rows).max() + (query.astype(np.float64) ** 2).sum() + 1)


def test_worked_products():
    """(1, 2) and (255, 0) times (3, -1); no rows have no products."""
    rows = np.array([[1, 2], [255, 0]], np.uint8)
    assert products(rows, np.array([3, -1], np.float32)).tolist() == [1, 765]
    assert products(rows[:0], np.array([3, -1], np.float32)).tolist() == []


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 64), st.sampled_from(["f4", "f8"]))
def test_products_of_blocks_are_those_of_all_rows(count, width, size, dtype):
    """Whole numbers come out exactly, in the type of the vector, whatever is multiplied at once."""
    of_rows = {1: "u1", 2: "f2"}.get(width % 3, "f4")
    rows = np.arange(count * width).reshape(count, width).astype(np.uint8).astype(of_rows)
    vector = np.arange(width, dtype=dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance, "BLOCK_VALUES", size)
        found, cut = products(rows, vector), list(blocks(rows))
    assert found.dtype == dtype
    assert found.tolist() == (rows.astype(np.int64) @ vector.astype(np.int64)).tolist()
    assert [place for one in cut for place in range(one.start, one.stop)] == list(range(count))
