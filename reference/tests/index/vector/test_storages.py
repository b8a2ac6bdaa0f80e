"""Storages of vectors, worked by hand: what is encoded, and distances from it."""

from dataclasses import replace

import numpy as np
import pytest
from lanceref.fast import indices as module
from lanceref.fast.indices import nearest_rows
from lanceref.index.vector.pq_storage import COLUMN, Product
from lanceref.index.vector.rq_storage import ADD, BLOCKED, ERROR, FOLLOWING, SCALE, SIGNS, Rotated
from lanceref.index.vector.rq_storage import train as train_rq
from lanceref.index.vector.sq_storage import Bounds, Sq
from lanceref.index.vector.storage import Flat, Model
from lanceref.kernels.product_quantizer import ProductQuantizer
from lanceref.kernels.rabitq_codes import codes_in
from lanceref.kernels.rabitq_estimate import MatrixRotation


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
    monkeypatch.setattr(module, "BLOCK_VALUES", 100)
    rows, near = nearest_rows(stored, query, "normal", kept, 5)
    assert set(wanted) <= set(rows) < set(np.flatnonzero(kept))
    np.testing.assert_array_equal(every[rows], near)


def scalar(metric="l2", bounds=(-12.0, 12.0)) -> Sq:
    """Return a quantizer of vectors of 8 numbers."""
    return Sq(Model(metric, np.zeros((1, 8), np.float32)), Bounds(*bounds))


def test_what_bytes_stand_for():
    """The first of 255 steps is the lower bound, the last the upper one."""
    sq = scalar(bounds=(-1, 50))
    vectors = np.array([[-9, -1, -0.79, -0.7, 0, 49.9, 50, 99]], np.float32)
    stored = sq.open_rows(sq.encode(vectors, np.zeros(1, np.int64)), 0)
    expected = [[-1, -1, -0.8, -0.8, 0, 49.8, 50, 50]]
    np.testing.assert_allclose(stored.points() - 1, expected, atol=1e-5)


def line(metric="l2", dtype=np.float32, transposed=True):
    """Return a quantizer of pairs: codewords 0 .. 15 and 0 .. 30, centroids (0, 0), (8, 8)."""
    words = np.arange(16, dtype=dtype)
    codebook = np.stack([words, 2 * words])[:, :, None]
    model = Model(metric, np.array([(0, 0), (8, 8)], dtype))
    return Product(model, ProductQuantizer(codebook, model.of_vectors), transposed)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("metric", "wanted"), [("l2", [0x12, 0x20]), ("dot", [0x5A, 0x68])])
def test_codes_are_of_residuals_but_for_dot(metric, wanted, dtype):
    """(10, 10) in the partition of (8, 8) is (2, 2), codes 2 and 1; for dot it is 10 and 5."""
    quantizer = line(metric, dtype)
    vectors = np.array([(10, 10), (8, 12)], dtype)
    rows = quantizer.encode(vectors, np.array([1, 1]))
    assert rows[COLUMN].tolist() == [[one] for one in wanted]


PLAIN = MatrixRotation(np.eye(8, dtype=np.float32))


def unrotated(num_bits, center, metric="l2", **form):
    """Return a quantizer around a center [8] that rotates nothing."""
    return Rotated(Model(metric, center[None]), PLAIN, num_bits, packed=False, **form)


def test_worked_distances():
    """A vector whose components are all as large is its code: the distance is exact."""
    vectors = np.array([[1, -1, 1, -1, 1, 1, 1, 1]], np.float32)
    quantizer = unrotated(1, np.zeros(8, np.float32))
    rows = quantizer.encode(vectors, np.array([0]))
    assert rows[SIGNS].tolist() == [[0b11110101]]
    assert (rows[ADD].tolist(), rows[SCALE].tolist()) == ([8], [-4])
    assert rows[ERROR].tolist() == [0]
    stored = quantizer.open_rows(rows, 0)
    query = np.arange(8, dtype=np.float32)
    assert stored.score(query, "normal")(slice(None)).tolist() == [
        1 + 4 + 1 + 16 + 9 + 16 + 25 + 36
    ]
    np.testing.assert_array_equal(stored.points(), vectors)


@pytest.mark.parametrize("metric", ["l2", "dot"])
@pytest.mark.parametrize(
    ("num_bits", "form"), [(1, {}), (1, {"residual": True, "errors": False}), (5, {}), (9, {})]
)
def test_what_codes_stand_for(num_bits, form, metric):
    """Of a vector with components of one size, itself, by both estimators."""
    center = np.arange(8, dtype=np.float32)
    residuals = np.array([[2, -2, 2, -2, 2, 2, 2, 2], [0.5] * 8, [-1] * 8], np.float32)
    quantizer = unrotated(num_bits, center, metric, **form)
    stored = quantizer.open_rows(quantizer.encode(center + residuals, np.zeros(3, int)), 0)
    np.testing.assert_allclose(stored.points(), center + residuals, rtol=1e-6, atol=1e-6)


DIM = 16


RANDOM = np.random.default_rng(11)


def model_of(metric="l2", dtype=np.float32):
    """Return two centroids."""
    return Model(metric, RANDOM.normal(size=(2, DIM)).astype(dtype))


def drawn(num_rows=70):
    """Return vectors, and their partitions."""
    vectors = RANDOM.normal(size=(num_rows, DIM)).astype(np.float32)
    return vectors, np.arange(num_rows) % 2


def test_codes_that_follow_each_other_become_blocks():
    """Older rows are read, and written in blocks when they are joined."""
    newer = train_rq(None, model_of(), {"num_bits": 4})
    rows = newer.encode(*drawn(40))
    codes = codes_in(rows[BLOCKED], DIM, 3)
    bits = np.unpackbits(codes[:, :, None], axis=2, count=3, bitorder="little")
    following = np.packbits(bits.reshape(40, -1), axis=1, bitorder="little")
    older = replace(newer, blocked=False)
    said = {name: column for name, column in rows.items() if name != BLOCKED}
    said[FOLLOWING] = following
    assert {field.name for field in older.fields} == set(said)
    joined = older.merge([newer])
    np.testing.assert_array_equal(joined.convert(older, said)[BLOCKED], rows[BLOCKED])
    assert joined.convert(newer, rows) is rows
    query = RANDOM.normal(size=DIM).astype(np.float32)
    one, two = (
        quantizer.open_rows(columns, 0).score(query, "normal")(slice(None))
        for quantizer, columns in ((older, said), (newer, rows))
    )
    np.testing.assert_array_equal(one, two)
