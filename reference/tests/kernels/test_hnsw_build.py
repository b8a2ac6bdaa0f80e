"""HNSW build: what every graph must be, and that searches in it find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import Graph, GraphParameters, node_levels
from lanceref.kernels.hnsw_search import search
from numpy.typing import NDArray


def far(a: NDArray[np.generic], b: NDArray[np.generic], metric: str) -> NDArray[np.float64]:
    """Return the distances of rows to rows, by the definition."""
    if metric == "hamming":
        bits = np.unpackbits(a[:, None] ^ b[None], axis=2)
        return bits.sum(2).astype(np.float64)
    x, y = a.astype(np.float64), b.astype(np.float64)
    if metric == "l2":
        return ((x[:, None] - y[None]) ** 2).sum(2)
    if metric == "cosine":
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        y /= np.linalg.norm(y, axis=1, keepdims=True)
    return 1 - x @ y.T


def check(graph: Graph, num_nodes: int, parameters: GraphParameters) -> None:
    """Assert the shape of a graph: levels, degrees, edges, and that all can be reached."""
    levels = node_levels(num_nodes, parameters.m, parameters.max_level)
    assert graph.num_nodes == num_nodes
    assert len(graph.levels) == levels.max() + 1
    for number, level in enumerate(graph.levels):
        assert level.nodes.tolist() == np.flatnonzero(levels >= number).tolist()
        degrees = np.diff(level.offsets)
        assert degrees.max() <= (parameters.m if number else 2 * parameters.m + 1)
        owners = np.repeat(level.nodes, degrees)
        assert (owners != level.neighbours).all()
        assert np.isin(level.neighbours, level.nodes).all()
        pairs = owners * num_nodes + level.neighbours
        assert len(np.unique(pairs)) == len(pairs)
    seen, border = {graph.entry_point}, [graph.entry_point]
    while border:
        around = graph.levels[0].neighbours_of(border.pop()).tolist()
        border.extend(set(around) - seen)
        seen.update(around)
    assert len(seen) == num_nodes


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot", "hamming"])
def test_nearly_all_neighbours_are_found(metric: str) -> None:
    """In a graph of 2000 vectors a search with ef 50 finds 95 % of the ten nearest."""
    random = np.random.default_rng(7)
    if metric == "hamming":
        vectors: NDArray[np.generic] = random.integers(0, 256, (2000, 8), dtype=np.uint8)
    else:
        vectors = random.normal(size=(2000, 16)).astype(np.float32)
    parameters = GraphParameters()
    graph = build(vectors, metric, parameters)
    check(graph, len(vectors), parameters)
    queries = vectors[:40]
    distances = far(queries, vectors, metric).astype(np.float32)

    hits = 0
    for row in distances:
        found, _ = search(graph, row.__getitem__, 50)
        worst = np.sort(row)[9]
        hits += int((row[found[:10]] <= worst).sum())

    assert hits >= 0.95 * 400


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot", "hamming"])
def test_edges_say_how_long_they_are(metric: str) -> None:
    """The distance of an edge is that of its ends."""
    random = np.random.default_rng(3)
    vectors: NDArray[np.generic] = random.integers(1, 200, (300, 4)).astype(np.uint8)
    if metric != "hamming":
        vectors = vectors.astype(np.float32)
    level = build(vectors, metric, GraphParameters(4, 20, 3)).levels[0]
    owners = np.repeat(level.nodes, np.diff(level.offsets))

    wanted = far(vectors, vectors, metric)[owners, level.neighbours]

    np.testing.assert_allclose(level.distances, wanted, rtol=1e-5, atol=1e-6)


@given(
    st.integers(0, 2**32), st.integers(1, 200), st.integers(4, 8), st.integers(1, 5), st.booleans()
)
def test_every_graph_has_its_shape(
    seed: int, num_nodes: int, m: int, width: int, is_l2: bool
) -> None:
    """Few values, many duplicates: degrees stay below the limits and every node is reached."""
    random = np.random.default_rng(seed)
    vectors = random.integers(0, 3, (num_nodes, width)).astype(np.float32)
    parameters = GraphParameters(m, m + int(random.integers(0, 20)), 4)

    check(build(vectors, "l2" if is_l2 else "dot", parameters), num_nodes, parameters)


def test_equal_vectors_make_a_graph_too() -> None:
    """A thousand times the same vector: every one can be reached."""
    check(build(np.ones((1000, 4)), "l2", GraphParameters()), 1000, GraphParameters())


def test_no_vectors_make_an_empty_graph() -> None:
    """There is nothing to search in a graph of nothing."""
    graph = build(np.empty((0, 4)), "l2", GraphParameters())

    assert graph.num_nodes == 0
    assert len(search(graph, lambda nodes: nodes.astype(np.float32), 5)[0]) == 0
