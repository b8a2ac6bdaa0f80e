"""Graphs, checked: what writers owe and no search depends on.

Clauses: L.index.vector.graph.degree, L.index.vector.graph.reached, L.index.vector.graph.sequence,
L.index.vector.graph.lengths
"""

from __future__ import annotations

import numpy as np

from lanceref.core.integers import unique
from lanceref.index.vector.graph import GraphText, graph_text, parse_graph_text
from lanceref.index.vector.vector_file import HEAD
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.kernels.hnsw_graph import Graph, Level, Space, space_of

TOLERANCE = 1e-2
"""How far lengths may be from those computed here, beside the longest of a level."""

MOST_LEVELS = 1 << 16
"""Levels that a text may speak of for its sequence to be looked at."""


def check_graphs(index: VectorIndex) -> None:
    """Report what is wrong with the graphs of an index. Raises FormatError."""
    for number in np.flatnonzero(index.auxiliary.partitions.lengths).tolist():
        said = parse_graph_text(index.head.texts[number], index.head.place)
        graph = index.graph(number, distances=True)
        if said is not None:
            _check_sequence(index, number, said, graph)
            _check_degrees(index, number, said, graph)
            _check_reached(index, number, graph)
            metric, points = index.head.model.of_vectors, index.partition(number).stored.points()
            _check_lengths(index, number, graph, space_of(points, metric))


def _report(index: VectorIndex, clause: str, number: int, found: str, wanted: str) -> None:
    file = index.segment.file(HEAD)
    found = f"in partition {number} {found}"
    file.ctx.lint(clause, file.place, found=found, wanted=wanted, severity="should")


def _check_sequence(index: VectorIndex, number: int, said: GraphText, graph: Graph) -> None:
    parameters = said.parameters
    usable = parameters.m > 1 and 0 < parameters.max_level < MOST_LEVELS
    wanted = graph_text(graph.num_nodes, parameters, None) if usable else None
    sound = wanted is not None and (wanted.entry_point, wanted.offsets) == (
        said.entry_point,
        said.offsets,
    )
    if not sound:
        _report(
            index,
            "L.index.vector.graph.sequence",
            number,
            f"entry point {said.entry_point}, levels {str(said.offsets)[:60]}",
            "those of the sequence" if wanted is None else f"{wanted.text[:100]}",
        )


def _check_degrees(index: VectorIndex, number: int, said: GraphText, graph: Graph) -> None:
    for place, level in enumerate(graph.levels):
        degrees = np.diff(level.offsets)
        limit = said.parameters.m if place else 2 * said.parameters.m + 1
        to_itself = bool((_owners(level) == level.neighbours).any())
        elsewhere = not np.isin(level.neighbours, level.nodes).all()
        if degrees.max() > limit or to_itself or elsewhere:
            _report(
                index,
                "L.index.vector.graph.degree",
                number,
                f"up to {degrees.max()} neighbours on level {place}"
                + ", a node its own" * to_itself
                + ", some not of the level" * elsewhere,
                f"at most {limit}, others of the level",
            )


def _owners(level: Level) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the node that each edge of a level starts from."""
    return np.repeat(level.nodes, np.diff(level.offsets))


def _check_reached(index: VectorIndex, number: int, graph: Graph) -> None:
    level = graph.levels[0]
    known = np.zeros(graph.num_nodes, np.bool_)
    known[graph.entry_point] = True
    border = np.array([graph.entry_point])
    while len(border):
        ahead = np.concatenate([level.around(node) for node in border.tolist()])
        border = unique(ahead[~known[ahead]])
        known[border] = True
    if not known.all():
        _report(
            index,
            "L.index.vector.graph.reached",
            number,
            f"{int((~known).sum())} nodes that no walk reaches, {int((~known).argmax())} first",
            "all reached from the entry point",
        )


def _check_lengths(index: VectorIndex, number: int, graph: Graph, space: Space) -> None:
    for place, level in enumerate(graph.levels):
        wanted = space.pairs(_owners(level), level.neighbours)
        wrong = ~np.isclose(
            level.distances, wanted, TOLERANCE, TOLERANCE * float(np.abs(wanted).max(initial=0))
        )
        if wrong.any():
            first = int(wrong.argmax())
            _report(
                index,
                "L.index.vector.graph.lengths",
                number,
                f"an edge of length {level.distances[first]} on level {place}",
                f"{wanted[first]}",
            )
