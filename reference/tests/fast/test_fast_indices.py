"""Fast forms of what builds and searches indices: each gives what its plain form gives."""

from importlib.util import find_spec
from types import SimpleNamespace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis.extra import numpy as hnp
from lanceref.core.context import Context, plain_forms
from lanceref.core.cursor import Cursor
from lanceref.core.errors import FormatError
from lanceref.fast import documents
from lanceref.fast.codecs import KERNEL_USE, KernelUse
from lanceref.index.fm.partition import fnv_hash
from lanceref.index.full_text import packed_integers
from lanceref.index.full_text.tokenizers import cut_all, simple, whitespace
from lanceref.index.minhash.signature import signed
from lanceref.index.vector import storage
from lanceref.index.vector.pq_storage import Product
from lanceref.index.vector.rq_storage import Rotated
from lanceref.index.vector.sq_storage import Bounds, Sq
from lanceref.index.vector.storage import Flat, Model
from lanceref.kernels import hnsw_graph, kmeans, rabitq_estimate
from lanceref.kernels.distance import products
from lanceref.kernels.hnsw_graph import Admitted, Level
from lanceref.kernels.product_quantizer import ProductQuantizer, look_up

COMPILED = pytest.mark.skipif(find_spec("numba") is None, reason="the extra `fast`")
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(params=[False, pytest.param(True, marks=COMPILED)], ids=["numpy", "compiled"])
def kernels(request, monkeypatch):
    """With compiled kernels from the first call on, or without."""
    use = KernelUse(request.param, enough=-1, smallest=0)
    monkeypatch.setattr("lanceref.fast.indices.KERNEL_USE", use)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SEEDS, st.integers(1, 40), st.integers(0, 600), st.sampled_from(["f4", "i4"]))
def test_codes_are_looked_up_alike(kernels, seed, width, rows, dtype):
    """The same sums to the last bit, of no row, one, few and many."""
    random = np.random.default_rng(seed)
    table = (random.normal(size=(width, 256)) * 1000).astype(dtype)
    columns = random.integers(0, 256, (width, rows)).astype(np.uint8)

    assert np.array_equal(look_up.plain(table, columns), look_up.fast(table, columns))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SEEDS, st.integers(1, 70), st.integers(0, 600), st.sampled_from(["u1", "f2", "f4"]))
def test_rows_are_multiplied_alike(kernels, seed, dimension, count, dtype):
    """By whole numbers exactly, by others up to rounding; rows of floats and bytes."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, 256, (count, dimension)).astype(dtype)
    whole, numbers = random.integers(0, 256, dimension), random.normal(size=dimension)
    for vector, tolerance in ((whole, 0), (numbers, 1e-6)):
        plain, fast = (call(rows, vector.astype("f4")) for call in (products.plain, products.fast))
        size = 255 * np.abs(vector).sum()
        np.testing.assert_allclose(fast, plain, rtol=0, atol=tolerance * size)


def level_of(random: np.random.Generator, count: int) -> Level:
    """Return a level of nodes with up to five neighbours each, drawn at random."""
    degrees = random.integers(0, 6, count)
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    ends = random.integers(0, count, int(offsets[-1]))
    return Level(np.arange(count), offsets, ends, np.zeros(len(ends), np.float32))


@given(SEEDS, st.integers(1, 40), st.integers(1, 12), st.booleans())
def test_a_level_is_searched_alike(seed, count, ef, filtered):
    """The same nodes at the same distances, also where many are equally far."""
    random = np.random.default_rng(seed)
    level, far = level_of(random, count), random.integers(0, 9, count).astype(np.float32)
    admitted = Admitted(random.random(count) < 0.5, 1, 7) if filtered else Admitted()
    form, start = hnsw_graph.search_layer, int(random.integers(count))
    plain, fast = (
        sorted(call(level, far.__getitem__, start, ef, admitted))
        for call in (form.plain, form.fast)
    )

    assert plain == fast


def _quantizer(kind: str, random: np.random.Generator, metric: str) -> storage.Quantizer:
    model = Model(metric, random.normal(size=(1, 16)).astype(np.float32))
    if kind == "flat":
        return Flat(model)
    if kind == "sq":
        return Sq(model, Bounds(-3.0, 3.0))
    if kind == "pq":
        words = random.normal(size=(4, 256, 4)).astype(np.float32)
        return Product(model, ProductQuantizer(words, model.of_vectors), transposed=True)
    rotation = rabitq_estimate.draw_rotation(16, random)
    return Rotated(model, rotation, 5, packed=True)


@pytest.mark.parametrize("metric", ["l2", "dot"])
@pytest.mark.parametrize("kind", ["flat", "sq", "pq", "rq"])
@given(SEEDS, st.integers(1, 400), st.integers(1, 12), st.floats(0, 1), st.sampled_from([0, 1e5]))
def test_the_nearest_rows_are_among_those_found(kind, metric, seed, count, k, share, far_off):
    """With their distances, of whatever rows are kept, also where all lie far from 0."""
    random = np.random.default_rng(seed)
    quantizer = _quantizer(kind, random, metric)
    shift = far_off if (kind, metric) == ("flat", "l2") else 0
    vectors = (random.normal(size=(count, 16)) + shift).astype(np.float32)
    columns = quantizer.encode(vectors, np.zeros(count, np.int64))
    rows, kept = quantizer.open_rows(columns, 0), random.random(count) < share
    query, form = (random.normal(size=16) + shift).astype(np.float32), storage.nearest_rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lanceref.fast.indices.BLOCK_VALUES", 64)
        found, near = form.fast(rows, query, "normal", kept, k)
    with plain_forms():
        every, far = form.plain(rows, query, "normal", kept, k)

    assert kept[found].all()
    at = np.searchsorted(every, found)
    np.testing.assert_allclose(near, far[at], rtol=1e-4, atol=1e-4)
    best = every[np.argsort(far, kind="stable")[:k]]
    assert set(best.tolist()) <= set(found.tolist())


@given(st.binary(max_size=60), st.integers(0, 20))
def test_varints_are_parsed_alike(data, count):
    """The same numbers and the same place afterwards, or an error."""
    found: list[object] = []
    for call in (packed_integers.parse_varints.plain, packed_integers.parse_varints.fast):
        cursor = Cursor(memoryview(data), 0, Context("x"))
        try:
            found.append((call(cursor, count, "n").tolist(), cursor.position))
        except FormatError as error:
            found.append(error.clause)

    assert found[0] == found[1]


WHOLE = st.integers(-50, 50)


@pytest.mark.parametrize("metric", ["l2", "dot", "hamming"])
@given(st.data(), st.integers(1, 40), st.integers(1, 9), st.integers(1, 6))
def test_vectors_are_assigned_and_summed_alike(metric, draw, count, k, dim):
    """Of whole numbers, whose products are exact, also where centroids are equally near."""
    dtype = np.uint8 if metric == "hamming" else draw.draw(st.sampled_from(["f2", "f4", "f8"]))
    numbers = st.integers(0, 255) if metric == "hamming" else WHOLE
    vectors, centroids = (
        draw.draw(hnp.arrays(np.int16, (rows, dim), elements=numbers)).astype(dtype)
        for rows in (count, k)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lanceref.fast.indices.BLOCK_SCORES", 20)
        ids, partial = (
            [call(vectors, centroids, metric) for call in (form.plain, form.fast)]
            for form in (kmeans.assign, kmeans.partial_sums)
        )

    assert ids[0].tolist() == ids[1].tolist()
    one, other = partial
    assert (one.sums.dtype, one.sums.tolist()) == (other.sums.dtype, other.sums.tolist())
    assert (one.counts.tolist(), one.loss) == (other.counts.tolist(), other.loss)


@given(
    hnp.arrays(np.float32, (30, 3), elements=st.floats(-10, 10, width=32)),
    hnp.arrays(np.float32, (5, 3), elements=st.floats(-10, 10, width=32)),
)
@example(np.ones((30, 3), np.float32), np.float32([[-1e-42] * 3, [0, -1e-42, -1e-42]]))
@example(np.full((30, 3), 1e-22, np.float32), np.float32([[1e-22, 0, 0], [2e-22, 2e-22, 0]]))
def test_any_vectors_are_assigned_alike_by_l2(vectors, centroids):
    """Where products are rounded the nearest centroids are the same, and the sum of distances."""
    ids = [call(vectors, centroids, "l2") for call in (kmeans.assign.plain, kmeans.assign.fast)]
    one = kmeans.partial_sums.plain(vectors, centroids, "l2").loss
    other = kmeans.partial_sums.fast(vectors, centroids, "l2").loss

    assert ids[0].tolist() == ids[1].tolist()
    size = kmeans.squared_lengths(vectors, "l2") + kmeans.squared_lengths(centroids, "l2") * 30
    assert abs(one - other) <= 1e-5 * size + 1e-30


@given(st.binary(max_size=40), st.integers(1, 5))
def test_bytes_are_hashed_alike(data, together):
    """However many are hashed together."""
    powers = documents._POWERS[-together:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "HASHED", together)
        patch.setattr(documents, "_POWERS", powers)

        assert fnv_hash.plain(data) == fnv_hash.fast(data)


@given(st.lists(st.text("ab9é.\n \x00", max_size=8), max_size=5))
def test_texts_are_cut_alike(texts):
    """The same words of each text, at the same positions."""
    for cut in (simple, whitespace):
        plain, fast = (call(cut, texts) for call in (cut_all.plain, cut_all.fast))

        assert list(map(list, plain)) == list(map(list, fast))


@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=4), max_size=5),
    st.integers(1, 9),
    st.booleans(),
)
def test_texts_are_signed_alike(texts, num_hashes, is_there):
    """With the compiled kernel, where numba is installed, and without."""
    hashes = np.array([one for text in texts for one in text], np.uint64)
    counts = np.array(list(map(len, texts)), np.int64)
    use = KernelUse(is_there and KERNEL_USE.is_there, enough=-1, smallest=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "KERNEL_USE", use)
        plain, fast = (call(hashes, counts, num_hashes) for call in (signed.plain, signed.fast))

    assert plain.dtype == fast.dtype
    assert plain.tolist() == fast.tolist()


def test_kernels_wait_until_enough_was_decoded_without_them():
    """The first hundred bytes are decoded without, then calls of ten bytes and more with."""
    patience = KernelUse(is_there=True, enough=100, smallest=10)

    assert [False, False, True, False] == [patience.use(size) for size in (60, 40, 10, 9)]


@COMPILED
def test_a_kernel_is_compiled_where_its_code_cannot_be_kept(monkeypatch):
    """Without a folder to write to, the function is compiled anew in every process."""

    from lanceref.fast import compiled

    def njit(function=None, *, cache=False, fastmath=False):
        def refuse(_):
            raise RuntimeError("no locator available")

        return refuse if cache else ("compiled", function)

    monkeypatch.setattr("lanceref.fast.compiled.numba", SimpleNamespace(njit=njit))

    assert ("compiled", len) == compiled.compiled(len)
