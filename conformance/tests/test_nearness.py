"""Tests of nearness: scores are the same within a share, and rows come best first."""

from __future__ import annotations

import pyarrow as pa
import pytest
from lance_conformance.compare import first_difference
from lance_conformance.nearness import out_of_order, settled


def _found(ids: list[int], scores: list[float], name: str = "_score") -> pa.Table:
    return pa.table({"id": ids, name: pa.array(scores, pa.float32())})


@pytest.mark.parametrize(
    ("ids", "scores", "same"),
    [
        ([2, 1], [0.5000001, 0.5], True),
        ([1, 2], [0.5001, 0.5], False),
        ([1, 3], [0.5, 0.5], False),
        ([1], [0.5], False),
    ],
    ids=["near", "far", "another row", "a row less"],
)
def test_scores_are_the_same_within_a_share(
    ids: list[int], scores: list[float], same: bool
) -> None:
    """Whatever the order of rows that are equally good."""
    expected = _found([1, 2], [0.5, 0.5])
    difference = first_difference(expected, settled(expected, _found(ids, scores), "0.00001"),
                                  order="any")  # fmt: skip

    assert same == (difference is None)


def test_tables_without_scores_stay() -> None:
    """And so do those with other columns, or with nulls for scores."""
    plain, scored = pa.table({"id": [2, 1]}), _found([1], [1.0])
    nulls = pa.table({"id": [1], "_score": pa.array([None], pa.float32())})

    assert plain is settled(plain, plain, "0.1")
    assert plain is settled(scored, plain, "0.1")
    assert nulls.equals(settled(scored, nulls, "0.1"))


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("_score", [2.0, 2.0, 1.0], False),
        ("_score", [1.0, 2.0], True),
        ("_distance", [1.0, 2.0], False),
        ("_distance", [2.0, 1.0], True),
    ],
)
def test_rows_come_best_first(name: str, values: list[float], told: bool) -> None:
    """High scores are good, small distances are."""
    found = _found(list(range(len(values))), values, name)

    assert told == (out_of_order(found) is not None)
