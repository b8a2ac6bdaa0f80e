"""The product quantizer."""

import numpy as np
import pytest
from lanceref.kernels.distance import distances
from lanceref.kernels.product_quantizer import ProductQuantizer, columns_from, pair_columns, train

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


@pytest.mark.parametrize("num_bits", [4, 8])
@pytest.mark.parametrize(("metric", "wanted"), [("l2", [25, 0]), ("dot", [-3, -31])])
def test_worked_distances(metric, wanted, num_bits):
    """(4, 4) is 3 and 4 away from (1, 0), and both products are summed."""
    quantizer = grid(num_bits, metric=metric)
    rows = np.array([(1, 0), (4, 4)], np.float32)
    columns = columns_from(quantizer.encode(rows), num_bits)
    query = np.array((4, 4), np.float32)
    assert quantizer.distances(quantizer.table(query), columns).tolist() == wanted


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


@pytest.mark.parametrize("num_rows", [7, 70_000])
@pytest.mark.parametrize("num_bits", [4, 8])
@pytest.mark.parametrize("metric", ["l2", "dot"])
def test_the_nearest_are_found_without_all_codes(metric, num_bits, num_rows):
    """With the same distances to the last bit, of kept rows only, however few they are."""
    random = np.random.default_rng(5)
    quantizer = ProductQuantizer(random.normal(size=(8, 2**num_bits, 2)).astype(np.float32), metric)
    codes = random.integers(0, 2**num_bits, (8, num_rows)).astype(np.uint8)
    columns = pair_columns(columns_from(codes, num_bits))
    table = quantizer.table(random.normal(size=16).astype(np.float32))
    near = quantizer.distances(table, columns)
    for share in (1.0, 0.5, 0.0001):
        kept = random.random(num_rows) < share
        for k in (0, 1, 20):
            rows, found = quantizer.nearest(table, columns, kept, k)
            assert (np.diff(rows) > 0).all()
            assert kept[rows].all()
            np.testing.assert_array_equal(found, near[rows])
            np.testing.assert_array_equal(np.sort(found)[:k], np.sort(near[kept])[:k])
    if metric == "l2" and num_rows > 7:
        assert len(quantizer.nearest(table, columns, np.ones(num_rows, np.bool_), 1)[0]) < num_rows


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
