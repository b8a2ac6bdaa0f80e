"""Cases of vector indices: every type, metric and element that the oracle builds.

A search of all partitions for more rows than there are says how far each row is. By vectors
themselves that is computed in float64; by codes it is what the oracle says, whoever wrote the
index. Then the nearest ones, compared by their vectors, must be the true ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.vectors import DIMENSION, INDEXED, Vectors, made

ALL = INDEXED + 20
"""More rows than there are in most tables."""

GRAPH: Mapping[str, object] = {"m": 4, "ef_construction": 40}
PQ4: Mapping[str, object] = {"num_sub_vectors": 4, "num_bits": 4}

TYPES: Mapping[str, Vectors] = {
    "flat": Vectors("IVF_FLAT"),
    "sq": Vectors("IVF_SQ"),
    "pq": Vectors("IVF_PQ", parameters=PQ4),
    "rq": Vectors("IVF_RQ", parameters={"num_bits": 1}),
    "rq-5": Vectors("IVF_RQ", parameters={"num_bits": 5}),
    "hnsw-flat": Vectors("IVF_HNSW_FLAT", parameters=GRAPH),
    "hnsw-sq": Vectors("IVF_HNSW_SQ", parameters=GRAPH),
    "hnsw-pq": Vectors("IVF_HNSW_PQ", parameters={**GRAPH, **PQ4}),
}

METRICS = ("l2", "cosine", "dot")
ELEMENTS = ("f2", "f4", "f8")

_KINDS = [(metric, element) for metric in METRICS for element in ELEMENTS]
_OF_BYTES = ("hamming", "u1")

CLAUSES = (
    "L.index.vector.search.order",
    "L.index.vector.auxiliary.partitions",
    "L.index.vector.ivf.rows",
)
"""What every case shows."""


def case(
    slug: str,
    title: str,
    vectors: Vectors,
    clauses: tuple[str, ...] = CLAUSES,
    *,
    by: str = "oracle",
    true: int | None = None,
    tolerance: str = "0.001",
    others: Mapping[str, object] | None = None,
    **asked: object,
) -> Positive:
    """Return the case of a search; `true` nearest rows are expected, or what the oracle says.

    `asked` belongs to the search for vectors, `others` lie beside it.
    """
    topic = vectors.type.lower().replace("_", "-")
    k = max(ALL, vectors.rows) if true is None else true
    request = {**vectors.asked(k=k, **asked), **(others or {})}
    plain = vectors.type.endswith("_FLAT") and vectors.each == 1
    plain = plain and not others and "range" not in asked
    expected = vectors.truth(true) if plain or true is not None else None
    return Positive(
        id=f"index/any/{topic}/{slug}",
        title=title,
        clauses=clauses,
        make=made(vectors, request, expected, by=by),
        version=vectors.version,
        kind="index-search",
        facts={"used": True},
        args=request,
        index=vectors.type,
        order="any",
        tolerance=tolerance,
    )


def _whole(name: str, metric: str, element: str, by: str) -> Positive:
    own = "own-" if by == "reference" else ""
    vectors = replace(TYPES[name], metric=metric, element=element, seed=DIMENSION)
    slug = f"{own}{name.partition('rq-')[2]}{'-' * ('rq-' in name)}{metric}-{element}"
    title = f"every row by {metric} of {element}"
    graph: dict[str, Any] = {"ef": ALL} if "HNSW" in vectors.type else {}
    tolerance = "0.005" if element == "f2" else "0.001"
    return case(slug, title, vectors, by=by, nprobes=2, tolerance=tolerance, **graph)


def _near(name: str, metric: str, by: str) -> Positive:
    own = "own-" if by == "reference" else ""
    vectors = replace(TYPES[name], metric=metric, appended=6, seed=3)
    slug = f"{own}{name.partition('rq-')[2]}{'-' * ('rq-' in name)}{metric}-refined"
    title = f"the nearest by {metric}, compared by their vectors; some are in no index"
    return case(slug, title, vectors, (*CLAUSES, "L.index.vector.search.unindexed"), by=by,
                true=5, nprobes=2, refine=20)  # fmt: skip


_EVERY = [
    _whole(name, metric, element, "oracle")
    for name, vectors in TYPES.items()
    for metric, element in (*_KINDS, *([_OF_BYTES] if vectors.type.endswith("_FLAT") else []))
]

_OWN = [
    _whole(name, metric, element, "reference")
    for name, vectors in TYPES.items()
    for metric, element in (
        ("l2", "f4"),
        ("cosine", "f2"),
        ("dot", "f8"),
        *([_OF_BYTES] if vectors.type.endswith("_FLAT") else []),
    )
]

_NEAR = [_near(name, metric, "oracle") for name in TYPES for metric in METRICS]
_OWN_NEAR = [_near(name, "l2", "reference") for name in TYPES]

POSITIVES = (*_EVERY, *_OWN, *_NEAR, *_OWN_NEAR)
