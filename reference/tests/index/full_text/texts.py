"""Texts and queries that are the same in every run, and what a table finds for them."""

from random import Random
from types import ModuleType

import pyarrow as pa
from lanceref_testing.texts import draw_query, rows

QUERIES = 240
"""Queries of columns `s` and `t`."""


def table(size: int) -> pa.Table:
    """Return texts in `s` and `t`, some null, lists of texts in `l`, and row numbers in `i`."""
    return rows("simple", size, Random(7), 0)


def queries(names: ModuleType) -> list[object]:
    """Return queries made of the classes of a module."""
    rng = Random(11)
    return [draw_query("simple", names, rng, "st") for _ in range(QUERIES)]


def answer(dataset, asked: object, **scan) -> list[tuple[int, float]]:
    """Return row numbers and scores, by row number; the scores must fall as rows come."""
    found = dataset.to_table(full_text_query=asked, columns=["i", "_score"], **scan)
    scores = found["_score"].to_pylist()
    assert sorted(scores, reverse=True) == scores
    return sorted(zip(found["i"].to_pylist(), scores, strict=True))


def assert_equal(wanted, found, what: object) -> None:
    """The same rows, scores equal to 1e-5."""
    assert [row for row, _ in wanted] == [row for row, _ in found], what
    for (_, own), (_, other) in zip(wanted, found, strict=True):
        assert abs(own - other) <= 1e-5 * max(1, abs(own)), what
