"""Product quantizer and scalar quantizer: codes, distances from codes, codes as bytes."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp
from lanceref.index.vector.sq_storage import (
    Bounds,
    bounds_of,
    dot_distances,
    l2_distances,
    numbers_of,
    quantize,
    squares_of,
)
from lanceref.kernels.distance import distances
from lanceref.kernels.product_quantizer import (
    ProductQuantizer,
    codes_in,
    columns_from,
    columns_of,
    look_up,
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


@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(1, 5), st.integers(0, 40))),
    st.booleans(),
)
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


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 6), st.integers(0, 300))))
def test_sums_of_few_rows_and_of_many(dtype, columns):
    """They are those of the entries, in the type of the table."""
    table = np.random.default_rng(1).integers(-1000, 1000, (len(columns), 256)).astype(dtype)
    wanted = sum(row[column].astype(int) for row, column in zip(table, columns, strict=True))
    found = look_up(table, columns)

    assert (found.dtype, found.tolist()) == (dtype, wanted.tolist())


def test_worked_bytes():
    """Fractions are cut, what is outside gets the nearest byte."""
    vectors = np.array([[0, 10, 5, 9.99, -3, 11, float("nan")]])
    assert [[0, 255, 127, 254, 0, 255, 0]] == quantize(vectors, Bounds(0, 10)).tolist()
    assert [[0, 0]] == quantize(np.array([[1.0, 2]]), Bounds(1, 1)).tolist()


def test_worked_byte_distances():
    """A step is a 255th of the width, in float32."""
    codes = np.array([[0, 1], [3, 1]], np.uint8)
    bounds = Bounds(0, 510)
    assert [4 * 4, 4 * 1] == l2_distances(
        np.array([2, 1], np.uint8), codes, squares_of(codes), bounds
    ).tolist()
    assert [1 - 10, 1 - 16] == dot_distances(np.array([1.0, 5]), codes, bounds).tolist()
    shifted = Bounds(1, 511)
    assert [1 - 16, 1 - 22] == dot_distances(np.array([1.0, 5]), codes, shifted).tolist()


@given(st.integers(0, 2**32 - 1), st.integers(0, 40), st.sampled_from([1, 8, 256, 300]))
def test_distances_of_bytes_are_exact(seed, count, dim):
    """As sums of squared differences, also of many numbers."""
    random, bounds = np.random.default_rng(seed), Bounds(-1.0, 2.0)
    codes, query = random.integers(0, 256, (count, dim), np.uint8), np.full(dim, 255, np.uint8)
    squares = ((codes.astype(np.int64) - query) ** 2).sum(axis=1).astype(np.float32)
    found = l2_distances(query, codes, squares_of(codes), bounds)

    assert found.tolist() == (squares * (bounds.step * bounds.step)).tolist()


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50), st.integers(0, 99))
def test_numbers_are_at_most_half_a_step_away(values, more):
    """From the middle of their byte, within bounds that may be wider."""
    vectors = np.array([values], np.float32)
    bounds = bounds_of(vectors).union(Bounds(0, float(more)))
    step = (bounds.end - bounds.start) / 255
    gap = np.abs(numbers_of(quantize(vectors, bounds), bounds) - vectors)
    assert (gap <= step * 0.5001 + 1e-9).all() or gap.max() <= step
