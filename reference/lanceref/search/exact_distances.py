"""Exact distances: of the vectors of rows, from those of a query.

Where a row has several vectors its distance is that of the nearest one, of a query of several
vectors the sum.

Clauses: L.index.vector.search.several, L.index.vector.search.no-number
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from lanceref.core.errors import QueryRefused
from lanceref.index.vector.search_results import NOBODY, Neighbours, joined
from lanceref.index.vector.vectors import vectors_of
from lanceref.kernels.distance import AnyVectors, Metric, distances
from lanceref.search.vector_query import VectorQuery
from lanceref.table.lineage import ROW_ID


def nearest_of(
    batches: Iterable[pa.RecordBatch], query: VectorQuery, vectors: list[AnyVectors], metric: Metric
) -> list[Neighbours]:
    """Return the nearest of rows for each of some queries [q, d].

    Batches have the column of the query and the ids of the rows. Raises FormatError; QueryRefused
    where a number of the query is none, and rows have several vectors of float32.
    """
    refused = query.missing and query.type.multivector and query.type.dtype == np.float32
    best = [NOBODY] * len(vectors)
    for batch in batches:
        if refused:
            raise QueryRefused(
                "Invalid argument error: multivec_distance: query must not contain nulls, "
                f"got {query.missing} null(s)"
            )
        found = measured(batch, query.column, vectors, metric)
        best = [
            joined([before, one.within(query.range)]).best(query.k)
            for before, one in zip(best, found, strict=True)
        ]
    return best


def measured(
    batch: pa.RecordBatch, column: str, queries: list[AnyVectors], metric: Metric
) -> list[Neighbours]:
    """Return the rows that have vectors, for each query [q, d]."""
    held, ids = vectors_of(batch.column(column)), batch.column(ROW_ID).to_numpy()
    first = np.flatnonzero(np.diff(held.rows, prepend=-1))
    rows, found = ids[held.rows[first]], []
    for query in queries:
        near = distances(query, held.values, metric)
        if len(first) < len(held.rows):
            near = np.fmin.reduceat(near, first, axis=1)
        found.append(Neighbours(rows, near[0] if len(near) == 1 else near.sum(0, np.float32)))
    return found
