"""HNSW: levels, spaces, selection of neighbours, building, repair and search."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from lanceref.core.context import plain_forms
from lanceref.kernels.hnsw_build import EMPTY, build, repair, select, space_of
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


def test_the_first_nodes_of_level_1_and_2_are_those_of_real_files():
    """With m = 20, files hold nodes 44, 69, 76, 84, 102 on level 1 and 364 first on level 2."""
    levels = node_levels(1000, 20, 7)

    assert [44, 69, 76, 84, 102] == np.flatnonzero(levels >= 1)[:5].tolist()
    assert np.flatnonzero(levels >= 2)[0] == 364 == entry_point(levels[:1000])


@given(st.integers(0, 3000), st.integers(4, 64), st.integers(1, 9))
def test_levels_do_not_depend_on_later_nodes(num_nodes, m, max_level):
    """A shorter graph has the levels of a longer one's first nodes, all below the limit."""
    levels = node_levels(num_nodes, m, max_level)

    assert levels.tolist() == node_levels(5000, m, max_level)[:num_nodes].tolist()
    assert ((levels >= 0) & (levels < max_level)).all()


def test_candidates_nearer_to_each_other_are_pruned():
    """Of 1, 2 and -3 seen from 0, 2 is nearer to 1 than to 0: it comes last, or not at all."""
    space = space_of(np.array([[0.0], [1.0], [2.0], [-3.0]]), "l2")
    near = [(1.0, 1), (4.0, 2), (9.0, 3)]

    assert select(space, near, 3) == [1, 3, 2]
    assert select(space, near, 2) == [1, 3]
    assert select(space, near, 1) == [1]


SPACE = space_of(np.array([[0.0], [1.0], [5.0], [6.0]]), "l2")


def test_a_row_that_is_not_reached_gets_an_edge():
    """Rows 2 and 3 see each other only: row 1 is the nearest; row 0, which 3 chose, comes first."""
    pair = repair(SPACE, np.array([[1], [0], [3], [2]]), 0)
    own = repair(SPACE, np.array([[1], [2], [0], [0]]), 0)

    assert pair.tolist() == [[1, EMPTY], [0, 2], [3, EMPTY], [2, EMPTY]]
    assert own.tolist() == [[1, 3], [2, EMPTY], [0, EMPTY], [0, EMPTY]]


def test_a_row_gets_one_edge_more_at_most():
    """Three rows that chose row 0 and are chosen by none hang on different rows."""
    out = repair(SPACE, np.array([[EMPTY], [0], [0], [0]]), 0)

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
def test_every_graph_has_its_shape(seed, num_nodes, m, width, is_l2):
    """Few values, many duplicates: degrees stay below the limits and every node is reached."""
    random = np.random.default_rng(seed)
    vectors = random.integers(0, 3, (num_nodes, width)).astype(np.float32)
    parameters = GraphParameters(m, m + int(random.integers(0, 20)), 4)

    metric = "l2" if is_l2 else "dot"
    check(build(vectors, metric, parameters), num_nodes, parameters)
    with plain_forms():
        check(build(vectors, metric, parameters), num_nodes, parameters)


def level_of(edges: dict[int, list[int]]) -> Level:
    """Return a level by the neighbours of its nodes."""
    offsets = np.cumsum([0, *map(len, edges.values())])
    ends = np.array([end for ends in edges.values() for end in ends], np.int64)
    return Level(np.array(list(edges), np.int64), offsets, ends, np.zeros(len(ends), np.float32))


LINE = {0: [1], 1: [0, 2], 2: [1, 3], 3: [2, 4], 4: [3, 5], 5: [4]}
"""Six nodes in a row, each beside the next."""


def test_what_is_not_admitted_is_walked_over():
    """A filter that only admits the far end finds it, and distances outside bounds are left."""
    graph = Graph(0, (level_of(LINE),))
    only = np.array([False] * 5 + [True])

    def distance(nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        return nodes.astype(np.float32)

    assert search(graph, distance, 2, Admitted(only))[0].tolist() == [5]
    assert search(graph, distance, 9, Admitted(None, 1, 4))[0].tolist() == [1, 2, 3]
    assert search(graph, distance, 9, Admitted(np.zeros(6, np.bool_)))[0].tolist() == []


@given(st.integers(0, 2**32), st.integers(1, 150))
def test_a_walk_with_room_for_all_finds_all(seed, num_nodes):
    """On one level, with ef as large as the graph, every node is found, ordered."""
    random = np.random.default_rng(seed)
    vectors = random.integers(0, 4, (num_nodes, 2)).astype(np.float32)
    graph = build(vectors, "l2", GraphParameters(4, 10, 1))
    distances = ((vectors - random.integers(0, 4, 2)) ** 2).sum(1).astype(np.float32)

    found, far = search(graph, distances.__getitem__, num_nodes)

    assert found.tolist() == np.lexsort((np.arange(num_nodes), distances)).tolist()
    assert far.tolist() == distances[found].tolist()


def test_a_node_missing_above_has_no_neighbours_there():
    """An entry point that level 1 lacks is where the walk on level 0 starts."""
    graph = Graph(0, (level_of(LINE), level_of({4: [5], 5: [4]})))

    assert search(graph, lambda nodes: nodes.astype(np.float32), 1)[0].tolist() == [0]
