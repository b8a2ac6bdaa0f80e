"""Subjects: each type of index with each type of values it is for, and random conditions on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from random import Random

import pyarrow as pa

from lance_conformance.campaigns.queries.answers.columns import (
    ORDERED,
    Column,
    documents,
    geometries,
    lists,
    quoted,
)

Leaf = Callable[[Random, str, Column], str]
"""Draws one comparison with a column that SQL calls by a name."""


def conditions(leaf: Leaf, name: str, column: Column, seed: str, *, denied: bool) -> Iterator[str]:
    """Yield conditions without end, no two alike: comparisons, some `denied`, some joined.

    None that is joined is denied: the oracle makes the opposite of two lists that have nothing in
    common true of null (D.query.not-in-or-zero).
    """
    random, known = Random(seed), set[str]()

    def joined(depth: int) -> str:
        if depth and random.random() < 0.4:
            return f"({joined(depth - 1)} {random.choice(('and', 'or'))} {joined(depth - 1)})"
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


def compared(random: Random, name: str, column: Column) -> str:
    """Compare with one value, a range, or some."""
    if random.random() < 0.06:
        return f"{name} is {random.choice(('', 'not '))}null"
    first, second, third = (column.written(random.choice(column.values)) for _ in range(3))
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
    if random.random() < 0.06:
        return f"{name} is null"
    values = [column.written(random.choice(column.values)) for _ in range(3)]
    return f"{name} = {values[0]}" if random.random() < 0.6 else f"{name} in ({', '.join(values)})"


def begun(random: Random, name: str, column: Column) -> str:
    """Compare texts, also by how they begin."""
    if random.random() < 0.7:
        return compared(random, name, column)
    words = [str(one) for one in column.values if str(one)[:1].isalnum()]
    word = random.choice(words)[: random.randrange(1, 5)]
    if random.random() < 0.5:
        return f"starts_with({name}, {quoted(word)})"
    return f"{name} like {quoted(word.replace('_', '').replace('%', '') + '%')}"


def contained(random: Random, name: str, column: Column) -> str:
    """Look for a part of a text, of three letters or more."""
    return _part(random, name, [str(one) for one in column.values])


def spelled(random: Random, name: str, column: Column) -> str:
    """Look for a part of a word: a blank in what is looked for is found where others are, too."""
    return _part(random, name, [word for one in column.values for word in str(one).split()])


def _part(random: Random, name: str, texts: list[str]) -> str:
    word = random.choice([one for one in texts if len(one) > 2])
    start = random.randrange(len(word) - 2)
    return f"contains({name}, {quoted(word[start : start + random.choice((3, 4, 9))])})"


def labelled(random: Random, name: str, column: Column) -> str:
    """Look for values in lists."""
    held = [one for values in column.values if isinstance(values, list) for one in values]
    some = [one for one in held if one is not None]
    first, second = (column.written(random.choice(some)) for _ in range(2))
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
    if random.random() < 0.06:
        return f"{name} is null"
    how = random.choice(("st_intersects", "st_within", "st_covers", "st_contains", "st_coveredby"))
    box = column.written((random.random(), how))
    return f"{how}({name}, st_geomfromtext({box}))"


TEXTS = ("utf8", "large_utf8")
OCTETS = ("binary", "large_binary")


THEIRS, OURS = "theirs", "ours"
"""Names of the table that the oracle gave its index, and of the other."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An index over a column; `exact` where it alone says which rows are wanted.

    `kind` and `parameters` are those of `IndexConfig`; `asked` is what SQL calls the column;
    `divergence` names what makes the oracle lose rows by its own index.
    """

    name: str
    column: Column
    kind: str
    leaf: Leaf
    exact: bool = False
    denied: bool = False
    parameters: Mapping[str, object] = field(default_factory=dict)
    asked: str = "c"
    divergence: str = ""

    @property
    def run(self) -> int:
        """How many times as long runs of equal values are: a part of the rows is less than all."""
        return 1 if self.exact else RUN

    @property
    def rows(self) -> int:
        """Rows of a table."""
        return 400 if self.exact else 6000


RUN = 100
"""Equal values side by side where an index only tells where to look: not every zone has all."""


def subjects() -> Iterator[Subject]:
    """Yield every subject."""
    for name, column in ORDERED.items():
        leaf = begun if name in TEXTS else compared
        yield Subject(f"btree-{name}", column, "btree", leaf, True, True)
        yield Subject(f"btree-pages-{name}", column, "btree", leaf, True, True, {"zone_size": 16})
        yield Subject(f"bitmap-{name}", column, "bitmap", compared, True, True)
        zones: dict[str, object] = {"rows_per_zone": 64}
        lost = "D.index.zonemap-only-nan" if pa.types.is_floating(column.type) else ""
        yield Subject(f"zonemap-{name}", column, "zonemap", leaf, parameters=zones, divergence=lost)
        if _hashed(column.type):
            zones = {"number_of_items": 64, "probability": 0.01}
            yield Subject(f"bloomfilter-{name}", column, "bloomfilter", equalled, parameters=zones)
        if not pa.types.is_floating(column.type) and not pa.types.is_decimal(column.type):
            held = lists(column)
            yield Subject(f"label-list-{name}", held, "labellist", labelled, True, True)
            held = lists(column, large=True)
            yield Subject(f"label-list-large-{name}", held, "labellist", labelled, True, True)
    for name in TEXTS:
        yield Subject(f"ngram-{name}", ORDERED[name], "ngram", contained)
    for name in TEXTS:
        yield Subject(f"fm-{name}", ORDERED[name], "fm", spelled, True)
    for name in ("int", "float", "string", "bool"):
        yield from _of_documents(name)
    for name in ("point", "linestring", "polygon", "box", "wkb", "wkt"):
        yield Subject(f"rtree-{name}", geometries(f"geoarrow.{name}"), "rtree", placed)


def named(name: str) -> Subject:
    """Return a subject by its name."""
    return {one.name: one for one in subjects()}[name]


def _hashed(type_: pa.DataType) -> bool:
    """Return whether a Bloom filter takes values of a type."""
    return not (pa.types.is_boolean(type_) or pa.types.is_decimal(type_))


def _of_documents(name: str) -> Iterator[Subject]:
    """Yield indices over a member of documents."""
    column, asked = documents(name), f"json_get_{name}(c, 'a')"
    for kind, leaf, exact in (
        ("btree", compared, True),
        ("bitmap", compared, True),
        ("zonemap", compared, False),
        ("bloomfilter", equalled, False),
    ):
        if kind == "bloomfilter" and name == "bool":
            continue
        given = {"target_index_type": kind.upper(), "path": "a"}
        yield Subject(f"json-{kind}-{name}", column, "json", leaf, exact, exact, given, asked)
