"""Graph building: the graphs of an index, over its vectors as they are stored.

How many rows a graph has, and where its levels begin, follows from the number of its nodes alone:
so that is known before a graph is built, and graphs are written one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from lanceref.index.vector.graph import GraphText, graph_rows, graph_text
from lanceref.index.vector.ivf import Partitions, partitions_of
from lanceref.index.vector.storage import Columns, Model, Quantizer
from lanceref.kernels.hnsw_build import build
from lanceref.kernels.hnsw_graph import GraphParameters

PREFETCH_DISTANCE = 2
"""What texts say of how far ahead a search fetches; it changes no answer."""


@dataclass(frozen=True, slots=True)
class Graphs:
    """The graphs over the rows of an index, `columns` of all of them, by partition."""

    parameters: GraphParameters
    model: Model
    quantizer: Quantizer
    partitions: Partitions
    columns: Columns

    def _said(self, number: int) -> GraphText | None:
        count = int(self.partitions.lengths[number])
        return graph_text(count, self.parameters, PREFETCH_DISTANCE) if count else None

    @property
    def texts(self) -> list[str]:
        """What is said of the graph of each partition."""
        said = map(self._said, range(len(self.partitions.lengths)))
        return ["" if one is None else one.text for one in said]

    @property
    def rows(self) -> Partitions:
        """The rows of the graph of each partition."""
        said = map(self._said, range(len(self.partitions.lengths)))
        return partitions_of([0 if one is None else one.offsets[-1] for one in said])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Build the graphs, and yield the rows of each."""
        for number in self.partitions.lengths.nonzero()[0].tolist():
            start, end = self.partitions.rows(number)
            own = {name: column[start:end] for name, column in self.columns.items()}
            points = self.quantizer.stored(own, number).points()
            yield graph_rows(build(points, self.model.of_vectors, self.parameters))
