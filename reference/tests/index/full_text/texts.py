"""Random texts and queries, the same in every run, and what a table finds for them."""

from __future__ import annotations

import random
from types import ModuleType

import pyarrow as pa

_TEXT = """fox dog cow red blue green quick lazy run running runs house houses Straße été ETE
the of and very having over under x1 foo_bar 42 naïve cats cat category café don't"""

WORDS = _TEXT.split()
KINDS = ("match", "match", "fuzzy", "phrase", "multi", "combined", "boost", "boolean")
QUERIES = 240


def text(rng: random.Random, longest: int = 30) -> str:
    """Return some words, of which the first are frequent."""
    weights = [1 / (1 + number) for number in range(len(WORDS))]
    return " ".join(rng.choices(WORDS, weights, k=rng.choice([0, 1, 2, 5, longest])))


def table(rows: int, seed: int = 7) -> pa.Table:
    """Return texts in `s` and `t`, some null, lists of texts in `l`, and row numbers in `i`."""
    rng = random.Random(seed)
    columns = {
        name: [text(rng) if rng.random() > 0.1 else None for _ in range(rows)] for name in "st"
    }
    lists = [
        [text(rng, 6) for _ in range(rng.randint(0, 3))] if rng.random() > 0.1 else None
        for _ in range(rows)
    ]
    return pa.table({**columns, "l": pa.array(lists, pa.list_(pa.string())), "i": range(rows)})


def words(rng: random.Random, most: int = 4) -> str:
    """Return what to look for."""
    return " ".join(rng.choices(WORDS, k=rng.randint(1, most)))


def queries(names: ModuleType, seed: int = 11) -> list[object]:
    """Return queries made of the classes of a module."""
    rng = random.Random(seed)
    return [query(names, rng) for _ in range(QUERIES)]


def query(names: ModuleType, rng: random.Random, depth: int = 2) -> object:
    """Return a query, of columns `s` and `t`."""
    operator = rng.choice([names.FullTextOperator.AND, names.FullTextOperator.OR])
    kind = rng.choice(KINDS)
    column = rng.choice("st")
    if kind == "fuzzy":
        edits = rng.choice([1, 2])
        return names.MatchQuery(words(rng, 2), column, fuzziness=edits, operator=operator)
    if kind == "phrase":
        return names.PhraseQuery(words(rng, 3), column)
    if kind == "multi":
        return names.MultiMatchQuery(words(rng), ["s", "t"], boosts=[1.5, 1.0], operator=operator)
    if kind == "combined":
        return names.CombinedFieldsQuery(words(rng), ["s", "t"], operator=operator)
    if kind == "match" or depth == 0:
        boost = rng.choice([1.0, 2.5])
        return names.MatchQuery(words(rng), column, boost=boost, operator=operator)
    parts = [query(names, rng, depth - 1) for _ in range(3)]
    if kind == "boost":
        return names.BoostQuery(parts[0], parts[1], negative_boost=0.25)
    occurs = [rng.choice(list(names.Occur)) for _ in parts[1:]]
    must = rng.choice([names.Occur.MUST, names.Occur.SHOULD])
    return names.BooleanQuery([(must, parts[0]), *zip(occurs, parts[1:], strict=True)])


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
