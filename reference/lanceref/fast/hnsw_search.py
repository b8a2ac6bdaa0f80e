"""The search of a level with heaps, and a mask of the nodes that were met.

Candidates farther than all that is kept are dropped for all neighbours of a node at once. The
specification is `kernels.hnsw_search.search_layer`.
"""

from __future__ import annotations

from heapq import heappop, heappush, heapreplace

import numpy as np

from lanceref.kernels import hnsw_search
from lanceref.kernels.hnsw_graph import Level
from lanceref.kernels.hnsw_search import Admitted, DistanceOf


@hnsw_search.search_layer.replaced_by
def search_layer(
    level: Level, distance_of: DistanceOf, start: int, ef: int, admitted: Admitted
) -> list[tuple[float, int]]:
    """Return distance and number of the at most `ef` nearest admitted nodes of level 0."""
    offsets, neighbours = level.offsets, level.neighbours
    seen = np.zeros(len(level.nodes), np.bool_)
    seen[start] = True
    first = np.array([start])
    distances = distance_of(first)
    ahead = [(float(distances[0]), start)]
    kept = [(-ahead[0][0], start)] if admitted.of(first, distances)[0] else []
    while ahead:
        distance, node = heappop(ahead)
        full = len(kept) >= ef
        if full and distance > -kept[0][0]:
            break
        new = neighbours[offsets[node] : offsets[node + 1]]
        new = new[~seen[new]]
        if not len(new):
            continue
        seen[new] = True
        distances = distance_of(new)
        if full:
            near = distances <= -kept[0][0]
            new, distances = new[near], distances[near]
        rows = zip(distances.tolist(), new.tolist(), admitted.of(new, distances), strict=True)
        for far, neighbour, is_admitted in rows:
            if len(kept) >= ef and far > -kept[0][0]:
                continue
            heappush(ahead, (far, neighbour))
            if is_admitted and len(kept) < ef:
                heappush(kept, (-far, neighbour))
            elif is_admitted and far < -kept[0][0]:
                heapreplace(kept, (-far, neighbour))
    return [(-far, node) for far, node in kept]
