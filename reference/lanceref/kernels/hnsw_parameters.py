"""HNSW parameters: what a graph is built with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphParameters:
    """Edges per node, candidates per new node, levels at most."""

    m: int = 20
    ef_construction: int = 150
    max_level: int = 7
