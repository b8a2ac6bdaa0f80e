"""Vector search: the rows nearest to the vectors of a query.

Without an index the vectors of all rows are looked at, of those that pass a filter if one is to be
asked before.

Clauses: L.index.vector.search.order
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lanceref.index.vector.vectors import vectors_of
from lanceref.kernels.distance import Metric
from lanceref.projection import scan_projection
from lanceref.query.neighbours import NOBODY, Neighbours, joined, measured
from lanceref.query.rows import Condition, chosen_rows, read_passed
from lanceref.query.vector_query import VectorQuery
from lanceref.snapshot import Snapshot
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows

RUN_BYTES = 1 << 22
"""Bytes of vectors that are looked at together."""

RUN_VECTORS = 1 << 15
"""Vectors that are looked at together at most."""


class VectorSearch:
    """One query, or a batch of them, over a version of a table."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: VectorQuery,
        *,
        fast: bool = False,
    ) -> None:
        self._snapshot, self._query, self._fast = snapshot, query, fast

    def nearest(self, condition: Condition | None) -> list[Neighbours]:
        """Return the rows of each query, the nearest first. Raises FormatError."""
        metric = self._query.metric or self._query.default_metric
        fragments = () if self._fast else self._snapshot.fragments
        return self._flat(fragments, metric, condition)

    def _flat(
        self, fragments: Sequence[FragmentRows], metric: Metric, condition: Condition | None
    ) -> list[Neighbours]:
        """Return the nearest of all rows of fragments, for each query."""
        query = self._query
        best = [NOBODY] * query.parts
        for batch in self._vectors(fragments, condition):
            ids = batch.column(ROW_ID).to_numpy()
            found = measured(query, metric, vectors_of(batch.column(query.column)), ids)
            best = [
                joined([before, one.within(query.range)]).best(query.k)
                for before, one in zip(best, found, strict=True)
            ]
        return best

    def _vectors(
        self, fragments: Sequence[FragmentRows], condition: Condition | None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the vectors and ids of live rows, of those that pass where there is a filter."""
        type_, snapshot = self._query.type, self._snapshot
        width = type_.dimension * type_.dtype.itemsize
        size = max(1, min(RUN_VECTORS, RUN_BYTES // max(1, width)))
        schema = snapshot.schema(BlobHandling.DESCRIPTIONS)
        projection = scan_projection(schema, [self._query.column], [ROW_ID])
        if condition is None:
            rows = sum(one.num_rows for one in fragments)
            yield from snapshot.scan(fragments, projection, size, 0, rows)
            return
        for passed in chosen_rows(fragments, condition, 0, None):
            yield from read_passed(passed, projection, size)

    @property
    def explained(self) -> list[str]:
        """What is done, one step a line, the last one first."""
        query, fragments = self._query, len(self._snapshot.fragments)
        return [
            f"Sort: TopK(fetch={query.k}), [_distance ASC, _rowid ASC]",
            f"KNNVectorDistance: metric={query.metric or query.default_metric}",
            f"LanceRead: projection=[{query.column}], num_fragments={fragments}",
        ]
