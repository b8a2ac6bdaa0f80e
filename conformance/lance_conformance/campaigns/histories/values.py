"""Values: the columns that tables of a history may begin with, and rows of any schema.

A history names its rows by a schema, a seed and a number, so that a line of it stays short and
both implementations are given the same rows.
"""

from __future__ import annotations

import datetime
import json
from random import Random

import numpy as np
import pyarrow as pa
import shapely

from lance_conformance.campaigns.columns import Column, geometries, sql

COLUMNS: dict[str, pa.DataType] = {
    "k": pa.int64(),
    "s": pa.string(),
    "w": pa.large_string(),
    "i": pa.int32(),
    "f": pa.float64(),
    "b": pa.bool_(),
    "d": pa.date32(),
    "l": pa.list_(pa.int32()),
    "m": pa.list_(pa.string()),
    "n": pa.struct([("x", pa.int32()), ("y", pa.string())]),
    "v": pa.list_(pa.float32(), 8),
    "j": pa.json_(),
    "g": pa.binary(),
}
"""Columns by name, first the key; binary ones hold points."""

PLAIN, INDEXED = "sifbdvln", "swifbdlmnvjg"
"""Names of columns beside the key: usual ones, and those that indices are built over."""

POINTS = {b"ARROW:extension:name": b"geoarrow.wkb"}
"""Metadata of a field that holds geometries."""

STORAGE = ("0.1", "2.0", "2.1", "2.1", "2.2", "2.3")
"""File versions to choose from."""

KEYS = 60
"""Keys are drawn from 0 to this: rows of different steps meet."""

NULLS = 0.15
"""Share of nulls in columns that may hold them."""

WORDS = ("", "a", "b", "lance", "Ü", "x" * 40)
"""Texts to choose from."""

TOKENS = ("lance", "reads", "old", "tables", "Über", "running", "the")
"""Words of longer texts."""


def schema_text(random: Random, names: str, *, nullable: bool) -> str:
    """Return words for a schema of a key and other columns; 0.1 knows nulls of few types."""
    chosen = "".join(random.sample(names, random.randrange(1, 5)))
    return f"columns({'k' + chosen!r}{'' if nullable else ', nullable=False'})"


def columns(names: str, *, nullable: bool = True) -> pa.Schema:
    """Return the schema of columns by their names."""
    return pa.schema(
        pa.field(name, COLUMNS[name], nullable, POINTS if name == "g" else None) for name in names
    )


def rows(schema: pa.Schema, seed: int, count: int, *, repeated: bool = False) -> pa.Table:
    """Return `count` rows; the first column of int64 is a key, unique unless `repeated`."""
    random, held, keyed = Random(seed), list[pa.Array](), False
    for field in schema:
        if not keyed and pa.types.is_int64(field.type):
            draw = random.choices if repeated else random.sample
            held.append(pa.array(draw(range(max(KEYS, count)), k=count), field.type))
            keyed = True
            continue
        items = [value(field.type, random) for _ in range(count)]
        if field.nullable:
            items = [None if random.random() < NULLS else item for item in items]
        held.append(pa.array(items, field.type))
    return pa.table(held, schema=schema)


def value(kind: pa.DataType, random: Random) -> object:
    """Return a value of a column that is not null."""
    types = pa.types
    if types.is_struct(kind):
        return {field.name: value(field.type, random) for field in kind}
    if types.is_list(kind) or types.is_fixed_size_list(kind):
        size = random.randrange(4) if types.is_list(kind) else kind.list_size
        return [value(kind.value_type, random) for _ in range(size)]
    if types.is_boolean(kind):
        return random.random() < 0.5
    if kind == pa.json_():
        return json.dumps({"a": random.randrange(KEYS), "b": random.choice(WORDS)})
    if types.is_integer(kind):
        return random.randrange(100)
    if types.is_floating(kind):
        return random.randrange(100) / 4
    if types.is_large_string(kind):
        return " ".join(random.choices(TOKENS, k=random.randrange(6)))
    if types.is_string(kind):
        return random.choice(WORDS)
    if types.is_binary(kind):
        return shapely.to_wkb(shapely.Point(random.randrange(20), random.randrange(20) / 2))
    return datetime.date(1970, 1, 1) + datetime.timedelta(random.randrange(10_000))


def column(kind: pa.DataType) -> Column:
    """Return values that conditions on a column are drawn from, of documents those of `a`."""
    if pa.types.is_binary(kind):
        return geometries("geoarrow.wkb")
    if kind == pa.json_():
        return column(pa.int64())
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    drawn = (*WORDS, *TOKENS) if texts else [value(kind, Random(seed)) for seed in range(60)]
    return Column(kind, drawn, sql)


def points(*shape: int) -> np.ndarray:
    """Return vectors, the same each time."""
    return np.random.default_rng(0).integers(0, 100, shape).astype(np.float32) / np.float32(4)
