"""Values: the columns that tables of a history may begin with, and rows of any schema.

A history names its rows by a schema, a seed and a number, so that a line of it stays short and
both implementations are given the same rows.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from random import Random

import pyarrow as pa

Columns = tuple[tuple[str, pa.DataType], ...]

COLUMNS: Columns = (
    ("s", pa.string()),
    ("i", pa.int32()),
    ("f", pa.float64()),
    ("b", pa.bool_()),
    ("d", pa.date32()),
    ("v", pa.list_(pa.float32(), 4)),
    ("l", pa.list_(pa.int32())),
    ("n", pa.struct([("x", pa.int32()), ("y", pa.string())])),
)
"""Columns beside the key."""

INDEXED_COLUMNS: Columns = (
    ("s", pa.string()),
    ("w", pa.large_string()),
    ("i", pa.int32()),
    ("f", pa.float64()),
    ("b", pa.bool_()),
    ("d", pa.date32()),
    ("l", pa.list_(pa.int32())),
    ("m", pa.list_(pa.string())),
    ("n", pa.struct([("x", pa.int32()), ("y", pa.string())])),
    ("v", pa.list_(pa.float32(), 8)),
    ("j", pa.json_()),
    ("g", pa.binary()),
)
"""Columns that indices are built over; binary ones hold points."""

POINTS = {b"ARROW:extension:name": b"geoarrow.wkb"}
"""Metadata of a field that holds geometries."""

STORAGE = ("0.1", "2.0", "2.1", "2.1", "2.2", "2.3")
"""File versions to choose from."""


def schema_text(random: Random, *, nullable: bool, columns: Columns = COLUMNS) -> str:
    """Return words for a schema of a key and other columns; 0.1 knows nulls of few types."""
    chosen = [("k", pa.int64()), *random.sample(columns, random.randrange(1, 5))]
    fields = ", ".join(_field_text(name, kind, nullable=nullable) for name, kind in chosen)
    return f"pa.schema([{fields}])"


def _field_text(name: str, kind: pa.DataType, *, nullable: bool) -> str:
    end = "" if nullable else ", False"
    if pa.types.is_binary(kind):
        end += f", metadata={POINTS!r}"
    return f"pa.field({name!r}, {_type_text(kind)}{end})"


def _type_text(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return f"pa.struct([{', '.join(f'({f.name!r}, {_type_text(f.type)})' for f in kind)}])"
    if pa.types.is_fixed_size_list(kind):
        return f"pa.list_({_type_text(kind.value_type)}, {kind.list_size})"
    if pa.types.is_list(kind):
        return f"pa.list_({_type_text(kind.value_type)})"
    if kind == pa.json_():
        return "pa.json_()"
    names = {"double": "float64", "float": "float32", "bool": "bool_"}
    text = str(kind).partition("[")[0]
    return f"pa.{names.get(text, text)}()"


KEYS = 60
"""Keys are drawn from 0 to this: rows of different steps meet."""

NULLS = 0.15
"""Share of nulls in columns that may hold them."""

WORDS = ("", "a", "b", "lance", "Ü", "x" * 40)
"""Texts to choose from."""

TOKENS = ("lance", "reads", "old", "tables", "Über", "running", "the")
"""Words of longer texts."""


def rows(schema: pa.Schema, seed: int, count: int, *, repeated: bool = False) -> pa.Table:
    """Return `count` rows; the first column of int64 is a key, unique unless `repeated`."""
    random, columns, keyed = Random(seed), [], False
    for field in schema:
        if not keyed and pa.types.is_int64(field.type):
            columns.append(pa.array(_keys(random, count, repeated=repeated), field.type))
            keyed = True
        else:
            columns.append(_column(field, random, count))
    return pa.table(columns, schema=schema)


def _keys(random: Random, count: int, *, repeated: bool) -> list[int]:
    if repeated:
        return random.choices(range(KEYS), k=count)
    return random.sample(range(max(KEYS, count)), count)


def _column(field: pa.Field, random: Random, count: int) -> pa.Array:
    draw = _point if _holds_points(field) else _value
    items = [draw(field.type, random) for _ in range(count)]
    if field.nullable:
        items = [None if random.random() < NULLS else item for item in items]
    return pa.array(items, field.type)


def _holds_points(field: pa.Field) -> bool:
    return bool(field.metadata) and POINTS.items() <= field.metadata.items()


def _point(kind: pa.DataType, random: Random) -> bytes:
    """Return a point in well-known bytes."""
    return struct.pack("<BIdd", 1, 1, random.randrange(20), random.randrange(20) / 2)


def _value(kind: pa.DataType, random: Random) -> object:
    """Return a value that is not null."""
    if pa.types.is_boolean(kind):
        return random.random() < 0.5
    if kind == pa.json_():
        return json.dumps({"a": random.randrange(KEYS), "b": random.choice(WORDS)})
    if pa.types.is_integer(kind):
        return random.randrange(100)
    if pa.types.is_floating(kind):
        return random.randrange(100) / 4
    if pa.types.is_large_string(kind):
        return " ".join(random.choices(TOKENS, k=random.randrange(6)))
    if pa.types.is_string(kind):
        return random.choice(WORDS)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return random.choice(WORDS).encode()
    if pa.types.is_struct(kind):
        return {field.name: _value(field.type, random) for field in kind}
    if pa.types.is_fixed_size_list(kind):
        return _items(kind.value_type, random, kind.list_size)
    if pa.types.is_list(kind):
        return _items(kind.value_type, random, random.randrange(4))
    return random.randrange(10_000)


def _items(kind: pa.DataType, random: Random, count: int) -> Sequence[object]:
    return [_value(kind, random) for _ in range(count)]
