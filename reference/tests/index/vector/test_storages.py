"""Storages and files of vectors, worked by hand, also of early releases; searches."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.file_versions import V2_1
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.index.vector import searching
from lanceref.index.vector.graph import (
    GRAPH_SCHEMA,
    graph_rows,
    graph_text,
    parse_graph_text,
    read_graph,
)
from lanceref.index.vector.pq_storage import COLUMN, Product
from lanceref.index.vector.rq_storage import ADD, BLOCKED, ERROR, FOLLOWING, SCALE, SIGNS, Rotated
from lanceref.index.vector.single_file import is_single_file, open_single_file, single_file
from lanceref.index.vector.sq_storage import Bounds, Sq
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_index import ivf_message, parse_partitions, partitions_of
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import USUAL, GraphParameters
from lanceref.kernels.product_quantizer import ProductQuantizer
from lanceref.kernels.rabitq_codes import codes_in
from lanceref.kernels.rabitq_estimate import MatrixRotation
from lanceref.storage import BytesSource, LocalStore


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
    newer = Rotated.train(None, model_of(), {"num_bits": 4})
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


PLACE = Context("f").at(0, 0)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9), st.booleans())
def test_partitions_follow_one_another(lengths, with_offsets):
    """What is written is read, and offsets can be left out."""
    message = ivf_message(partitions_of(lengths))
    if not with_offsets:
        message.ClearField("offsets")
    found = parse_partitions(message, sum(lengths), PLACE)
    assert lengths == found.lengths.tolist()
    assert [sum(lengths[:n]) for n in range(len(lengths))] == found.starts.tolist()


PLACE_GRAPH = Context("index.idx").at(0, 0)


def file_of(folder, *batches, findings=None) -> IndexFile:
    """Write rows as a file and open it."""
    store = LocalStore(folder)
    write_index_file(store, "index.idx", GRAPH_SCHEMA, V2_1, batches, {}, [])
    return IndexFile(store.open("index.idx"), Context("index.idx", findings=findings))


def test_texts_are_those_of_real_files():
    """Of 735 nodes 30 are on level 1, and one on level 2."""
    wanted = (
        '{"entry_point":364,"params":{"max_level":7,"m":20,"ef_construction":150,'
        '"prefetch_distance":2},"level_offsets":[0,735,765,766,766,766,766,766]}'
    )
    assert wanted == graph_text(735, USUAL, 2).text
    assert graph_text(735, USUAL, 2) == parse_graph_text(wanted, PLACE_GRAPH)
    assert parse_graph_text("", PLACE_GRAPH) is None


@given(st.integers(1, 120), st.integers(4, 9), st.integers(1, 5))
def test_graphs_come_back(tmp_path_factory, num_nodes, m, max_level):
    """A graph comes back as it was, and its text says how many rows it has."""
    random = np.random.default_rng(num_nodes)
    parameters = GraphParameters(m, 20, max_level)
    graph = build(random.normal(size=(num_nodes, 3)), "l2", parameters)
    said, batch = graph_text(num_nodes, parameters, None), graph_rows(graph)
    file = file_of(tmp_path_factory.mktemp("g"), batch)
    found = read_graph(file, said.text, 0, said.offsets[-1], num_nodes, distances=True)
    assert batch.num_rows == said.offsets[-1]
    assert graph.entry_point == found.entry_point
    for level, own in zip(graph.levels, found.levels, strict=True):
        for name in ("nodes", "offsets", "neighbours", "distances"):
            assert getattr(level, name).tolist() == getattr(own, name).tolist()


def data_of(num_bits=4, metric="l2", apart=False):
    """Return a file of two partitions of 1 and 2 rows, dimension 4, its quantizer and codes."""
    model = Model(metric, np.array([[0] * 4, [8] * 4], np.float32))
    words = np.arange(2**num_bits, dtype=np.float32)
    codebook = np.stack([words * factor for factor in (1, 2, 3, 4)])[:, :, None]
    quantizer = Product(model, ProductQuantizer(codebook, model.of_vectors), True)
    codes = np.arange(0x21, 0x21 + 3 * num_bits // 2, dtype=np.uint8).reshape(3, -1) * 7
    stored = np.stack([codes & 15, codes >> 4], axis=2).reshape(3, -1) if apart else codes
    columns, keys = {COLUMN: stored}, np.array([5, 7, 9], np.uint64)
    return single_file(quantizer, partitions_of([1, 2]), keys, columns, 1.5, "v"), quantizer, codes


def opened_bytes(data):
    """Open bytes as a file."""
    return open_single_file(BytesSource(data), Context("index.idx"))


@pytest.mark.parametrize(("num_bits", "apart"), [(4, False), (4, True), (8, False)])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_single_files_come_back(num_bits, apart, metric):
    """Model, codewords and rows, codes `apart` in bytes too; another file is recognised."""
    data, quantizer, codes = data_of(num_bits, metric, apart)
    assert is_single_file(BytesSource(data))
    assert not is_single_file(BytesSource(data[:-8] + b"\2\0\1\0LANC"))
    assert not is_single_file(BytesSource(b"LANC"))
    file = opened_bytes(data)
    assert (file.model.metric, list(file.message.lengths)) == (metric, [1, 2])
    np.testing.assert_array_equal(file.model.centroids, quantizer.model.centroids)
    np.testing.assert_array_equal(file.quantizer.quantizer.codebook, quantizer.quantizer.codebook)
    keys, rows = file.partition(1)
    assert (keys.tolist(), rows[COLUMN].tolist()) == ([7, 9], codes[1:].tolist())


def test_codewords_among_the_metadata():
    """Releases up to 0.24 call the number of bits otherwise."""
    wanted = line()
    said = wanted.metadata() | {"codebook_position": 0, "codebook_tensor": [*wanted.buffers()[0]]}
    said["num_bits"] = said.pop("nbits")
    file = SimpleNamespace(ctx=Context("auxiliary.idx"))
    found = Product.parse(said, file, wanted.model, PLACE).quantizer
    np.testing.assert_array_equal(found.codebook, wanted.quantizer.codebook)


def test_partitions_by_hand():
    """By the distance of the centroids, the first of those as near first."""
    model = Model("l2", np.array([[3], [1], [9], [1]], np.float32))
    assert [1, 3, 0, 2] == searching.ranking(model, np.array([0], np.float32))[0].tolist()
    dot = Model("dot", model.centroids)
    assert [2, 0, 1, 3] == searching.ranking(dot, np.array([1], np.float32))[0].tolist()


GROWING = (1.01 ** np.arange(60)).astype(np.float32)


def first(near, asked, metric="l2", rows=10**6) -> int:
    """Return how many are searched first."""
    return searching.probes(np.array(near, np.float32), asked, metric, rows)[0]


@pytest.mark.parametrize(
    ("k", "counts"), [(1, (19, 5, 5)), (2, (24, 6, 6)), (10, (24, 6, 6)), (11, (29, 11, 7))]
)
def test_as_many_as_are_about_as_near(k, counts):
    """Within bounds, and there are no more than there are."""
    assert counts[0] == first(GROWING, searching.SearchParameters(k))
    assert counts[1] == first(GROWING**99, searching.SearchParameters(k))
    assert min(counts[2], 7) == first(GROWING[:7] ** 99, searching.SearchParameters(k))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (searching.SearchParameters(11, 7), (29, 60)),
        (searching.SearchParameters(1, 30), (30, 60)),
        (searching.SearchParameters(1, None, 3), (3, 3)),
        (searching.SearchParameters(1, 99, 99), (60, 60)),
        (searching.SearchParameters(30, final_k=1), (19, 60)),
        (searching.SearchParameters(1, effort=0.25), (5, 60)),
        (searching.SearchParameters(1, 20, 40, effort=0.75), (29, 40)),
    ],
)
def test_what_a_caller_asks_for(asked, wanted):
    """Bounds hold; what is wanted in the end decides, not what is compared again."""
    assert wanted == searching.probes(GROWING, asked, "l2", 10**6)


ROWS = st.lists(st.tuples(st.integers(0, 99), st.sampled_from([0.0, 1.0, 2.0, np.inf, np.nan])))


def of(rows) -> searching.Neighbours:
    """Return neighbours by id and distance."""
    ids, near = [one for one, _ in rows], [one for _, one in rows]
    return searching.Neighbours(np.array(ids, np.uint64), np.array(near, np.float32))


@given(ROWS, st.integers(1, 20))
def test_the_nearest_stand_first(rows, k):
    """Those as near lie by their id; what is no number is nowhere."""
    found = of(rows).within((None, None)).best(k)
    wanted = sorted((near, id_) for id_, near in rows if not np.isnan(near))[:k]
    assert wanted == list(zip(found.distances.tolist(), found.ids.tolist(), strict=True))


def test_the_ends_of_a_range():
    """The lower end is in it, the upper one is not."""
    rows = of([(1, 1), (2, 2), (3, 3)])
    assert [1, 2] == rows.within((1, 3)).ids.tolist()
    assert [2, 3] == rows.within((1.5, None)).ids.tolist()
    assert [] == rows.within((3, 1)).ids.tolist()


def test_sums_over_the_queries_of_one_row():
    """A row counts once; where it is not found it is as far as the furthest that is."""
    found = searching.sum_distances([of([(1, 1.0), (2, 2.0), (1, 4.0)]), of([(2, 8.0), (3, 9.0)])])
    assert [(1, 10), (2, 10), (3, 13)] == list(
        zip(found.ids.tolist(), found.distances.tolist(), strict=True)
    )
