"""Graphs built by blocks: candidates, selection and regions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.fast import graphs
from lanceref.fast.graphs import candidates, select, space_of_blocks
from lanceref.kernels import hnsw_build
from lanceref.kernels.hnsw_build import EMPTY, build, space_of
from lanceref.kernels.hnsw_graph import GraphParameters, search


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 8), st.integers(1, 3))
def test_blocks_choose_as_the_plain_form(seed, count, m, width):
    """Whole blocks of nodes choose what each of them would by algorithm 4, ties included."""
    random = np.random.default_rng(seed)
    vectors = random.integers(-4, 5, (count + 3, width)).astype(np.float32)
    space, plain = space_of_blocks(vectors, "l2"), space_of(vectors, "l2")
    nodes = np.arange(count, count + 3)
    full = ((vectors[nodes][:, None] - vectors[None, :count]) ** 2).sum(2)
    order = np.argsort(full, axis=1, kind="stable")

    chosen, _ = select(space, order, np.take_along_axis(full, order, 1), m)

    for row in range(3):
        near = list(zip(full[row, order[row]].tolist(), order[row].tolist(), strict=True))
        wanted = hnsw_build.select(plain, near, m) if count > m else order[row].tolist()
        assert [n for n in chosen[row].tolist() if n != EMPTY] == wanted


@given(st.integers(0, 2**32), st.integers(1, 150), st.integers(1, 40))
def test_the_nearest_before_each_node_come_first(seed, num_nodes, most):
    """Every node is given its `most` nearest of those before it, as far as there are any."""
    vectors = np.random.default_rng(seed).integers(-9, 9, (num_nodes, 2))
    full = ((vectors[:, None] - vectors) ** 2).sum(2)
    seen: list[int] = []

    for rows, near, far in candidates(space_of_blocks(vectors, "l2"), most):
        seen += rows.tolist()
        for row, nodes, lengths in zip(rows.tolist(), near, far, strict=True):
            count = min(most, row)
            assert sorted(full[row, :row].tolist())[:count] == lengths[:count].tolist()
            assert full[row, nodes[:count]].tolist() == lengths[:count].tolist()
            assert (nodes[:count] < row).all()
            assert (nodes[count:] == EMPTY).all()

    assert seen == list(range(num_nodes))


@pytest.mark.parametrize(("metric", "crowded"), [("l2", False), ("dot", True)])
def test_regions_hold_nearly_all_that_is_near(metric, crowded, monkeypatch):
    """Graphs by regions are as good as those by all nodes, equal vectors or not."""
    random = np.random.default_rng(2)
    vectors = random.normal(size=(6000, 8)).astype(np.float32)
    if crowded:
        vectors[random.random(6000) < 0.5] = vectors[0]
    queries = random.normal(size=(60, 8)).astype(np.float32)
    products = queries @ vectors.T
    far = 1 - products if metric == "dot" else (vectors**2).sum(1) - 2 * products
    hits = []
    for first in (1 << 15, 1000):
        monkeypatch.setattr(graphs, "NEAR_ALL", first)
        monkeypatch.setattr(graphs, "REGION_ROWS", 1500)
        monkeypatch.setattr(graphs, "CELL_ROWS", 100)
        monkeypatch.setattr(graphs, "LONGEST_ROWS", 300)
        monkeypatch.setattr(graphs, "MOST_ROWS", 2000)
        graph = build.fast(vectors, metric, GraphParameters(12, 60, 5))
        found = [search(graph, row.__getitem__, 40)[0][:10] for row in far]
        within = [row[own] <= np.sort(row)[9] for row, own in zip(far, found, strict=True)]
        hits.append(sum(int(one.sum()) for one in within))

    assert hits[1] >= hits[0] - 18
    assert hits[1] >= 540


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot", "hamming"])
def test_both_ways_to_build_give_graphs_that_find_as_much(metric):
    """Of 600 vectors, the ten nearest to each of 50 are found by nearly all walks of either."""
    vectors = np.random.default_rng(5).integers(1, 256, (600, 6)).astype(np.uint8)
    space, every = space_of(vectors, metric), np.arange(600)
    hits = []
    for form in (build.plain, build.fast):
        graph = form(vectors, metric, GraphParameters(8, 40, 4))
        for query in range(50):
            far = space.pairs(np.full(600, query), every)
            found, _ = search(graph, far.__getitem__, 40)
            hits.append(int((far[found[:10]] <= np.sort(far)[9]).sum()))

    assert sum(hits[:50]) >= 480
    assert sum(hits[50:]) >= 480
