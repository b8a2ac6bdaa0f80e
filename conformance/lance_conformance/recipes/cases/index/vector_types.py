"""Cases that every type of vector index has: metrics, elements, segments, rows that moved.

A search of all partitions for more rows than there are says how far each row is. By vectors
themselves that is computed in float64; by codes it is what the oracle says, whoever wrote the
index. Then the nearest ones, compared by their vectors, must be the true ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lance_conformance.recipes.constructors import case
from lance_conformance.recipes.model import Asked, Recipe
from lance_conformance.recipes.vectors import (
    ALL,
    COLUMN,
    DIMENSION,
    EARLY,
    ENOUGH,
    NEAREST,
    TYPES,
    Numbers,
    Vectors,
    nearest,
    numbers,
)

_CENTROIDS: Numbers = np.array([[-2.0] * DIMENSION, [2.0] * DIMENSION], "f4")
"""Two places that vectors are near to."""

_CODEBOOK: Numbers = numbers("f4", 4 * 16, 2, 2).reshape(4, 16, 2)
"""Codewords of four sub-vectors."""

_METRICS = ("l2", "cosine", "dot")
_KINDS = {
    "oracle": tuple((metric, element) for metric in _METRICS for element in ("f2", "f4", "f8")),
    "reference": (("l2", "f4"), ("cosine", "f2"), ("dot", "f8")),
}
_OF_BYTES = (("hamming", "u1"),)


def _folder(name: str, by: str) -> str:
    """Return what the ids of a type begin with, by who wrote the index."""
    return f"index/any/{TYPES[name].topic}/{'own-' if by == 'reference' else ''}"


def _bits(name: str) -> str:
    """Return what the ids of a type name besides, where two types share a folder."""
    return "5-" if name == "rq-5" else ""


def _every_row(name: str, metric: str, element: str, by: str) -> Asked:
    vectors = replace(TYPES[name], metric=metric, element=element, seed=DIMENSION)
    graph: dict[str, Any] = {"ef": ALL} if "HNSW" in vectors.type else {}
    tolerance = "0.005" if element == "f2" else "0.001"
    return nearest(vectors, by=by, nprobes=2, tolerance=tolerance, **graph)


def _refined(name: str, metric: str, by: str) -> Asked:
    vectors = replace(TYPES[name], metric=metric, appended=6, seed=3)
    return nearest(vectors, by=by, true=5, nprobes=2, refine=20)


def _parts(dataset: Any, vectors: Vectors) -> Sequence[Any]:
    """Build a segment over each of two fragments, with the same centroids."""
    given = {"ivf_centroids": _CENTROIDS, "num_partitions": 2, **vectors.parameters}
    if vectors.type == "IVF_PQ":
        given["pq_codebook"] = _CODEBOOK
    make = dataset.create_index_uncommitted
    kind, metric = vectors.type, vectors.metric
    return [make(COLUMN, kind, metric=metric, fragment_ids=[n], **given) for n in range(2)]


def _side_by_side(vectors: Vectors) -> Callable[[Any, Any], object]:
    """Return what makes an index of two segments."""

    def build(module: Any, dataset: Any) -> None:
        parts = _parts(dataset, vectors)
        dataset.commit_existing_index_segments(f"{COLUMN}_idx", COLUMN, parts)

    return build


def _merged(vectors: Vectors) -> Callable[[Any, Any], object]:
    """Return what makes an index of one segment that was merged of two."""

    def build(module: Any, dataset: Any) -> None:
        whole = dataset.merge_existing_index_segments(_parts(dataset, vectors))
        dataset.commit_existing_index_segments(f"{COLUMN}_idx", COLUMN, [whole])

    return build


def _optimized(dataset: Any) -> None:
    dataset.optimize.optimize_indices(num_indices_to_merge=1)


def _compacted(dataset: Any) -> None:
    dataset.optimize.compact_files(target_rows_per_fragment=ALL)


def _changed(
    name: str, how: Callable[[Vectors], Any] | None, changes: Mapping[str, Any]
) -> Vectors:
    vectors = replace(TYPES[name], seed=11, **changes)
    return vectors if how is None else replace(vectors, build=how(vectors))


_ADDED = {"appended": 6, "afterwards": _optimized}
_MOVED = {"afterwards": _compacted}
_STABLE = {"stable_row_ids": True}

_LIVES: tuple[tuple[str, str, str, Any, Mapping[str, Any]], ...] = (
    ("side-by-side", "two segments, each of one fragment", "flat", _side_by_side, {}),
    ("side-by-side", "two segments with one codebook", "pq", _side_by_side, {}),
    ("merged", "a segment that was merged of two", "flat", _merged, {}),
    ("merged", "codes row by row, merged, then by columns", "pq", _merged, {}),
    ("optimized", "rows that were appended, in the segment of the others", "flat", None, _ADDED),
    ("optimized", "bytes that were kept, and new ones", "sq", None, _ADDED),
    ("optimized", "a graph over old rows and new ones", "hnsw-flat", None, _ADDED),
    ("moved", "rows that were written anew: their addresses are others", "flat", None, _MOVED),
    ("moved", "codes of rows that were written anew", "rq-5", None, _MOVED),
    ("row-ids", "stable row ids", "flat", None, _STABLE),
    ("row-ids", "stable row ids of codes", "rq", None, _STABLE),
    ("next", "files of 2.2", "sq", None, {"version": "2.2"}),
    ("next", "files of 2.2", "hnsw-pq", None, {"version": "2.2"}),
)
"""Slug, title, type, how the index is built, and what else is changed."""


def _of_pq(metric: str, parameters: Mapping[str, object], by: str) -> Asked:
    changed = replace(TYPES["pq"], metric=metric, parameters=parameters, rows=ENOUGH, seed=5)
    return nearest(changed, by=by, nprobes=2)


_BY = ("oracle", "reference")

CASES: tuple[Recipe, ...] = (
    *(case(f"{_folder(name, by)}{_bits(name)}{metric}-{element}",
        f"every row by {metric} of {element}", NEAREST, _every_row(name, metric, element, by))
        for by, kinds in _KINDS.items() for name, vectors in TYPES.items() for metric,
        element in (*kinds, *(_OF_BYTES if vectors.type.endswith("_FLAT") else ()))),
    *(case(f"{_folder(name, by)}{_bits(name)}{metric}-refined",
            f"the nearest by {metric}, compared by their vectors; some are in no index",
            (*NEAREST, "L.index.vector.search.unindexed"), _refined(name, metric, by)) for by,
        metrics in (("oracle", _METRICS),
            ("reference", ("l2",))) for name in TYPES for metric in metrics),
    *(case(f"{_folder(name, by)}{slug}", title, NEAREST, nearest(_changed(name, how, changes),
        by=by, nprobes=2)) for by in _BY for slug, title, name, how, changes in _LIVES),
    *(case(f"{_folder('pq', by)}8-{metric}", f"codes of eight bits, by {metric}", NEAREST,
            _of_pq(metric, {"num_sub_vectors": 4}, by)) for metric in _METRICS for by in _BY),
    *(case(f"{_folder('pq', by)}early-{metric}", f"a single file of early releases, by {metric}",
            ("L.index.vector.search.order", "L.index.vector.single.message"),
            _of_pq(metric, EARLY, by)) for metric in _METRICS for by in _BY),
)  # fmt: skip
