"""HNSW neighbours: the heuristic against itself written as a loop."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels.hnsw_build import select
from lanceref.kernels.hnsw_graph import EMPTY, space_of
from numpy.typing import NDArray


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


def test_a_candidate_behind_another_is_set_aside() -> None:
    """Of 1, 2, -3 seen from 0, two places go to 1 and -3: 2 is nearer to 1 than to 0."""
    space = space_of(np.array([[0.0], [1.0], [2.0], [-3.0]]), "l2")
    far = np.array([[1, 4, 9]], np.float32)

    table = select(space, np.array([[1, 2, 3]]), far, 2)

    assert table.neighbours.tolist() == [[1, 3]]
    assert table.distances.tolist() == [[1, 9]]


def test_places_left_are_filled_with_the_nearest_set_aside() -> None:
    """Of 1, 2, 3, 4 seen from 0, only 1 is accepted; 2 fills the second place."""
    space = space_of(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), "l2")

    table = select(space, np.array([[1, 2, 3, 4]]), np.array([[1, 4, 9, 16]], np.float32), 2)

    assert table.neighbours.tolist() == [[1, 2]]


def test_few_candidates_are_all_kept_in_their_order() -> None:
    """Two candidates for two places are kept, a wider row of others notwithstanding."""
    space = space_of(np.array([[0.0], [1.0], [2.0], [-3.0]]), "l2")
    rows = np.array([[1, 2, EMPTY], [1, 2, 3]])
    far = np.array([[1, 4, np.inf], [1, 4, 9]], np.float32)

    assert select(space, rows, far, 2).neighbours.tolist() == [[1, 2], [1, 3]]


@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 8), st.integers(1, 3))
def test_blocks_choose_as_the_loop(seed: int, count: int, m: int, width: int) -> None:
    """Whole blocks of nodes choose what each of them would by the loop, ties included."""
    random = np.random.default_rng(seed)
    vectors = random.integers(-4, 5, (count + 3, width)).astype(np.float32)
    space = space_of(vectors, "l2")
    nodes = np.arange(count, count + 3)
    full = ((vectors[nodes][:, None] - vectors[None, :count]) ** 2).sum(2)
    order = np.argsort(full, axis=1, kind="stable")

    table = select(space, order, np.take_along_axis(full, order, 1), m)

    for row, node in enumerate(nodes.tolist()):
        wanted = by_loop(vectors, node, order[row].tolist(), m)
        assert [n for n in table.neighbours[row].tolist() if n != EMPTY] == wanted
