"""HNSW graphs: levels from tables of edges."""

from __future__ import annotations

import numpy as np
from lanceref.kernels.hnsw_graph import EMPTY, EdgeTable, Graph, graph_of


def table(rows: list[list[int]]) -> EdgeTable:
    """Return edges, each as long as its end says."""
    neighbours = np.array(rows)
    return EdgeTable(neighbours, neighbours.astype(np.float32))


def test_levels_hold_the_nodes_that_reach_them() -> None:
    """Of three nodes the middle one is on level 1, alone, and searches start there."""
    graph = graph_of(
        np.array([0, 1, 0]), [table([[1, 2], [0, EMPTY], [1, EMPTY]]), table([[EMPTY]])]
    )

    assert graph.entry_point == 1
    assert graph.num_nodes == 3
    assert [level.nodes.tolist() for level in graph.levels] == [[0, 1, 2], [1]]
    assert graph.levels[0].offsets.tolist() == [0, 2, 3, 4]
    assert graph.levels[0].neighbours.tolist() == [1, 2, 0, 1]
    assert graph.levels[0].distances.tolist() == [1, 2, 0, 1]


def test_neighbours_are_those_of_the_level() -> None:
    """A node has its neighbours where it is, and none on a level that lacks it."""
    graph = graph_of(np.array([0, 1, 1]), [table([[1], [0], [1]]), table([[2], [1]])])

    assert [graph.levels[0].neighbours_of(node).tolist() for node in range(4)] == [
        [1],
        [0],
        [1],
        [],
    ]
    assert [graph.levels[1].neighbours_of(node).tolist() for node in range(3)] == [[], [2], [1]]


def test_nothing_is_a_graph() -> None:
    """A graph without levels has no nodes."""
    assert Graph(0, ()).num_nodes == 0
