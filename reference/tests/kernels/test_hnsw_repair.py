"""HNSW repair: what cannot be reached gets an edge."""

from __future__ import annotations

import numpy as np
from lanceref.kernels.hnsw_build import repair
from lanceref.kernels.hnsw_graph import EMPTY, EdgeTable, space_of

SPACE = space_of(np.array([[0.0], [1.0], [5.0], [6.0]]), "l2")


def table(rows: list[list[int]]) -> EdgeTable:
    """Return edges whose lengths do not matter."""
    neighbours = np.array(rows)
    return EdgeTable(neighbours, np.zeros(neighbours.shape, np.float32))


def test_a_graph_in_one_piece_is_left_alone() -> None:
    """Where every row is reached nothing changes."""
    whole = table([[1, EMPTY], [2, EMPTY], [3, EMPTY], [0, EMPTY]])

    assert repair(SPACE, whole) is whole


def test_a_piece_of_two_gets_one_edge() -> None:
    """Rows 2 and 3 see each other only: the nearest reached row, 1, gets an edge to 2."""
    out = repair(SPACE, table([[1], [0], [3], [2]]))

    assert out.neighbours.tolist() == [[1, EMPTY], [0, 2], [3, EMPTY], [2, EMPTY]]


def test_a_neighbour_of_its_own_comes_first() -> None:
    """Row 3 chose row 0, which was reached: 0 leads back to it although 2 is nearer."""
    out = repair(SPACE, table([[1], [2], [0], [0]]))

    assert out.neighbours.tolist() == [[1, 3], [2, EMPTY], [0, EMPTY], [0, EMPTY]]


def test_a_row_gets_one_edge_more_at_most() -> None:
    """Three rows that chose row 0 and are chosen by none hang on different rows."""
    out = repair(SPACE, table([[EMPTY], [0], [0], [0]]))

    assert out.neighbours[:, 0].tolist()[0] == 1
    assert ((out.neighbours != EMPTY).sum(1) <= 2).all()
    assert sorted(out.neighbours[out.neighbours > 0].tolist()) == [1, 2, 3]
