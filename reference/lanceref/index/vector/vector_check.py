"""Vector indices, checked: the bytes of the files, each partition and graph, where vectors are.

Clauses: L.index.vector.assignment, L.index.vector.rows.left-out
"""

from __future__ import annotations

import numpy as np

from lanceref.data_file.check import check_file
from lanceref.index.segment import Segment
from lanceref.index.vector.flat_storage import FlatRows
from lanceref.index.vector.graph_check import check_graphs
from lanceref.index.vector.single_file_index import SingleFileIndex, open_index
from lanceref.index.vector.vector_file import AUXILIARY, HEAD
from lanceref.index.vector.vector_index import VectorIndex
from lanceref.kernels.distance import AnyVectors, distances

NEAR = 1e-3
"""A centroid may be so much further than the nearest one, as a share of how far that is."""


def check(segment: Segment) -> None:
    """Report what is wrong with a segment. Raises FormatError."""
    index = open_index(segment)
    if not isinstance(index, SingleFileIndex):
        for path in (HEAD, AUXILIARY):
            file = segment.file(path)
            check_file(file.source, file.ctx)
    for number in range(len(index.head.model.centroids)):
        _check_partition(index, number)
    if index.head.type.graphs:
        check_graphs(index)


def _check_partition(index: VectorIndex, number: int) -> None:
    """Report vectors that should be in no partition, or in another."""
    held = index.partition(number).stored
    if not isinstance(held, FlatRows) or not len(held.vectors):
        return
    place, ctx = index.head.place, index.segment.ctx
    if held.vectors.dtype != np.uint8 and not np.isfinite(held.vectors).all():
        ctx.lint(
            "L.index.vector.rows.left-out",
            place,
            found=f"a vector in partition {number} of {index.segment.folder} that is not finite",
            wanted="finite numbers",
        )
        return
    check_assignment(index, number, held.vectors)


def check_assignment(index: VectorIndex, number: int, vectors: AnyVectors) -> None:
    """Report the first of some vectors [n, d] of a partition that should be in another."""
    model = index.head.model
    near = distances(model.centroids, vectors, model.of_vectors)
    nearest = near.min(axis=0)
    wrong = np.flatnonzero(near[number] > nearest + NEAR * (1 + np.abs(nearest)))
    if len(wrong):
        index.segment.ctx.lint(
            "L.index.vector.assignment",
            index.head.place,
            found=f"row {wrong[0]} in partition {number} of {index.segment.folder}",
            wanted=f"partition {int(near[:, wrong[0]].argmin())}, the nearest",
        )
