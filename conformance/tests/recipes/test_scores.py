"""Tests of scores: the formula, worked by hand."""

from __future__ import annotations

import math

import pytest
from lance_conformance.recipes.scores import bm25, scores

DOCUMENTS = {0: ["a", "b"], 1: ["a"], 2: ["b", "b", "b"]}


def test_a_score_by_hand() -> None:
    """`a` is in two of three documents of mean length 2; a document of that length counts once."""
    weight = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)

    assert pytest.approx(weight) == bm25(DOCUMENTS, ["a"], 0)
    assert pytest.approx(weight * 2.2 / (1 + 1.2 * 0.625)) == bm25(DOCUMENTS, ["a"], 1)
    assert pytest.approx(weight * 2.2 * 3 / (3 + 1.2 * 1.375)) == bm25(DOCUMENTS, ["b"], 2)


def test_words_add_up() -> None:
    """Repeats too; a word that is nowhere adds nothing."""
    once = bm25(DOCUMENTS, ["a"], 0)

    assert pytest.approx(2 * once + bm25(DOCUMENTS, ["b"], 0)) == bm25(
        DOCUMENTS, ["a", "b", "a", "c"], 0
    )


def test_rows_that_came_later_are_scored_by_all() -> None:
    """Those that are indexed only by the indexed."""
    found = scores(DOCUMENTS, ["b"], [0, 2], indexed=2)

    assert pytest.approx(bm25({0: ["a", "b"], 1: ["a"]}, ["b"], 0)) == found[0]
    assert pytest.approx(bm25(DOCUMENTS, ["b"], 2)) == found[2]
