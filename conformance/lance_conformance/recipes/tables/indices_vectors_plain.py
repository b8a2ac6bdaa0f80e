"""Cases of vector indices in files of 2.0, whose bytes lie plain: the parents of damaged ones.

Their entries do not say how long the files are. All partitions are searched, and all rows compared
by their vectors, so that the answer is that of a search without the index.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lance_conformance.recipes.hand import reworked
from lance_conformance.recipes.messages import index
from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.tables.indices_plain import TITLE, without_sizes
from lance_conformance.recipes.tables.indices_vectors import ALL, TYPES, case
from lance_conformance.recipes.tables.indices_vectors_life import EARLY
from lance_conformance.recipes.vectors import Vectors

LAST = "_versions/18446744073709551612.manifest"
"""The manifest of the last version."""

_SHOWN = ("L.index.vector.search.order", "L.index.vector.search.refine")


def _plain(slug: str, vectors: Vectors, *clauses: str) -> Positive:
    vectors = replace(vectors, version="2.0", seed=13)
    asked: dict[str, Any] = {"ef": ALL} if "HNSW" in vectors.type else {}
    made = case(slug, TITLE, vectors, (*_SHOWN, *clauses), true=max(ALL, vectors.rows), refine=1,
                nprobes=2, **asked)  # fmt: skip
    return replace(made, make=reworked(made.make, index(without_sizes, LAST)), reachable=False)


POSITIVES = (
    _plain("plain", TYPES["flat"], "L.index.vector.assignment"),
    _plain("plain-12", replace(TYPES["flat"], dimension=12)),
    _plain("plain", TYPES["sq"], "L.index.vector.sq.code"),
    _plain("plain", TYPES["pq"], "L.index.vector.pq.codes"),
    _plain("plain", TYPES["rq"], "L.index.vector.rq.signs"),
    _plain("plain-5", TYPES["rq-5"], "L.index.vector.rq.columns"),
    _plain("plain", TYPES["hnsw-flat"], "L.index.vector.graph.levels"),
    _plain("early-plain", replace(TYPES["pq"], parameters=EARLY, rows=260),
           "L.index.vector.single.message"),
)  # fmt: skip
