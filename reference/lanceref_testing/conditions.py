"""Conditions: random comparisons in SQL with a column of some type, alone and joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from random import Random

import pyarrow as pa

from lanceref_testing.columns import Column, sql

Leaf = Callable[[Random, str, Column], str]
"""Draws one comparison with a column that SQL calls by a name."""

NULL_TESTS = 0.06
"""Share of comparisons that ask for nulls."""


def conditions(leaf: Leaf, name: str, column: Column, seed: str, *, denied: bool) -> Iterator[str]:
    """Yield conditions without end, no two alike: comparisons, some `denied`, some joined.

    None that is joined is denied: the oracle makes the opposite of two lists that have nothing in
    common true of null (D.query.not-in-or-zero).
    """
    random, known = Random(seed), set[str]()

    def joined(depth: int) -> str:
        if depth and random.random() < 0.4:
            return either(random, joined(depth - 1), joined(depth - 1))
        drawn = (leaf(random, name, column) for _ in count())
        return next(one for one in drawn if " not in " not in one)

    while True:
        if random.random() < 0.6:
            condition = leaf(random, name, column)
            if denied and random.random() < 0.12:
                condition = f"not ({condition})"
        else:
            condition = joined(2)
        if condition not in known:
            known.add(condition)
            yield condition


def either(random: Random, one: str, other: str) -> str:
    """Join two conditions by `and` or `or`."""
    return f"({one} {random.choice(('and', 'or'))} {other})"


def null_test(random: Random, name: str) -> str:
    """Ask for nulls, or for all else."""
    return f"{name} is {random.choice(('', 'not '))}null"


def compared(random: Random, name: str, column: Column) -> str:
    """Compare with one value, a range, or some."""
    if random.random() < NULL_TESTS:
        return null_test(random, name)
    first, second, third = (column.literal(random) for _ in range(3))
    if pa.types.is_boolean(column.type) and random.random() < 0.3:
        return random.choice((name, f"not {name}"))
    return random.choice(
        (
            f"{name} = {first}",
            f"{name} {random.choice(('<', '<=', '>', '>=', '!='))} {first}",
            f"{name} between {first} and {second}",
            f"{name} {random.choice(('', 'not '))}in ({first}, {second}, {third})",
        )
    )


def equalled(random: Random, name: str, column: Column) -> str:
    """Compare for being the same as one value, or as one of some."""
    if random.random() < NULL_TESTS:
        return f"{name} is null"
    values = [column.literal(random) for _ in range(3)]
    return f"{name} = {values[0]}" if random.random() < 0.6 else f"{name} in ({', '.join(values)})"


def begun(random: Random, name: str, column: Column) -> str:
    """Compare texts, also by how they begin."""
    if random.random() < 0.7:
        return compared(random, name, column)
    words = [str(one) for one in column.values if str(one)[:1].isalnum()]
    word = random.choice(words)[: random.randrange(1, 5)]
    if random.random() < 0.5:
        return f"starts_with({name}, {sql(word)})"
    return f"{name} like {sql(word.replace('_', '').replace('%', '') + '%')}"


def contained(random: Random, name: str, column: Column) -> str:
    """Look for a part of a text, of three letters or more."""
    return _part(random, name, [str(one) for one in column.values])


def spelled(random: Random, name: str, column: Column) -> str:
    """Look for a part of a word: a blank in what is looked for is found where others are, too."""
    return _part(random, name, [word for one in column.values for word in str(one).split()])


def _part(random: Random, name: str, texts: list[str]) -> str:
    word = random.choice([one for one in texts if len(one) > 2])
    start = random.randrange(len(word) - 2)
    return f"contains({name}, {sql(word[start : start + random.choice((3, 4, 9))])})"


def labelled(random: Random, name: str, column: Column, nulls: float = 0.0) -> str:
    """Look for values in lists; of two values the second is null in a share of `nulls`."""
    held = [one for values in column.values if isinstance(values, list) for one in values]
    some = [one for one in held if one is not None]
    first, second = (column.written(random.choice(some)) for _ in range(2))
    if nulls and random.random() < nulls:
        second = "null"
    given = random.choice((f"[{first}]", f"[{first}, {second}]"))
    return random.choice(
        (
            f"array_has({name}, {first})",
            f"array_has_any({name}, {given})",
            f"array_has_all({name}, {given})",
        )
    )


def placed(random: Random, name: str, column: Column) -> str:
    """Hold geometries against a box."""
    if random.random() < NULL_TESTS:
        return f"{name} is null"
    how = random.choice(("st_intersects", "st_within", "st_covers", "st_contains", "st_coveredby"))
    box = column.written((random.random(), how))
    return f"{how}({name}, st_geomfromtext({box}))"
