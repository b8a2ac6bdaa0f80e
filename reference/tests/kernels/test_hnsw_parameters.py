"""HNSW parameters."""

from __future__ import annotations

from lanceref.kernels.hnsw_graph import FEWEST_EDGES, USUAL, GraphParameters


def test_the_usual_ones_are_those_of_real_files() -> None:
    """Graphs that nothing was said of have m 20, ef_construction 150, max_level 7."""
    assert GraphParameters(20, 150, 7) == USUAL
    assert USUAL.m >= FEWEST_EDGES
