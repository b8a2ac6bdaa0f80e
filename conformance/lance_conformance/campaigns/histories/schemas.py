"""Schemas: the columns that tables of a history may begin with."""

from __future__ import annotations

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
