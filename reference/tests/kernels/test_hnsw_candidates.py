"""HNSW candidates: the nearest of earlier nodes, in whole and by regions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lanceref.kernels import hnsw_build
from lanceref.kernels.hnsw_build import build, candidates
from lanceref.kernels.hnsw_graph import EMPTY, GraphParameters, space_of
from lanceref.kernels.hnsw_search import search


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


@pytest.mark.parametrize("metric", ["l2", "dot"])
@pytest.mark.parametrize("crowded", [False, True])
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
