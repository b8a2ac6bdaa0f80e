"""HNSW: levels, spaces, selection of neighbours, building, repair and search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels import hnsw_build
from lanceref.kernels.hnsw_build import EMPTY, build, candidates, repair, select, space_of
from lanceref.kernels.hnsw_graph import (
    Admitted,
    Graph,
    GraphParameters,
    Level,
    entry_point,
    node_levels,
    search,
)
from numpy.typing import NDArray


def test_the_first_nodes_of_level_1_and_2_are_those_of_real_files() -> None:
    """With m = 20, files hold nodes 44, 69, 76, 84, 102 on level 1 and 364 first on level 2."""
    levels = node_levels(1000, 20, 7)

    assert [44, 69, 76, 84, 102] == np.flatnonzero(levels >= 1)[:5].tolist()
    assert np.flatnonzero(levels >= 2)[0] == 364 == entry_point(levels[:1000])


@given(st.integers(0, 3000), st.integers(4, 64), st.integers(1, 9))
def test_levels_do_not_depend_on_later_nodes(num_nodes: int, m: int, max_level: int) -> None:
    """A shorter graph has the levels of a longer one's first nodes, all below the limit."""
    levels = node_levels(num_nodes, m, max_level)

    assert levels.tolist() == node_levels(5000, m, max_level)[:num_nodes].tolist()
    assert ((levels >= 0) & (levels < max_level)).all()


def by_loop(vectors: NDArray[np.float32], node: int, candidates: list[int], m: int) -> list[int]:
    """Choose as the paper says it, one candidate after another."""

    def far(a: int, b: int) -> float:
        return float(((vectors[a] - vectors[b]) ** 2).sum())

    if len(candidates) <= m:
        return candidates
    accepted: list[int] = []
    aside: list[int] = []
    for new in candidates:
        if len(accepted) == m:
            break
        nearer = all(far(new, node) < far(new, old) for old in accepted)
        (accepted if nearer else aside).append(new)
    return accepted + aside[: m - len(accepted)]


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 8), st.integers(1, 3))
def test_blocks_choose_as_the_loop(seed: int, count: int, m: int, width: int) -> None:
    """Whole blocks of nodes choose what each of them would by the loop, ties included."""
    random = np.random.default_rng(seed)
    vectors = random.integers(-4, 5, (count + 3, width)).astype(np.float32)
    space = space_of(vectors, "l2")
    nodes = np.arange(count, count + 3)
    full = ((vectors[nodes][:, None] - vectors[None, :count]) ** 2).sum(2)
    order = np.argsort(full, axis=1, kind="stable")

    chosen, _ = select(space, order, np.take_along_axis(full, order, 1), m)

    for row, node in enumerate(nodes.tolist()):
        wanted = by_loop(vectors, node, order[row].tolist(), m)
        assert [n for n in chosen[row].tolist() if n != EMPTY] == wanted


@given(st.integers(0, 2**32), st.integers(1, 150), st.integers(1, 40))
def test_the_nearest_before_each_node_come_first(seed: int, num_nodes: int, most: int) -> None:
    """Every node is given its `most` nearest of those before it, as far as there are any."""
    vectors = np.random.default_rng(seed).integers(-9, 9, (num_nodes, 2))
    full = ((vectors[:, None] - vectors) ** 2).sum(2)
    seen: list[int] = []

    for rows, near, far in candidates(space_of(vectors, "l2"), most):
        seen += rows.tolist()
        for row, nodes, lengths in zip(rows.tolist(), near, far, strict=True):
            count = min(most, row)
            assert sorted(full[row, :row].tolist())[:count] == lengths[:count].tolist()
            assert full[row, nodes[:count]].tolist() == lengths[:count].tolist()
            assert (nodes[:count] < row).all()
            assert (nodes[count:] == EMPTY).all()

    assert seen == list(range(num_nodes))


@pytest.mark.parametrize(("metric", "crowded"), [("l2", False), ("dot", True)])
def test_regions_hold_nearly_all_that_is_near(
    metric: str, crowded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        monkeypatch.setattr(hnsw_build, "NEAR_ALL", first)
        monkeypatch.setattr(hnsw_build, "REGION_ROWS", 1500)
        monkeypatch.setattr(hnsw_build, "CELL_ROWS", 100)
        monkeypatch.setattr(hnsw_build, "LONGEST_ROWS", 300)
        monkeypatch.setattr(hnsw_build, "MOST_ROWS", 2000)
        graph = build(vectors, metric, GraphParameters(12, 60, 5))
        found = [search(graph, row.__getitem__, 40)[0][:10] for row in far]
        within = [row[own] <= np.sort(row)[9] for row, own in zip(far, found, strict=True)]
        hits.append(sum(int(one.sum()) for one in within))

    assert hits[1] >= hits[0] - 18
    assert hits[1] >= 540


SPACE = space_of(np.array([[0.0], [1.0], [5.0], [6.0]]), "l2")


def test_a_piece_of_two_gets_one_edge() -> None:
    """Rows 2 and 3 see each other only: the nearest reached row, 1, gets an edge to 2."""
    out = repair(SPACE, np.array([[1], [0], [3], [2]]))

    assert out.tolist() == [[1, EMPTY], [0, 2], [3, EMPTY], [2, EMPTY]]


def test_a_neighbour_of_its_own_comes_first() -> None:
    """Row 3 chose row 0, which was reached: 0 leads back to it although 2 is nearer."""
    out = repair(SPACE, np.array([[1], [2], [0], [0]]))

    assert out.tolist() == [[1, 3], [2, EMPTY], [0, EMPTY], [0, EMPTY]]


def test_a_row_gets_one_edge_more_at_most() -> None:
    """Three rows that chose row 0 and are chosen by none hang on different rows."""
    out = repair(SPACE, np.array([[EMPTY], [0], [0], [0]]))

    assert out[:, 0].tolist()[0] == 1
    assert ((out != EMPTY).sum(1) <= 2).all()
    assert sorted(out[out > 0].tolist()) == [1, 2, 3]


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


def level_of(edges: dict[int, list[int]]) -> Level:
    """Return a level by the neighbours of its nodes."""
    offsets = np.cumsum([0, *map(len, edges.values())])
    ends = np.array([end for ends in edges.values() for end in ends], np.int64)
    return Level(np.array(list(edges), np.int64), offsets, ends, np.zeros(len(ends), np.float32))


LINE = {0: [1], 1: [0, 2], 2: [1, 3], 3: [2, 4], 4: [3, 5], 5: [4]}
"""Six nodes in a row, each beside the next."""


def test_what_is_not_admitted_is_walked_over() -> None:
    """A filter that only admits the far end finds it, and distances outside bounds are left."""
    graph = Graph(0, (level_of(LINE),))
    only = np.array([False] * 5 + [True])

    def distance(nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        return nodes.astype(np.float32)

    assert search(graph, distance, 2, Admitted(only))[0].tolist() == [5]
    assert search(graph, distance, 9, Admitted(None, 1, 4))[0].tolist() == [1, 2, 3]
    assert search(graph, distance, 9, Admitted(np.zeros(6, np.bool_)))[0].tolist() == []


@given(st.integers(0, 2**32), st.integers(1, 150))
def test_a_walk_with_room_for_all_finds_all(seed: int, num_nodes: int) -> None:
    """On one level, with ef as large as the graph, every node is found, ordered."""
    random = np.random.default_rng(seed)
    vectors = random.integers(0, 4, (num_nodes, 2)).astype(np.float32)
    graph = build(vectors, "l2", GraphParameters(4, 10, 1))
    distances = ((vectors - random.integers(0, 4, 2)) ** 2).sum(1).astype(np.float32)

    found, far = search(graph, distances.__getitem__, num_nodes)

    assert found.tolist() == np.lexsort((np.arange(num_nodes), distances)).tolist()
    assert far.tolist() == distances[found].tolist()


def test_a_node_missing_above_has_no_neighbours_there() -> None:
    """An entry point that level 1 lacks is where the walk on level 0 starts."""
    graph = Graph(0, (level_of(LINE), level_of({4: [5], 5: [4]})))

    assert search(graph, lambda nodes: nodes.astype(np.float32), 1)[0].tolist() == [0]
