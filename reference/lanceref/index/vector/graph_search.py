"""Graph search: the rows of a partition that a walk over its graph finds.

A walk keeps `ef` rows, of which the nearest are the answer. Rows that do not count are walked over;
where few count, these are looked at one by one.

Clauses: L.index.vector.graph.ef
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lanceref.core.errors import QueryRefused
from lanceref.index.row_set import Keys
from lanceref.index.vector.search_parameters import Asked
from lanceref.index.vector.search_results import Neighbours
from lanceref.index.vector.storage import Score
from lanceref.kernels.hnsw_graph import Graph
from lanceref.kernels.hnsw_search import Admitted, search

Mask = NDArray[np.bool_]

FEW = 10
"""A walk is worth it where one row of so many counts."""

WHOLE_ROWS = 200
"""For each row that a walk keeps, rows of a partition up to which all distances are computed at
once: a walk asks for few, twice for each that it keeps, and asking takes as long as computing 100.
"""


def kept_nodes(asked: Asked) -> int:
    """Return how many nodes a walk keeps. Raises QueryRefused for fewer than are asked for."""
    ef = asked.k + asked.k // 2 if asked.ef is None else asked.ef
    if ef < asked.k:  # L.index.vector.graph.ef
        raise QueryRefused(f"ef must be greater than or equal to k, got {ef} and {asked.k}")
    return ef


def worth_walking(kept: Mask) -> bool:
    """Return whether enough rows count for a walk over the graph."""
    return int(kept.sum()) * FEW >= len(kept)


def walk(graph: Graph, score: Score, asked: Asked, kept: Mask, keys: Keys) -> Neighbours:
    """Return the rows nearest to a query that a walk finds.

    `kept` [n] says which rows count, `keys` have the ids of these. Raises QueryRefused.
    """
    ef = kept_nodes(asked)
    whole = len(kept) <= WHOLE_ROWS * ef
    admitted = Admitted(None if kept.all() else kept, *asked.range)
    distance_of = score(slice(None)).__getitem__ if whole else score
    rows, near = search(graph, distance_of, ef, admitted)
    places = rows if admitted.nodes is None else np.cumsum(kept)[rows] - 1
    return Neighbours(keys[places], near).best(asked.k)
