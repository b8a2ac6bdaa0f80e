"""Cases of vector indices that were not built in one go: of segments, moved, of early releases.

Every index is asked for all rows, and says how far they are, as in the other cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lance_conformance.recipes.model import Positive
from lance_conformance.recipes.tables.indices_vectors import ALL, CLAUSES, TYPES, case
from lance_conformance.recipes.vectors import COLUMN, DIMENSION, Numbers, Vectors, numbers

CENTROIDS: Numbers = np.array([[-2.0] * DIMENSION, [2.0] * DIMENSION], "f4")
"""Two places that vectors are near to."""

CODEBOOK: Numbers = numbers("f4", 4 * 16, 2, 2).reshape(4, 16, 2)
"""Codewords of four sub-vectors."""

EARLY: Mapping[str, object] = {"num_sub_vectors": 4, "index_file_version": "LEGACY"}

ENOUGH = 260
"""Rows that codes of eight bits can be trained with."""

OTHERS = ("oracle", "reference")


def _parts(module: Any, dataset: Any, vectors: Vectors) -> Sequence[Any]:
    """Build a segment over each of two fragments, with the same centroids."""
    given = {"ivf_centroids": CENTROIDS, **vectors.parameters}
    if vectors.type == "IVF_PQ":
        given |= {"pq_codebook": CODEBOOK, "ivf_centroids": CENTROIDS}
    return [
        dataset.create_index_uncommitted(
            COLUMN, vectors.type, metric=vectors.metric, fragment_ids=[number], num_partitions=2,
            **given,
        )
        for number in range(2)
    ]  # fmt: skip


def side_by_side(vectors: Vectors) -> Callable[[Any, Any], object]:
    """Return what makes an index of two segments."""

    def build(module: Any, dataset: Any) -> None:
        parts = _parts(module, dataset, vectors)
        dataset.commit_existing_index_segments(f"{COLUMN}_idx", COLUMN, parts)

    return build


def merged(vectors: Vectors) -> Callable[[Any, Any], object]:
    """Return what makes an index of one segment that was merged of two."""

    def build(module: Any, dataset: Any) -> None:
        parts = _parts(module, dataset, vectors)
        whole = dataset.merge_existing_index_segments(parts)
        dataset.commit_existing_index_segments(f"{COLUMN}_idx", COLUMN, [whole])

    return build


def _optimized(dataset: Any) -> None:
    dataset.optimize.optimize_indices(num_indices_to_merge=1)


def _compacted(dataset: Any) -> None:
    dataset.optimize.compact_files(target_rows_per_fragment=ALL)


def _of(slug: str, title: str, name: str, by: str, **changed: Any) -> Positive:
    vectors = replace(TYPES[name], seed=11, **changed)
    own = "own-" if by == "reference" else ""
    return case(f"{own}{slug}", title, vectors, by=by, nprobes=2)


def _shared(slug: str, title: str, name: str, by: str, how: Any, **changed: Any) -> Positive:
    vectors = replace(TYPES[name], seed=11, **changed)
    vectors = replace(vectors, build=how(vectors))
    own = "own-" if by == "reference" else ""
    return case(f"{own}{slug}", title, vectors, by=by, nprobes=2)


def _life(by: str) -> tuple[Positive, ...]:
    return (
        _shared("side-by-side", "two segments, each of one fragment", "flat", by, side_by_side),
        _shared("side-by-side", "two segments with one codebook", "pq", by, side_by_side),
        _shared("merged", "a segment that was merged of two", "flat", by, merged),
        _shared("merged", "codes row by row, merged, then by columns", "pq", by, merged),
        _of("optimized", "rows that were appended, in the segment of the others", "flat", by,
            appended=6, afterwards=_optimized),
        _of("optimized", "bytes that were kept, and new ones", "sq", by, appended=6,
            afterwards=_optimized),
        _of("optimized", "a graph over old rows and new ones", "hnsw-flat", by, appended=6,
            afterwards=_optimized),
        _of("moved", "rows that were written anew: their addresses are others", "flat", by,
            afterwards=_compacted),
        _of("moved", "codes of rows that were written anew", "rq-5", by, afterwards=_compacted),
        _of("row-ids", "stable row ids", "flat", by, stable_row_ids=True),
        _of("row-ids", "stable row ids of codes", "rq", by, stable_row_ids=True),
        _of("next", "files of 2.2", "sq", by, version="2.2"),
        _of("next", "files of 2.2", "hnsw-pq", by, version="2.2"),
    )  # fmt: skip


def _eight(metric: str, by: str) -> Positive:
    own = "own-" if by == "reference" else ""
    vectors = replace(
        TYPES["pq"], metric=metric, parameters={"num_sub_vectors": 4}, rows=ENOUGH, seed=5
    )
    return case(f"{own}8-{metric}", f"codes of eight bits, by {metric}", vectors, by=by, nprobes=2)


def _early(metric: str, by: str) -> Positive:
    own = "own-" if by == "reference" else ""
    vectors = replace(TYPES["pq"], metric=metric, parameters=EARLY, rows=ENOUGH, seed=5)
    title = f"a single file of early releases, by {metric}"
    clauses = ("L.index.vector.search.order", "L.index.vector.single.message")
    return case(f"{own}early-{metric}", title, vectors, clauses, by=by, nprobes=2)


_ASKED = (
    case("range", "rows between two distances", replace(TYPES["flat"], seed=4),
         (*CLAUSES, "L.index.vector.search.range"), nprobes=2, range=["30.5", "120"]),
    case("filtered", "rows that a filter passes", replace(TYPES["flat"], seed=4),
         nprobes=2, others={"filter": {"sql": "id % 3 = 1"}}),
    case("filtered", "nodes that a filter leaves out are walked over",
         replace(TYPES["hnsw-sq"], seed=4), nprobes=2, others={"filter": {"sql": "id < 40"}}),
    case("several", "rows of two vectors: of each asked the nearest counts",
         replace(TYPES["flat"], seed=4, each=2, metric="cosine"),
         (*CLAUSES, "L.index.vector.search.several"), nprobes=2),
)  # fmt: skip

POSITIVES = (
    *(one for by in OTHERS for one in _life(by)),
    *(_eight(metric, by) for metric in ("l2", "cosine", "dot") for by in OTHERS),
    *(_early(metric, by) for metric in ("l2", "cosine", "dot") for by in OTHERS),
    *_ASKED,
)
