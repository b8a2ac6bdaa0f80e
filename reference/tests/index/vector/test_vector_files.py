"""Files of vector indices, also of early releases; which partitions are searched, and how."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import Context
from lanceref.core.file_versions import V2_1
from lanceref.index.index_file import IndexFile, write_index_file
from lanceref.index.vector.graph import (
    GRAPH_SCHEMA,
    graph_rows,
    graph_text,
    parse_graph_text,
    read_graph,
)
from lanceref.index.vector.pq_storage import COLUMN, Product
from lanceref.index.vector.searching import (
    Neighbours,
    SearchParameters,
    probes,
    ranking,
    sum_distances,
)
from lanceref.index.vector.single_file import is_single_file, open_single_file, single_file
from lanceref.index.vector.storage import Model
from lanceref.index.vector.vector_index import ivf_message, parse_partitions, partitions_of
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import USUAL, GraphParameters
from lanceref.kernels.product_quantizer import ProductQuantizer
from lanceref.storage import BytesSource, LocalStore

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


def data_of(num_bits=4, metric="l2"):
    """Return a file of two partitions of 1 and 2 rows, dimension 2, and its quantizer."""
    model = Model(metric, np.array([(0, 0), (8, 8)], np.float32))
    words = np.arange(2**num_bits, dtype=np.float32)
    codebook = np.stack([words, 2 * words])[:, :, None]
    quantizer = Product(model, ProductQuantizer(codebook, model.of_vectors), True)
    width = num_bits * 2 // 8
    keys = np.array([5, 7, 9], np.uint64)
    codes = np.repeat(np.array([[0x21], [0x43], [0x43]], np.uint8), width, axis=1)
    return single_file(quantizer, partitions_of([1, 2]), keys, {COLUMN: codes}, 1.5, "v"), quantizer


def opened_bytes(data):
    """Open bytes as a file."""
    return open_single_file(BytesSource(data), Context("index.idx"))


@pytest.mark.parametrize("num_bits", [4, 8])
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_single_files_come_back(num_bits, metric):
    """Model, codewords and rows; a file of another kind is recognised."""
    data, quantizer = data_of(num_bits, metric)
    assert is_single_file(BytesSource(data))
    assert not is_single_file(BytesSource(data[:-8] + b"\2\0\1\0LANC"))
    assert not is_single_file(BytesSource(b"LANC"))
    file = opened_bytes(data)
    assert (file.model.metric, list(file.message.lengths)) == (metric, [1, 2])
    np.testing.assert_array_equal(file.model.centroids, quantizer.model.centroids)
    np.testing.assert_array_equal(file.quantizer.quantizer.codebook, quantizer.quantizer.codebook)
    keys, rows = file.partition(1)
    assert (keys.tolist(), set(rows[COLUMN].ravel().tolist())) == ([7, 9], {0x43})


def test_partitions_by_hand():
    """By the distance of the centroids, the first of those as near first."""
    model = Model("l2", np.array([[3], [1], [9], [1]], np.float32))
    assert [1, 3, 0, 2] == ranking(model, np.array([0], np.float32))[0].tolist()
    dot = Model("dot", model.centroids)
    assert [2, 0, 1, 3] == ranking(dot, np.array([1], np.float32))[0].tolist()


GROWING = (1.01 ** np.arange(60)).astype(np.float32)


def first(near, asked, metric="l2", rows=10**6) -> int:
    """Return how many are searched first."""
    return probes(np.array(near, np.float32), asked, metric, rows)[0]


@pytest.mark.parametrize(
    ("k", "counts"), [(1, (19, 5, 5)), (2, (24, 6, 6)), (10, (24, 6, 6)), (11, (29, 11, 7))]
)
def test_as_many_as_are_about_as_near(k, counts):
    """Within bounds, and there are no more than there are."""
    assert counts[0] == first(GROWING, SearchParameters(k))
    assert counts[1] == first(GROWING**99, SearchParameters(k))
    assert min(counts[2], 7) == first(GROWING[:7] ** 99, SearchParameters(k))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (SearchParameters(1, 3), (19, 60)),
        (SearchParameters(1, 30), (30, 60)),
        (SearchParameters(1, None, 3), (3, 3)),
        (SearchParameters(1, 99, 99), (60, 60)),
        (SearchParameters(30, final_k=1), (19, 60)),
    ],
)
def test_what_a_caller_asks_for(asked, wanted):
    """Bounds hold; what is wanted in the end decides, not what is compared again."""
    assert wanted == probes(GROWING, asked, "l2", 10**6)


ROWS = st.lists(st.tuples(st.integers(0, 99), st.sampled_from([0.0, 1.0, 2.0, np.inf, np.nan])))


def of(rows) -> Neighbours:
    """Return neighbours by id and distance."""
    ids, near = [one for one, _ in rows], [one for _, one in rows]
    return Neighbours(np.array(ids, np.uint64), np.array(near, np.float32))


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
    found = sum_distances([of([(1, 1.0), (2, 2.0), (1, 4.0)]), of([(2, 8.0), (3, 9.0)])])
    assert [(1, 10), (2, 10), (3, 13)] == list(
        zip(found.ids.tolist(), found.distances.tolist(), strict=True)
    )
