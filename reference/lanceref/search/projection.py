"""Projection: which columns a scan or a take returns, and how they come from what is read.

Read are table fields, nested ones pruned to the parts asked for, and system columns. A scan returns
a nested part as a column of its own, `a.b`; a take returns it inside its struct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from lanceref.core.errors import NotFound
from lanceref.core.logical_types import resolved, resolved_batch
from lanceref.core.nesting import whole
from lanceref.file.schema import Field, LanceSchema, project, split_path
from lanceref.table.rows import ROW_OFFSET, SYSTEM_COLUMNS


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a column of the result comes from: an array that is read, and a path of children."""

    array: int
    path: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Projection:
    """What is read (fields, then system columns), and for each column of the result its origin.

    `schema` has the extension types of the result, `storage` what they are stored as.
    """

    fields: tuple[Field, ...]
    system: tuple[str, ...]
    origins: tuple[Origin, ...]
    storage: pa.Schema
    schema: pa.Schema

    def batch(self, rows: int, arrays: Sequence[pa.Array]) -> pa.RecordBatch:
        """Put the arrays that were read for `rows` rows together as asked for."""
        if not self.origins:  # only so a batch without columns has rows
            counted = pa.RecordBatch.from_arrays([pa.nulls(rows)], names=["rows"])
            return counted.select([]).replace_schema_metadata(self.schema.metadata)
        columns = [_descend(arrays[origin.array], origin.path) for origin in self.origins]
        stored = pa.RecordBatch.from_arrays(columns, schema=self.storage)
        return stored if self.schema.equals(self.storage) else resolved_batch(stored)


def scan_projection(
    schema: LanceSchema, columns: Sequence[str] | None, system: Sequence[str] = ()
) -> Projection:
    """Resolve the columns of a scan (None: all fields); `system` columns come last.

    Raises NotFound for an unknown name and ValueError for one that is given twice.
    """
    asked = _names(schema, columns)
    if len(set(asked)) != len(asked):
        twice = next(name for name in asked if asked.count(name) > 1)
        raise ValueError(f"Invalid user input: Duplicate column name: {twice}")
    names = [name for name in asked if name not in system] + list(system)
    fields = project(schema, [name for name in names if name not in SYSTEM_COLUMNS])
    chosen = tuple(name for name in names if name in SYSTEM_COLUMNS)
    tops = {field.name: number for number, field in enumerate(fields)}
    origins, arrow = [], []
    for name in names:
        if name in SYSTEM_COLUMNS:
            origins.append(Origin(len(fields) + chosen.index(name)))
            arrow.append(pa.field(name, pa.uint64()))
        elif name in tops:
            origins.append(Origin(tops[name]))
            arrow.append(fields[tops[name]].arrow)
        else:
            top, rest = split_path(name)
            path, leaf = _path(fields[tops[top]], rest) if rest else ((), fields[tops[top]].arrow)
            origins.append(Origin(tops[top], path))
            arrow.append(leaf.with_name(name))
    storage = pa.schema(arrow, schema.metadata or None)
    return Projection(fields, chosen, tuple(origins), storage, resolved(storage))


def take_projection(schema: LanceSchema, columns: Sequence[str] | None) -> Projection:
    """Resolve the columns of a take (None: all fields); each row has an offset. Raises NotFound."""
    names = _names(schema, columns)
    asked = project(schema, [name for name in names if name not in SYSTEM_COLUMNS])
    whole_fields = {field.name: field for field in schema.fields}
    fields = tuple(_as_in_schema(field, whole_fields[field.name]) for field in asked)
    tops = [field.name for field in fields]
    chosen = tuple(dict.fromkeys(name for name in names if name in SYSTEM_COLUMNS))
    known = {*tops, *chosen}
    order = [name if name in known else split_path(name)[0] for name in names]
    first = {name: number for number, name in reversed(list(enumerate(order)))}
    order = [name for number, name in enumerate(order) if name in chosen or first[name] == number]
    read = [*tops, *chosen]
    found = (pa.field(name, pa.uint64(), nullable=name != ROW_OFFSET) for name in chosen)
    arrow = [*(field.arrow for field in fields), *found]
    origins = tuple(Origin(read.index(name)) for name in order)
    ordered = pa.schema([arrow[origin.array] for origin in origins], schema.metadata or None)
    return Projection(fields, chosen, origins, ordered, resolved(ordered))


def _as_in_schema(pruned: Field, complete: Field) -> Field:
    """Put the nested fields that are left into the order of the schema."""
    left = {child.id: child for child in pruned.children}
    if not left:
        return pruned
    children = tuple(
        _as_in_schema(left[child.id], child) for child in complete.children if child.id in left
    )
    if pruned.logical_type != "struct":
        return pruned
    arrow = pruned.arrow.with_type(pa.struct([child.arrow for child in children]))
    return replace(pruned, children=children, arrow=arrow)


def _names(schema: LanceSchema, columns: Sequence[str] | None) -> list[str]:
    return [field.name for field in schema.fields] if columns is None else list(columns)


def _path(field: Field, name: str) -> tuple[tuple[int, ...], pa.Field]:
    """Return the child indices that lead to `name` below `field`, and its Arrow field.

    The field is nullable where anything above it is. Raises NotFound for a part of a list.
    """
    names = [child.name for child in field.children]
    if field.logical_type != "struct":
        raise NotFound(f"{field.name!r} is a {field.logical_type} and has no field {name!r}")
    first, rest = (name, "") if name in names else split_path(name)
    child, number = field.children[names.index(first)], names.index(first)
    path, leaf = _path(child, rest) if rest else ((), child.arrow)
    return (number, *path), leaf.with_nullable(leaf.nullable or field.nullable)


def _descend(array: pa.Array, path: tuple[int, ...]) -> pa.Array:
    """Return a nested array; it is null where anything above it is."""
    for number in path:
        array = whole(array.flatten()[number])
    return array
