"""What writers owe of graphs is reported."""

from __future__ import annotations

from dataclasses import replace

import lanceref
import numpy as np
import pytest
from lanceref.index.vector import graph
from lanceref.kernels import hnsw_build
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import Graph, Level

from .indexed import points, write

VALUES = points(400)


def clauses(tmp_path) -> set[str]:
    """Return the clauses that a table with graphs breaks."""
    dataset = write(VALUES, tmp_path)
    dataset.create_index("v", "IVF_HNSW_FLAT", ivf_centroids=VALUES[:2])
    return {one.clause for one in lanceref.validate(str(tmp_path / "t"), deep=True)}


def with_levels(edit):
    """Return a way to build graphs whose levels are edited."""

    def changed(*arguments) -> Graph:
        made = build(*arguments)
        return replace(made, levels=tuple(map(edit, made.levels)))

    return changed


def shorter(level: Level) -> Level:
    """Return a level whose edges say they are shorter than they are."""
    return replace(level, distances=level.distances * np.float32(0.5))


def to_itself(level: Level) -> Level:
    """Return a level whose first node is its own neighbour."""
    neighbours = level.neighbours.copy()
    neighbours[:1] = level.nodes[0]
    return replace(level, neighbours=neighbours)


def cut_off(level: Level) -> Level:
    """Return a level whose last node no edge leads to."""
    last = level.nodes[-1]
    others = np.where(level.nodes[:1] == last, last, level.nodes[0])
    return replace(level, neighbours=np.where(level.neighbours == last, others, level.neighbours))


def test_our_graphs_are_sound(tmp_path):
    """Nothing is found."""
    assert set() == clauses(tmp_path)


@pytest.mark.parametrize(
    ("edit", "clause"), [(shorter, "lengths"), (to_itself, "degree"), (cut_off, "reached")]
)
def test_graphs_that_are_not_as_they_should_be(tmp_path, monkeypatch, edit, clause):
    """Each fault is found under its clause."""
    monkeypatch.setattr(hnsw_build, "build", with_levels(edit))
    assert f"L.index.vector.graph.{clause}" in clauses(tmp_path)


def test_levels_of_another_sequence(tmp_path, monkeypatch):
    """Every third node on level 1 is no level of the sequence."""

    def levels(num_nodes, m, max_level):
        return (np.arange(num_nodes) % 3 == 0).astype(np.int64)

    dataset = write(VALUES, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(graph, "node_levels", levels)
        patch.setattr(hnsw_build, "node_levels", levels)
        dataset.create_index("v", "IVF_HNSW_FLAT", ivf_centroids=VALUES[:2])
    found = lanceref.validate(str(tmp_path / "t"), deep=True)
    assert {"L.index.vector.graph.sequence"} == {one.clause for one in found}
    assert {"should"} == {one.severity for one in found}
