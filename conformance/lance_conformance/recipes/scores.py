"""Scores: what a full-text query gives documents, told from their tokens by the formula.

Written for clearness, in 64-bit floats, from the clauses alone; it knows no index. A row that was
appended after the index was made is scored by all rows, the others by those that are indexed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pyarrow as pa

from lance_conformance.recipes.indexed import Steps, made
from lance_conformance.recipes.model import Asked

K1, B = 1.2, 0.75

SCORED = ("L.index.fts.score", "L.index.fts.score.statistics", "L.index.fts.unindexed")
"""Clauses of a search that gives scores."""

TOLERANCE = "0.000001"
"""Share by which a score may be off."""

Documents = Mapping[int, Sequence[str]]
"""The tokens of every document, by its row; rows without tokens are none."""


def bm25(documents: Documents, asked: Sequence[str], row: int) -> float:
    """Return the score of a row for tokens."""
    mean = sum(map(len, documents.values())) / len(documents)
    own, total = documents[row], 0.0
    for token in asked:
        held = sum(token in one for one in documents.values())
        weight = math.log((len(documents) - held + 0.5) / (held + 0.5) + 1)
        often = own.count(token)
        total += weight * (K1 + 1) * often / (often + K1 * (1 - B + B * len(own) / mean))
    return total


def scores(
    documents: Documents, asked: Sequence[str], rows: Sequence[int], indexed: int
) -> dict[int, float]:
    """Return the scores of rows; those from `indexed` on are in no index."""
    inside = {row: tokens for row, tokens in documents.items() if row < indexed}
    return {row: bm25(inside if row < indexed else documents, asked, row) for row in rows}


def texts_found(
    steps: Steps,
    query: Mapping[str, Mapping[str, object]],
    found: Mapping[int, float] | pa.Table,
    *,
    by: str = "oracle",
) -> Asked:
    """Return the question of a full-text query that finds rows with these scores, or a table."""
    if not isinstance(found, pa.Table):
        ids, scored = pa.array([*found], pa.int64()), pa.array([*found.values()], pa.float32())
        found = pa.table({"id": ids, "_score": scored})
    return Asked(
        make=made(steps, found, by=by),
        kind="index-search",
        args={"text": query, "columns": ["id"]},
        index="INVERTED",
        order="any",
        tolerance=TOLERANCE,
    )
