"""Conditions: random comparisons of a column in SQL, alone or joined by `and` and `or`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from random import Random

import pyarrow as pa

from lanceref_testing.columns import Column, sql

Leaf = Callable[[Random, str, Column], str]
"""Draws one comparison with a column, whose name or expression in SQL is given."""

NULL_TESTS = 0.06
"""Share of null tests among comparisons."""


def conditions(leaf: Leaf, name: str, column: Column, seed: str, *, negated: bool) -> Iterator[str]:
    """Yield an endless sequence of distinct conditions: comparisons, some joined, some negated.

    Joined comparisons are not negated: for the oracle the negation of two disjoint lists is true
    for null (D.query.not-in-or-zero).
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
            if negated and random.random() < 0.12:
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
    """Return a test for null or not null."""
    return f"{name} is {random.choice(('', 'not '))}null"


def compare(random: Random, name: str, column: Column) -> str:
    """Compare with a value, a range, or a list of values."""
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


def compare_equal(random: Random, name: str, column: Column) -> str:
    """Compare for equality with a value or with one of several values."""
    if random.random() < NULL_TESTS:
        return f"{name} is null"
    values = [column.literal(random) for _ in range(3)]
    return f"{name} = {values[0]}" if random.random() < 0.6 else f"{name} in ({', '.join(values)})"


def compare_text(random: Random, name: str, column: Column) -> str:
    """Compare texts, also by prefixes."""
    if random.random() < 0.7:
        return compare(random, name, column)
    words = [str(one) for one in column.values if str(one)[:1].isalnum()]
    word = random.choice(words)[: random.randrange(1, 5)]
    if random.random() < 0.5:
        return f"starts_with({name}, {sql(word)})"
    return f"{name} like {sql(word.replace('_', '').replace('%', '') + '%')}"


def contains_part(random: Random, name: str, column: Column) -> str:
    """Search for a substring of three letters or more."""
    return _part(random, name, [str(one) for one in column.values])


def contains_word_part(random: Random, name: str, column: Column) -> str:
    """Search for a substring without blanks, which FM also finds at other whitespace."""
    return _part(random, name, [word for one in column.values for word in str(one).split()])


def _part(random: Random, name: str, texts: list[str]) -> str:
    word = random.choice([one for one in texts if len(one) > 2])
    start = random.randrange(len(word) - 2)
    return f"contains({name}, {sql(word[start : start + random.choice((3, 4, 9))])})"


def compare_list(random: Random, name: str, column: Column, nulls: float = 0.0) -> str:
    """Search for values in lists; the second of two values is null in a share of `nulls`."""
    items = [one for values in column.values if isinstance(values, list) for one in values]
    values = [one for one in items if one is not None]
    first, second = (column.to_sql(random.choice(values)) for _ in range(2))
    if nulls and random.random() < nulls:
        second = "null"
    searched = random.choice((f"[{first}]", f"[{first}, {second}]"))
    return random.choice(
        (
            f"array_has({name}, {first})",
            f"array_has_any({name}, {searched})",
            f"array_has_all({name}, {searched})",
        )
    )


def compare_geometry(random: Random, name: str, column: Column) -> str:
    """Compare geometries with a box."""
    if random.random() < NULL_TESTS:
        return f"{name} is null"
    names = ("st_intersects", "st_within", "st_covers", "st_contains", "st_coveredby")
    function = random.choice(names)
    box = column.to_sql((random.random(), function))
    return f"{function}({name}, st_geomfromtext({box}))"
