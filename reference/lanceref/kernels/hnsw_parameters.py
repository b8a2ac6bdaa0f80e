"""HNSW parameters: what a graph is built with."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_EDGES = 4
"""Edges per node that a graph needs so as not to fall apart."""


@dataclass(frozen=True, slots=True)
class GraphParameters:
    """Edges per node, candidates per new node, levels at most."""

    m: int = 20
    ef_construction: int = 150
    max_level: int = 7


USUAL = GraphParameters()
"""What graphs are built with when nothing else is said."""
