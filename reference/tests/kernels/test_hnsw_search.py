"""HNSW search: a walk by hand, filters, and walks that see everything."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import Graph, GraphParameters, Level
from lanceref.kernels.hnsw_search import Admitted, search
from numpy.typing import NDArray


def level_of(edges: dict[int, list[int]]) -> Level:
    """Return a level by the neighbours of its nodes."""
    offsets = np.cumsum([0, *map(len, edges.values())])
    ends = np.array([end for ends in edges.values() for end in ends], np.int64)
    return Level(np.array(list(edges), np.int64), offsets, ends, np.zeros(len(ends), np.float32))


LINE = {0: [1], 1: [0, 2], 2: [1, 3], 3: [2, 4], 4: [3, 5], 5: [4]}
"""Six nodes in a row, each beside the next."""


def test_a_walk_ends_where_nothing_is_nearer() -> None:
    """From node 0 towards 3.1, with room for two: 3 and 4 are kept."""
    graph = Graph(0, (level_of(LINE),))

    found, far = search(graph, lambda nodes: np.abs(nodes - 3.1).astype(np.float32), 2)

    assert found.tolist() == [3, 4]
    np.testing.assert_allclose(far, [0.1, 0.9], rtol=1e-5)


def test_upper_levels_lead_to_the_start() -> None:
    """Level 1 leads from 0 to 4; nodes before 3 are never asked for their distance on level 0."""
    asked: list[int] = []

    def distance(nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        asked.extend(nodes.tolist())
        return np.abs(nodes - 5).astype(np.float32)

    graph = Graph(0, (level_of(LINE), level_of({0: [4], 4: [0]})))

    assert search(graph, distance, 1)[0].tolist() == [5]
    assert not {1, 2} & set(asked)


def test_a_node_missing_above_has_no_neighbours_there() -> None:
    """An entry point that level 1 lacks is where the walk on level 0 starts."""
    graph = Graph(0, (level_of(LINE), level_of({4: [5], 5: [4]})))

    assert search(graph, lambda nodes: nodes.astype(np.float32), 1)[0].tolist() == [0]


def test_room_for_more_is_made_while_looking_around_a_node() -> None:
    """The start is the nearest, and its 4 neighbours are all kept by a walk with room for 5."""
    star = Graph(0, (level_of({0: [1, 2, 3, 4], 1: [0], 2: [0], 3: [0], 4: [0]}),))

    assert search(star, lambda nodes: nodes.astype(np.float32), 5)[0].tolist() == [0, 1, 2, 3, 4]


def test_the_bound_tightens_while_looking_around_a_node() -> None:
    """A full walk admits a neighbour if it beats the farthest kept just then."""
    star = Graph(0, (level_of({0: [4, 3, 2, 1], 1: [0], 2: [0], 3: [0], 4: [0]}),))

    assert search(star, lambda nodes: nodes.astype(np.float32), 2)[0].tolist() == [0, 1]


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
