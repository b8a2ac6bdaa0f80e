"""A table with an index of each scalar type, and conditions on its columns."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from lance_conformance.oracle import lance
from lance_conformance.recipes.indexed import create_index

WORDS = ["apple pie", "banana", "an apple", "cherry tree", "", "pineapple", "tree"]
JSONS = ['{"a": 1, "b": "x"}', '{"a": 5}', '{"b": "y"}', '{"a": 12, "b": "x"}']
INDEXED = {
    "n": "BTREE",
    "k": "BITMAP",
    "z": "ZONEMAP",
    "e": "BLOOMFILTER",
    "g": "NGRAM",
    "tags": "LABEL_LIST",
    "w": "FM",
}
"""Columns, and the type of the index over each."""

ROWS = 600


def write_indexed(uri: str) -> None:
    """Let the oracle write the table in three fragments, index it, delete and append rows."""
    dataset = lance().write_dataset(_rows(0, ROWS), uri, max_rows_per_file=ROWS // 3)
    for column, kind in INDEXED.items():
        create_index(lance(), dataset, column, kind, {})
    dataset.delete("id % 11 = 4")
    lance().write_dataset(_rows(ROWS, ROWS // 4), uri, mode="append")


def _rows(start: int, count: int) -> pa.Table:
    random = Random(start)

    def cells(draw: object, nulls: float = 0.1) -> list[object]:
        return [None if random.random() < nulls else draw() for _ in range(count)]  # type: ignore[operator]

    return pa.table(
        {
            "id": pa.array(range(start, start + count), pa.int64()),
            "n": pa.array(cells(lambda: random.randrange(-50, 50)), pa.int32()),
            "k": pa.array(cells(lambda: random.choice("abcdef")), pa.utf8()),
            "z": pa.array(cells(lambda: random.randrange(1000) / 8), pa.float64()),
            "e": pa.array(cells(lambda: random.randrange(200)), pa.int64()),
            "g": pa.array(cells(lambda: random.choice(WORDS)), pa.utf8()),
            "w": pa.array(cells(lambda: random.choice(WORDS)), pa.utf8()),
            "tags": pa.array(
                cells(lambda: random.choices("pqrs", k=random.randrange(3))), pa.list_(pa.utf8())
            ),
        }
    )


def condition(random: Random, column: str) -> str:
    """Return a condition on a column, joined with one on another now and then."""
    text = _leaf(random, column)
    if random.random() < 0.35:
        text = (
            f"({text}) {random.choice(('and', 'or'))} ({_leaf(random, random.choice([*INDEXED]))})"
        )
    return f"not ({text})" if random.random() < 0.15 else text


def _leaf(random: Random, column: str) -> str:
    if random.random() < 0.1:
        return f"{column} is {random.choice(('', 'not '))}null"
    if column == "tags":
        one, other = random.choice("pqrsx"), random.choice("pqrs")
        return random.choice(
            (
                f"array_has(tags, '{one}')",
                f"array_has_any(tags, ['{one}', '{other}'])",
                f"array_has_all(tags, ['{one}', '{other}'])",
            )
        )
    if column in "gw":
        word = random.choice(("apple", "tree", "an", "nana", "zzz", "pie"))
        return random.choice(
            (f"contains({column}, '{word}')", f"{column} = '{random.choice(WORDS)}'")
        )
    literals = [_literal(random, column) for _ in range(3)]
    return random.choice(
        (
            f"{column} {random.choice(('=', '!=', '<', '<=', '>', '>='))} {literals[0]}",
            f"{column} between {literals[0]} and {literals[1]}",
            f"{column} {random.choice(('', 'not '))}in ({', '.join(literals)})",
        )
    )


def _literal(random: Random, column: str) -> str:
    if column == "k":
        return repr(random.choice("abcdefg"))
    return f"{random.randrange(1000) / 8}" if column == "z" else f"{random.randrange(-60, 220)}"
