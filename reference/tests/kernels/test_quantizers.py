"""Distances of vectors and products of bytes; quantizers: codes, and distances from these."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.fast import indices as fast
from lanceref.index.vector import sq_storage
from lanceref.kernels import distance
from lanceref.kernels.distance import blocks, distances, distances_from, products
from lanceref.kernels.product_quantizer import (
    ProductQuantizer,
    codes_in,
    columns_from,
    columns_of,
    stored_from,
    train,
)

DTYPES = (np.float16, np.float32, np.float64)


def grid(num_bits, dtype=np.float32, metric="l2"):
    """Return a quantizer of two numbers each on its own: codeword c of the first is c, then 2 c."""
    line = np.arange(2**num_bits, dtype=dtype)
    return ProductQuantizer(np.stack([line, 2 * line])[:, :, None], metric)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("metric", ["l2", "dot"])
@pytest.mark.parametrize("num_bits", [4, 8])
def test_codes_are_the_nearest_codewords(num_bits, metric, dtype):
    """Whatever the metric, 3.4 is the codeword 3, and 9 of even numbers the first that is near."""
    quantizer = grid(num_bits, dtype, metric)
    codes = quantizer.encode(np.array([(3.4, 9), (-5, 12.2)], dtype))
    assert codes.tolist() == [[3, 0], [4, 6]]
    decoded = quantizer.decode(codes)
    assert (decoded.dtype, decoded.tolist()) == (dtype, [[3, 8], [0, 12]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_bits", [4, 8])
@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_distances_are_those_from_what_codes_stand_for(metric, num_bits, dtype):
    """The sum of table entries is the distance from the decoded vector, for more than a block."""
    random = np.random.default_rng(5)
    codebook = random.normal(size=(4, 2**num_bits, 3)).astype(dtype)
    quantizer = ProductQuantizer(codebook, metric)
    codes = random.integers(0, 2**num_bits, (4, 20_000)).astype(np.uint8)
    query = random.normal(size=12).astype(dtype)
    found = quantizer.distances(quantizer.table(query), columns_from(codes, num_bits))
    wanted = distances(query[None], quantizer.decode(codes), metric)[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("num_bits", [4, 8])
def test_training_brings_codewords_near(num_bits):
    """Trained codewords lose less of the vectors than vectors drawn at random."""
    random = np.random.default_rng(5)
    vectors = random.normal(size=(2000, 8)).astype(np.float32)
    trained = train(vectors, 4, num_bits, "l2", random)
    drawn = vectors[: 2**num_bits].reshape(2**num_bits, 4, 2).transpose(1, 0, 2)
    assert trained.codebook.shape == drawn.shape == (4, 2**num_bits, 2)

    def lost(quantizer):
        return np.square(quantizer.decode(quantizer.encode(vectors)) - vectors).sum()

    assert lost(trained) < 0.8 * lost(ProductQuantizer(drawn, "l2"))


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(0, 40))), st.booleans())
def test_columns_come_back(columns, transposed):
    """What was stored of columns is read as them."""
    stored = stored_from(columns, transposed=transposed)
    assert stored.shape == columns.shape[::-1]
    np.testing.assert_array_equal(columns_of(stored, transposed=transposed), columns)


@pytest.mark.parametrize("num_bits", [4, 8])
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(0, 40))))
def test_codes_come_back(num_bits, columns):
    """Codes taken from bytes make these bytes again."""
    np.testing.assert_array_equal(columns_from(codes_in(columns, num_bits), num_bits), columns)


def test_worked_bytes():
    """Fractions are cut, what is outside gets the nearest byte."""
    vectors = np.array([[0, 10, 5, 9.99, -3, 11, float("nan")]])
    assert [[0, 255, 127, 254, 0, 255, 0]] == sq_storage.quantize(
        vectors, sq_storage.Bounds(0, 10)
    ).tolist()
    assert [[0, 0]] == sq_storage.quantize(np.array([[1.0, 2]]), sq_storage.Bounds(1, 1)).tolist()


def test_worked_byte_distances():
    """A step is a 255th of the width, in float32."""
    codes = np.array([[0, 1], [3, 1]], np.uint8)
    bounds = sq_storage.Bounds(0, 510)
    assert [4 * 4, 4 * 1] == sq_storage.l2_distances(
        np.array([2, 1], np.uint8), codes, sq_storage.squares_of(codes), bounds
    ).tolist()
    assert [1 - 10, 1 - 16] == sq_storage.dot_distances(np.array([1.0, 5]), codes, bounds).tolist()
    shifted = sq_storage.Bounds(1, 511)
    assert [1 - 16, 1 - 22] == sq_storage.dot_distances(np.array([1.0, 5]), codes, shifted).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.sampled_from([1, 8, 256, 300]))
def test_distances_of_bytes_are_exact(seed, count, dim):
    """As sums of squared differences, also of many numbers."""
    random, bounds = np.random.default_rng(seed), sq_storage.Bounds(-1.0, 2.0)
    codes, query = random.integers(0, 256, (count, dim), np.uint8), np.full(dim, 255, np.uint8)
    squares = ((codes.astype(np.int64) - query) ** 2).sum(axis=1).astype(np.float32)
    found = sq_storage.l2_distances(query, codes, sq_storage.squares_of(codes), bounds)

    assert found.tolist() == (squares * (bounds.step * bounds.step)).tolist()


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50), st.integers(0, 99))
def test_numbers_are_at_most_half_a_step_away(values, more):
    """From the middle of their byte, within bounds that may be wider."""
    vectors = np.array([values], np.float32)
    bounds = sq_storage.bounds_of(vectors).union(sq_storage.Bounds(0, float(more)))
    step = (bounds.end - bounds.start) / 255
    gap = np.abs(sq_storage.numbers_of(sq_storage.quantize(vectors, bounds), bounds) - vectors)
    assert (gap <= step * 0.5001 + 1e-9).all() or gap.max() <= step


FLOATS = (np.float16, np.float32, np.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("metric", "wanted"), [("l2", [0, 25, 50]), ("dot", [-24, 1, 26]), ("cosine", [0, 1, 2])]
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
        near, error = fast.estimates(query, rows, fast.squares_of(rows))
        true = ((rows.astype(np.float64) - query.astype(np.float64)) ** 2).sum(1)
        assert (np.abs(near - true) <= error).all()
        assert (np.abs(near - found) <= error).all()
        assert error <= 1e-4 * (
            fast.squares_of(rows).max() + (query.astype(np.float64) ** 2).sum() + 1
        )


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
