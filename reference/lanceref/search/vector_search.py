"""Vector search: the rows nearest to the vectors of a query.

With an index its segments are searched, and their rows are merged. Rows that no segment covers are
compared one by one, and so are all rows without an index; then, and when more rows are wanted from
the index than in the end, those get exact distances. Where a row has several vectors its distance
is that of the nearest one, of a query of several vectors the sum.

Clauses: L.index.vector.search.order, L.index.vector.search.refine, L.index.vector.search.unindexed,
L.index.vector.column-type, L.index.vector.search.several-found, L.index.vector.search.several,
L.index.vector.search.no-number
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from lanceref.core.compute import bitmaps
from lanceref.core.errors import QueryRefused
from lanceref.index.indices import Index
from lanceref.index.segment import Moved
from lanceref.index.vector import searching
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.index.vector.vector_kind import Vector
from lanceref.index.vector.vectors import VectorType, vectors_of
from lanceref.kernels.distance import AnyVectors, Metric, distances
from lanceref.search.row_locator import cached_moves, live_rows, positions_of_ids
from lanceref.search.rows import Condition, passing_rows, read_passed
from lanceref.search.snapshot import Projection, Snapshot, scan_projection
from lanceref.table.lineage import ROW_ID
from lanceref.table.logical import BlobHandling
from lanceref.table.rows import FragmentRows

RUN_BYTES, RUN_VECTORS = 1 << 22, 1 << 15
"""Bytes of vectors, and vectors at most, that are compared together."""


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """The `k` rows with the nearest vectors; `vectors` [q, d] are of the column's type.

    In a `batch` each vector has its own rows; else all of them are one query, and there are several
    only where rows have several. `metric` None is that of the index, `search` is what an index is
    asked for. `missing` counts the NaNs and nulls of a query: among several vectors they are 0.
    """

    column: str
    field_id: int
    type: VectorType
    vectors: AnyVectors
    k: int
    batch: bool
    metric: Metric | None
    refine_factor: int | None
    use_index: bool
    search: searching.SearchParameters
    missing: int

    @property
    def default_metric(self) -> Metric:
        """The metric of a query that names none and has no index."""
        return "hamming" if self.type.element == pa.uint8() else "l2"


def nearest_of(
    batches: Iterable[pa.RecordBatch], query: VectorQuery, vectors: list[AnyVectors], metric: Metric
) -> list[searching.Neighbours]:
    """Return the nearest of rows for each of some queries [q, d].

    Batches have the column of the query and the ids of the rows. Raises FormatError; QueryRefused
    where a number of the query is missing, and rows have several vectors of float32.
    """
    refused = query.missing and query.type.multivector and query.type.dtype == np.float32
    best = [searching.NO_NEIGHBOURS] * len(vectors)
    for batch in batches:
        if refused:
            raise QueryRefused(
                "Invalid argument error: multivec_distance: query must not contain nulls, "
                f"got {query.missing} null(s)"
            )
        near = exact_distances(batch, query.column, vectors, metric)
        near = [one.within(query.search.range) for one in near]
        best = [searching.concat(pair).best(query.k) for pair in zip(best, near, strict=True)]
    return best


def exact_distances(
    batch: pa.RecordBatch, column: str, queries: list[AnyVectors], metric: Metric
) -> list[searching.Neighbours]:
    """Return the rows that have vectors, for each query [q, d]."""
    # L.index.vector.search.no-number
    vectors, ids = vectors_of(batch.column(column)), batch.column(ROW_ID).to_numpy()
    first = np.flatnonzero(np.diff(vectors.rows, prepend=-1))
    rows, neighbours = ids[vectors.rows[first]], []
    for query in queries:
        near = distances(query, vectors.values, metric)
        if len(first) < len(vectors.rows):
            near = np.fmin.reduceat(near, first, axis=1)
        total = near[0] if len(near) == 1 else near.sum(0, np.float32)
        neighbours.append(searching.Neighbours(rows, total))
    return neighbours


class VectorSearch:
    """One query, or a batch of them, over fragments; a `fast` one only over indexed ones."""

    def __init__(
        self,
        snapshot: Snapshot,
        query: VectorQuery,
        fragments: Sequence[FragmentRows] | None = None,
        *,
        fast: bool = False,
    ) -> None:
        self._snapshot, self.query, self._fast = snapshot, query, fast
        self._fragments = snapshot.fragments if fragments is None else fragments

    @cached_property
    def index(self) -> Index | None:
        """The index that is searched, None when every row is compared. Raises FormatError."""
        metrics = {one.head.model.metric for one in self._segments}
        own = self.query.metric is None or metrics == {self.query.metric}
        return self._of_column if metrics and own else None

    @cached_property
    def _of_column(self) -> Index | None:
        """The first index over the vectors, None when none is wanted."""
        if not self.query.use_index or not self._snapshot.manifest.indices:
            return None
        every = (one for one in self._snapshot.indices.known if one.kind is Vector)
        return next((one for one in every if one.field_id == self.query.field_id), None)

    @property
    def metric(self) -> Metric:
        """The metric of the query, or of the index, or of the type. Raises FormatError."""
        if self.query.metric is not None:
            return self.query.metric
        if self.index is not None:
            return self._segments[0].head.model.metric
        return self.query.default_metric

    @cached_property
    def _segments(self) -> list[VectorIndex]:
        """The opened segments that cover fragments. Raises FormatError."""
        live = bitmaps.BitMap([rows.fragment.id for rows in self._fragments])
        index, segments = self._of_column, []
        for segment in () if index is None else index.segments:
            if index and segment.holds & live:  # also where overlays lie over all their vectors
                opened = index.open(segment)
                assert isinstance(opened, VectorIndex)
                opened.check_column(self.query.type)
                segments.append(opened)
        return segments

    @property
    def unindexed(self) -> list[FragmentRows]:
        """The fragments whose rows are compared one by one. Raises FormatError."""
        # L.index.vector.search.unindexed
        covered = bitmaps.BitMap()
        if self.index is not None:
            covered = covered.union(*(one.segment.covers for one in self._segments))
        uncovered = [rows for rows in self._fragments if rows.fragment.id not in covered]
        return [] if self._fast else uncovered

    def nearest(self, condition: Condition | None) -> list[searching.Neighbours]:
        """Return the rows of each query, the nearest first. Raises FormatError."""
        # L.index.vector.search.order
        query, unindexed = self.query, self.unindexed
        vectors = [one[None] for one in query.vectors] if query.batch else [query.vectors]
        parts = []
        if unindexed or self.index is None:
            parts.append(nearest_of(self._read(unindexed, condition), query, vectors, self.metric))
        if self.index is not None:
            exact = bool(unindexed) or query.refine_factor is not None
            near = self._candidates(vectors, condition)
            parts.append(self._with_exact_distances(near, vectors) if exact else near)
        return [searching.concat(some).best(query.k) for some in zip(*parts, strict=True)]

    def _candidates(
        self, vectors: list[AnyVectors], condition: Condition | None
    ) -> list[searching.Neighbours]:
        """Return the rows that the segments of the index find for each query."""
        # L.index.vector.search.several
        query, every = self.query, np.concatenate(vectors)
        live = [self._live_rows(one, condition) for one in self._segments]
        pairs = zip(self._segments, live, strict=True)
        near = [searching.search(one, every, query.search, alive) for one, alive in pairs]
        best = [searching.concat(parts).best(query.search.k) for parts in zip(*near, strict=True)]
        if query.type.multivector:
            best = [searching.sum_distances(best).best(query.k * (query.refine_factor or 1))]
        return best

    def _live_rows(self, index: VectorIndex, condition: Condition | None) -> Moved:
        """Return a function from keys to live rows of a segment, kept where there is no filter."""
        fragments = self._fragments
        if condition is None and index.living is not None and index.living[0] is fragments:
            return index.living[1]
        own = [rows for rows in fragments if rows.fragment.id in index.segment.covers]
        live = live_rows(index, own, condition)
        if condition is None and fragments is self._snapshot.fragments:
            live = cached_moves(live)
            index.living = fragments, live
        return live

    def _with_exact_distances(
        self, near: list[searching.Neighbours], vectors: list[AnyVectors]
    ) -> list[searching.Neighbours]:
        # L.index.vector.search.refine
        exact = []
        for one, own in zip(near, vectors, strict=True):
            positions = positions_of_ids(self._snapshot, pa.array(one.ids))
            rows = self._snapshot.take(np.sort(positions), self._projection)
            exact += nearest_of(rows.to_batches(), self.query, [own], self.metric)
        return exact

    @property
    def _projection(self) -> Projection:
        schema = self._snapshot.schema(BlobHandling.DESCRIPTIONS)
        return scan_projection(schema, [self.query.column], [ROW_ID])

    def _read(
        self, fragments: Sequence[FragmentRows], condition: Condition | None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the vectors and ids of live rows, of those that pass where there is a filter."""
        width = self.query.type.dimension * self.query.type.dtype.itemsize
        size = max(1, min(RUN_VECTORS, RUN_BYTES // max(1, width)))
        projection = self._projection
        if condition is None:
            rows = sum(one.num_rows for one in fragments)
            yield from self._snapshot.scan(fragments, projection, size, 0, rows)
            return
        for passed in passing_rows(fragments, condition, 0, None):
            yield from read_passed(passed, projection, size)
