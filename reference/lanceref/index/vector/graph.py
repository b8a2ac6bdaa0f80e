"""Graphs of partitions: rows of `index.idx`, and where the levels of each begin.

A graph over the rows of one partition, numbered from 0 as they stand in `auxiliary.idx`. Its rows
in `index.idx` are the nodes of level 0, then those of level 1, and so on; a node of a higher level
has a row on each below. The list lance:hnsw of the metadata has one text for each partition: "" for
one without rows.

Layout: __vector_id u32, the node; __neighbors list of u32, its neighbours on that level; _distance
list of f32, how far these are. Text {"entry_point":n,"params":{"max_level":n,"m":n,
"ef_construction":n,"prefetch_distance":n or null},"level_offsets":[0,n,...]}: the row where each
level starts, from the first row of the graph, and where the last one ends.

Clauses: L.index.vector.graph.text, L.index.vector.graph.entry, L.index.vector.graph.levels,
L.index.vector.graph.rows, L.index.vector.graph.nodes, L.index.vector.graph.neighbours,
L.index.vector.graph.distances, L.index.vector.graph.null
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.errors import CorruptPage, FormatError, OutOfRange, Place
from lanceref.index.index_file import IndexFile
from lanceref.index.vector.storage import compact, parse_object
from lanceref.kernels.hnsw_graph import (
    FEWEST_EDGES,
    Graph,
    GraphParameters,
    Level,
    entry_point,
    node_levels,
)

NODES = pa.field("__vector_id", pa.uint32())
NEIGHBOURS = pa.field("__neighbors", pa.list_(pa.uint32()))
DISTANCES = pa.field("_distance", pa.list_(pa.float32()))
GRAPH_SCHEMA = pa.schema([NODES, NEIGHBOURS, DISTANCES])

WIDEST = {"m": (1 << 63) - 1, "ef_construction": (1 << 63) - 1, "max_level": (1 << 16) - 1}
"""Parameters of a text, and what each is at most."""

NO_GRAPH = Graph(0, ())


@dataclass(frozen=True, slots=True)
class GraphText:
    """What the metadata says of a graph: where searches start, `offsets` of levels, parameters."""

    entry_point: int
    offsets: tuple[int, ...]
    parameters: GraphParameters
    prefetch_distance: int | None = None

    @property
    def usable(self) -> GraphParameters:
        """The parameters, none of them less than a graph can be built with."""
        m = max(self.parameters.m, FEWEST_EDGES)
        ef_construction = max(self.parameters.ef_construction, m)
        return GraphParameters(m, ef_construction, max(self.parameters.max_level, 1))

    @property
    def text(self) -> str:
        """The text as it is written."""
        return compact(self.shown())

    def shown(self) -> dict[str, object]:
        """Return what the text says, as users are shown it."""
        parameters = {
            "max_level": self.parameters.max_level,
            "m": self.parameters.m,
            "ef_construction": self.parameters.ef_construction,
            "prefetch_distance": self.prefetch_distance,
        }
        return {
            "entry_point": self.entry_point,
            "params": parameters,
            "level_offsets": list(self.offsets),
        }


def graph_text(num_nodes: int, parameters: GraphParameters, prefetch: int | None) -> GraphText:
    """Return what will be said of a graph of so many nodes, at least one."""
    levels = node_levels(num_nodes, parameters.m, parameters.max_level)
    counts = np.bincount(levels, minlength=parameters.max_level)[::-1].cumsum()[::-1]
    offsets = (0, *np.cumsum(counts).tolist())
    return GraphText(entry_point(levels), offsets, parameters, prefetch)


def parse_graph_text(text: str, place: Place) -> GraphText | None:
    """Parse the text of a partition, None for one without graph. Raises FormatError."""
    if not text:
        return None
    said = parse_object(text, place, "lance:hnsw")
    given = said.get("params")
    parameters = given if isinstance(given, dict) else {}
    offsets = said.get("level_offsets")
    prefetch = parameters.get("prefetch_distance")
    return GraphText(
        _count(said.get("entry_point"), "entry_point", place),
        tuple(
            _count(one, "level_offsets", place)
            for one in (offsets if isinstance(offsets, list) else [None])
        ),
        GraphParameters(
            *(_count(parameters.get(name), name, place, most) for name, most in WIDEST.items())
        ),
        None if prefetch is None else _count(prefetch, "prefetch_distance", place),
    )


def _count(value: object, name: str, place: Place, most: int | None = None) -> int:
    if (
        not isinstance(value, int)
        or isinstance(value, bool)
        or value < 0
        or (most is not None and value > most)
    ):
        raise FormatError(
            "L.index.vector.graph.text",
            place,
            found=f"{name} = {str(value)[:40]}",
            wanted="a number that is not negative" if most is None else f"at most {most}",
        )
    return value


def read_graph(
    file: IndexFile, text: str, start: int, end: int, num_rows: int, distances: bool = False
) -> Graph:
    """Read the graph of a partition of so many rows from rows `start` to `end`.

    Without `distances` those of its edges are 0: no search needs them. Raises FormatError.
    """
    said = parse_graph_text(text, file.place)
    if said is None or not num_rows:
        if num_rows or end > start:
            raise FormatError(
                "L.index.vector.graph.rows",
                file.place,
                found=f"text {text[:40]!r}, {end - start} rows of a graph, {num_rows} of vectors",
                wanted="a graph over all vectors, or none of the three",
            )
        return NO_GRAPH
    offsets = level_offsets(said.offsets, end - start)
    _check_offsets(offsets, end - start, num_rows, file.place)
    if said.entry_point >= num_rows:
        raise OutOfRange(
            "L.index.vector.graph.entry",
            file.place,
            found=f"entry point {said.entry_point} of {num_rows} nodes",
            wanted="a node",
        )
    rows = _GraphRows(file, start, end, num_rows, distances)
    levels = [rows.level(*cut) for cut in pairwise(offsets) if cut[0] < cut[1]]
    _check_nodes(levels, num_rows, file.place)
    if file.ctx.validating and said.entry_point not in levels[-1].nodes:
        file.ctx.refuse(
            FormatError(
                "L.index.vector.graph.entry",
                file.place,
                found=f"entry point {said.entry_point}",
                wanted="a node of the highest level",
            )
        )
    return Graph(said.entry_point, tuple(levels))


def level_offsets(said: Sequence[int], num_rows: int) -> Sequence[int]:
    """Return where the levels of a graph of so many rows start, and the end of the last.

    Releases up to 9 count one row too few on each level but the lowest: graphs of theirs have so
    many rows more than they say.
    """
    uncounted = [max(0, number - 1) for number in range(len(said))]
    if not uncounted or not uncounted[-1] or num_rows - said[-1] != uncounted[-1]:
        return said
    return [offset + more for offset, more in zip(said, uncounted, strict=True)]


def _check_offsets(offsets: Sequence[int], num_rows: int, num_nodes: int, place: Place) -> None:
    ascending = all(a <= b for a, b in pairwise(offsets))
    if len(offsets) < 2 or not ascending or offsets[0] or offsets[-1] != num_rows:
        raise FormatError(
            "L.index.vector.graph.levels",
            place,
            found=f"level_offsets {str(list(offsets))[:80]}",
            wanted=f"ascending from 0 to {num_rows}, the rows of the graph",
        )
    if offsets[1] != num_nodes:
        raise FormatError(
            "L.index.vector.graph.rows",
            place,
            found=f"{offsets[1]} nodes on level 0",
            wanted=f"{num_nodes}, as the partition has rows",
        )


def _check_nodes(levels: Sequence[Level], num_nodes: int, place: Place) -> None:
    """Check that level 0 has all nodes and each above some of the one below, ascending."""
    below = np.arange(num_nodes)
    for number, level in enumerate(levels):
        sound = bool((np.diff(level.nodes) > 0).all() and np.isin(level.nodes, below).all())
        if not sound or (number == 0 and len(level.nodes) != num_nodes):
            raise FormatError(
                "L.index.vector.graph.nodes",
                place,
                found=f"nodes {level.nodes[:8].tolist()}... on level {number}",
                wanted="all from 0 on level 0, above some of those below, ascending",
            )
        below = level.nodes


class _GraphRows:
    """The rows of a graph, whose edges stay among `num_nodes` nodes."""

    def __init__(
        self, file: IndexFile, start: int, end: int, num_nodes: int, distances: bool
    ) -> None:
        self.file = file
        ids = file.read(NODES.name, NODES.type, start, end)
        lists = file.read(NEIGHBOURS.name, NEIGHBOURS.type, start, end)
        lengths = file.read(DISTANCES.name, DISTANCES.type, start, end) if distances else None
        for array in (ids, lists, *([] if lengths is None else [lengths])):
            self._refuse_null(array)
        self.nodes = ids.to_numpy().astype(np.int64)
        self.offsets = lists.offsets.to_numpy().astype(np.int64)
        self.offsets -= self.offsets[0]
        self.neighbours = self._inside(lists.flatten().to_numpy().astype(np.int64), num_nodes)
        self.distances = np.zeros(len(self.neighbours), np.float32)
        if lengths is not None:
            self._check_distances(lengths)
            self.distances = lengths.flatten().to_numpy()

    def level(self, start: int, end: int) -> Level:
        """Return rows of one level."""
        edges = slice(self.offsets[start], self.offsets[end])
        offsets = self.offsets[start : end + 1] - self.offsets[start]
        return Level(self.nodes[start:end], offsets, self.neighbours[edges], self.distances[edges])

    def _refuse_null(self, array: pa.Array) -> None:
        inner = array.flatten() if pa.types.is_list(array.type) else array
        if array.null_count or inner.null_count:
            raise CorruptPage(
                "L.index.vector.graph.null",
                self.file.place,
                found=f"null among {array.type}",
                wanted="a node, its neighbours and their distances in every row",
            )

    def _inside(self, neighbours: NDArray[np.int64], num_nodes: int) -> NDArray[np.int64]:
        if len(neighbours) and neighbours.max() >= num_nodes:
            raise OutOfRange(
                "L.index.vector.graph.neighbours",
                self.file.place,
                found=f"neighbour {neighbours.max()} of {num_nodes} nodes",
                wanted="a node",
            )
        return neighbours

    def _check_distances(self, lengths: pa.Array) -> None:
        if not np.array_equal(np.diff(lengths.offsets.to_numpy()), np.diff(self.offsets)):
            raise FormatError(
                "L.index.vector.graph.distances",
                self.file.place,
                found="rows with other numbers of neighbours and of distances",
                wanted="a distance for each neighbour",
            )


def graph_rows(graph: Graph) -> pa.RecordBatch:
    """Return the rows of a graph."""
    offsets, before = [np.zeros(1, np.int64)], 0
    for level in graph.levels:
        offsets.append(level.offsets[1:] + before)
        before += len(level.neighbours)
    ends = pa.array(np.concatenate(offsets), pa.int32())
    arrays = [
        pa.array(np.concatenate([level.nodes for level in graph.levels]), pa.uint32()),
        pa.ListArray.from_arrays(
            ends, pa.array(np.concatenate([x.neighbours for x in graph.levels]), pa.uint32())
        ),
        pa.ListArray.from_arrays(
            ends, pa.array(np.concatenate([x.distances for x in graph.levels]))
        ),
    ]
    return pa.record_batch(arrays, schema=GRAPH_SCHEMA)
