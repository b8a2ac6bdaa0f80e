"""Graphs of partitions: rows of `index.idx`, and where the levels of each begin.

A graph over the rows of one partition, numbered from 0 in the order of `auxiliary.idx`. Its rows
in `index.idx` are the nodes of level 0, then those of level 1, and so on; a node of a higher level
has a row on each below. The list lance:hnsw of the metadata has one text for each partition: "" for
one without rows.

Layout: __vector_id u32, the node; __neighbors list of u32, its neighbours on that level; _distance
list of f32, how far these are. Text {"entry_point":n,"params":{"max_level":n,"m":n,
"ef_construction":n,"prefetch_distance":n or null},"level_offsets":[0,n,...]}: the row where each
level starts, counted from the first row of the graph, and where the last one ends.

Clauses: L.index.vector.graph.text, L.index.vector.graph.entry, L.index.vector.graph.levels,
L.index.vector.graph.rows, L.index.vector.graph.nodes, L.index.vector.graph.neighbours,
L.index.vector.graph.distances, L.index.vector.graph.null
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import gt

import numpy as np
import pyarrow as pa

from lanceref.core.errors import FormatError, OutOfRange, Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector.storage import check_named, compact, parse_json
from lanceref.kernels import hnsw_graph

NODES = pa.field("__vector_id", pa.uint32())
NEIGHBOURS = pa.field("__neighbors", pa.list_(pa.uint32()))
DISTANCES = pa.field("_distance", pa.list_(pa.float32()))
GRAPH_SCHEMA = pa.schema([NODES, NEIGHBOURS, DISTANCES])

WIDEST = {"m": (1 << 63) - 1, "ef_construction": (1 << 63) - 1, "max_level": (1 << 16) - 1}
"""Parameters of a text, and what each is at most."""


@dataclass(frozen=True, slots=True)
class GraphText:
    """The text of a graph: where searches start, `offsets` of levels, parameters."""

    entry_point: int
    offsets: tuple[int, ...]
    parameters: hnsw_graph.GraphParameters
    prefetch_distance: int | None = None

    @property
    def usable(self) -> hnsw_graph.GraphParameters:
        """The parameters, none of them less than a graph can be built with."""
        m = max(self.parameters.m, hnsw_graph.FEWEST_EDGES)
        ef_construction = max(self.parameters.ef_construction, m)
        return hnsw_graph.GraphParameters(m, ef_construction, max(self.parameters.max_level, 1))

    @property
    def text(self) -> str:
        """The parameters of a graph as the JSON text that files store."""
        return compact(self.shown())

    def shown(self) -> dict[str, object]:
        """Return the parameters of a graph as the object that the text holds."""
        own = self.parameters
        params = {
            "max_level": own.max_level,
            "m": own.m,
            "ef_construction": own.ef_construction,
            "prefetch_distance": self.prefetch_distance,
        }
        offsets = list(self.offsets)
        return {"entry_point": self.entry_point, "params": params, "level_offsets": offsets}


def graph_text(
    num_nodes: int, parameters: hnsw_graph.GraphParameters, prefetch: int | None
) -> GraphText:
    """Return the text of a graph of so many nodes, at least one."""
    levels = hnsw_graph.node_levels(num_nodes, parameters.m, parameters.max_level)
    counts = np.bincount(levels, minlength=parameters.max_level)[::-1].cumsum()[::-1]
    offsets = (0, *np.cumsum(counts).tolist())
    return GraphText(hnsw_graph.entry_point(levels), offsets, parameters, prefetch)


def parse_graph_text(text: str, place: Place) -> GraphText | None:
    """Parse the text of a partition, None for one without graph. Raises FormatError."""
    if not text:
        return None
    description = parse_json(text, place, "lance:hnsw", dict)
    params, offsets = description.get("params"), description.get("level_offsets")
    sizes = params if isinstance(params, dict) else {}
    ends = offsets if isinstance(offsets, list) else [None]
    prefetch = sizes.get("prefetch_distance")
    ahead = 0 if prefetch is None else prefetch
    stated = [description.get("entry_point"), *map(sizes.get, WIDEST), *ends, ahead]
    numbers = [one for one in stated if type(one) is int and one >= 0]
    if len(numbers) < len(stated) or any(map(gt, numbers[1:], WIDEST.values())):
        found, wanted = text[:80], f"numbers from 0 on, those of params up to {WIDEST}"
        raise FormatError("L.index.vector.graph.text", place, found, wanted)
    own, levels = hnsw_graph.GraphParameters(*numbers[1:4]), tuple(numbers[4:-1])
    return GraphText(numbers[0], levels, own, None if prefetch is None else numbers[-1])


def read_graph(
    file: IndexFile, text: str, start: int, end: int, num_rows: int, distances: bool = False
) -> hnsw_graph.Graph:
    """Read the graph of a partition of so many rows from rows `start` to `end`.

    Without `distances` those of its edges are 0: no search needs them. Raises FormatError.
    """
    description, place = parse_graph_text(text, file.place), file.place
    if description is None or not num_rows:
        if num_rows or end > start:
            found = f"text {text[:40]!r}, {end - start} rows of a graph, {num_rows} of vectors"
            wanted = "a graph over all vectors, or none of the three"
            raise FormatError("L.index.vector.graph.rows", place, found, wanted)
        return hnsw_graph.Graph(0, ())
    offsets = level_offsets(description.offsets, end - start)
    if len(offsets) < 2 or list(offsets) != sorted([0, *offsets[1:-1], end - start]):
        found, wanted = f"levels {str(list(offsets))[:80]}", f"ascending from 0 to {end - start}"
        raise FormatError("L.index.vector.graph.levels", place, found, wanted)
    check_named("L.index.vector.graph.rows", place, "nodes on level 0:", offsets[1], num_rows)
    if description.entry_point >= num_rows:
        found, wanted = f"entry point {description.entry_point}", f"one of {num_rows} nodes"
        raise OutOfRange("L.index.vector.graph.entry", place, found, wanted)
    levels = _read_levels(file, offsets, start, num_rows, distances)
    _check_nodes(levels, num_rows, place)
    if file.ctx.validating and description.entry_point not in levels[-1].nodes:
        found, wanted = f"entry point {description.entry_point}", "a node of the highest level"
        file.ctx.refuse(FormatError("L.index.vector.graph.entry", place, found, wanted))
    return hnsw_graph.Graph(description.entry_point, tuple(levels))


def level_offsets(stated: Sequence[int], num_rows: int) -> Sequence[int]:
    """Return where the levels of a graph of so many rows start, and the end of the last.

    Releases up to 9 count one row too few on each level but the lowest: their graphs have so many
    rows more than the `stated` offsets.
    """
    uncounted = [max(0, number - 1) for number in range(len(stated))]
    if not uncounted or not uncounted[-1] or num_rows - stated[-1] != uncounted[-1]:
        return stated
    return [offset + more for offset, more in zip(stated, uncounted, strict=True)]


def _check_nodes(levels: Sequence[hnsw_graph.Level], num_nodes: int, place: Place) -> None:
    """Check that level 0 has all nodes and each above some of the one below, ascending."""
    below = np.arange(num_nodes)
    for number, level in enumerate(levels):
        sound = bool((np.diff(level.nodes) > 0).all() and np.isin(level.nodes, below).all())
        if not sound or (number == 0 and len(level.nodes) != num_nodes):
            found = f"nodes {level.nodes[:8].tolist()}... on level {number}"
            wanted = "all from 0 on level 0, above some of those below, ascending"
            raise FormatError("L.index.vector.graph.nodes", place, found, wanted)
        below = level.nodes


def _read_levels(
    file: IndexFile, offsets: Sequence[int], start: int, num_nodes: int, distances: bool
) -> list[hnsw_graph.Level]:
    """Return the levels of a graph that have nodes; edges stay among `num_nodes` nodes."""
    fields = (NODES, NEIGHBOURS, DISTANCES)[: 3 if distances else 2]
    end, clause = start + offsets[-1], "L.index.vector.graph.null"
    columns = [file.read(one.name, one.type, start, end, clause) for one in fields]
    nodes, lists = columns[0].to_numpy().astype(np.int64), columns[1]
    ends = lists.offsets.to_numpy().astype(np.int64)
    ends -= ends[0]
    neighbours = lists.flatten().to_numpy().astype(np.int64)
    if len(neighbours) and neighbours.max() >= num_nodes:
        clause, found = "L.index.vector.graph.neighbours", f"neighbour {neighbours.max()}"
        raise OutOfRange(clause, file.place, found, f"one of {num_nodes} nodes")
    far = np.zeros(len(neighbours), np.float32)
    if distances:
        if not np.array_equal(np.diff(columns[2].offsets.to_numpy()), np.diff(ends)):
            clause, found = "L.index.vector.graph.distances", "other numbers of distances"
            raise FormatError(clause, file.place, found, "one for each neighbour")
        far = columns[2].flatten().to_numpy()
    levels = []
    for first, end in pairwise(offsets):
        if first < end:
            edges, own = slice(ends[first], ends[end]), ends[first : end + 1] - ends[first]
            levels.append(hnsw_graph.Level(nodes[first:end], own, neighbours[edges], far[edges]))
    return levels


def graph_rows(graph: hnsw_graph.Graph) -> pa.RecordBatch:
    """Return the rows of a graph's file: one for each node and level."""
    degrees = np.concatenate([np.diff(level.offsets) for level in graph.levels])
    ends = pa.array(np.append(0, np.cumsum(degrees)), pa.int32())
    nodes, neighbours, distances = (
        np.concatenate([getattr(level, name) for level in graph.levels])
        for name in ("nodes", "neighbours", "distances")
    )
    arrays = [
        pa.array(nodes, pa.uint32()),
        pa.ListArray.from_arrays(ends, pa.array(neighbours, pa.uint32())),
        pa.ListArray.from_arrays(ends, pa.array(distances)),
    ]
    return pa.record_batch(arrays, schema=GRAPH_SCHEMA)
