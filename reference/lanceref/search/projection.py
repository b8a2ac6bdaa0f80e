"""Projection: the columns of a result, and how they come from what is read.

Read are table fields, nested ones pruned to the parts asked for, and system columns. A scan returns
a nested part as a column of its own, `a.b`; a take returns it inside its struct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from lanceref.core.arrow_buffers import whole
from lanceref.core.errors import NotFound
from lanceref.file.arrow_schema import project, resolved, resolved_batch, split_path
from lanceref.file.schema import Field, LanceSchema
from lanceref.table.rows import ROW_OFFSET, SYSTEM_COLUMNS

Origin = tuple[int, tuple[int, ...]]
"""Where a column of the result comes from: an array that is read, and a path of children."""


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
        columns = [_descend(arrays[number], path) for number, path in self.origins]
        stored = pa.RecordBatch.from_arrays(columns, schema=self.storage)
        return stored if self.schema.equals(self.storage) else resolved_batch(stored)


def scan_projection(
    schema: LanceSchema, columns: Sequence[str] | None, system: Sequence[str] = ()
) -> Projection:
    """Resolve the columns of a scan (None: all fields); `system` columns come last.

    Raises NotFound for an unknown name and ValueError for one that is given twice.
    """
    asked = [field.name for field in schema.fields] if columns is None else list(columns)
    if len(set(asked)) != len(asked):
        twice = next(name for name in asked if asked.count(name) > 1)
        raise ValueError(f"Invalid user input: Duplicate column name: {twice}")
    names = [name for name in asked if name not in system] + list(system)
    fields = project(schema, [name for name in names if name not in SYSTEM_COLUMNS])
    chosen = tuple(name for name in names if name in SYSTEM_COLUMNS)
    tops = {field.name: number for number, field in enumerate(fields)}
    origins: list[Origin] = []
    arrow = []
    for name in names:
        if name in SYSTEM_COLUMNS:
            origins.append((len(fields) + chosen.index(name), ()))
            arrow.append(pa.field(name, pa.uint64()))
            continue
        top, rest = (name, "") if name in tops else split_path(name)
        path, leaf = _descend_to(fields[tops[top]], rest)
        origins.append((tops[top], path))
        arrow.append(leaf.with_name(name))
    return _projection(fields, chosen, origins, arrow, schema)


def take_projection(schema: LanceSchema, columns: Sequence[str] | None) -> Projection:
    """Resolve the columns of a take (None: all fields); each row has an offset. Raises NotFound."""
    names = [field.name for field in schema.fields] if columns is None else list(columns)
    asked = project(schema, [name for name in names if name not in SYSTEM_COLUMNS])
    whole_fields = {field.name: field for field in schema.fields}
    fields = tuple(_as_in_schema(field, whole_fields[field.name]) for field in asked)
    chosen = tuple(dict.fromkeys(name for name in names if name in SYSTEM_COLUMNS))
    read = [*(field.name for field in fields), *chosen]
    order = [name if name in read else split_path(name)[0] for name in names]
    pairs = list(enumerate(order))  # only system columns may repeat
    order = [name for at, name in pairs if name in chosen or order.index(name) == at]
    arrow = [field.arrow for field in fields]
    arrow += [pa.field(name, pa.uint64(), nullable=name != ROW_OFFSET) for name in chosen]
    numbers = [read.index(name) for name in order]
    origins: list[Origin] = [(number, ()) for number in numbers]
    return _projection(fields, chosen, origins, [arrow[number] for number in numbers], schema)


def _projection(
    fields: tuple[Field, ...],
    system: tuple[str, ...],
    origins: Sequence[Origin],
    arrow: Sequence[pa.Field],
    schema: LanceSchema,
) -> Projection:
    storage = pa.schema(arrow, schema.metadata or None)
    return Projection(fields, system, tuple(origins), storage, resolved(storage))


def _as_in_schema(pruned: Field, complete: Field) -> Field:
    """Put the nested fields that are left into the order of the schema."""
    left = {child.id: child for child in pruned.children}
    if not left or pruned.logical_type != "struct":
        return pruned
    children = tuple(
        _as_in_schema(left[child.id], child) for child in complete.children if child.id in left
    )
    arrow = pruned.arrow.with_type(pa.struct([child.arrow for child in children]))
    return replace(pruned, children=children, arrow=arrow)


def _descend_to(field: Field, name: str) -> tuple[tuple[int, ...], pa.Field]:
    """Return the child indices that lead to `name` below `field`, and its Arrow field.

    The field is nullable where anything above it is. Raises NotFound for a part of a list.
    """
    if not name:
        return (), field.arrow
    if field.logical_type != "struct":
        raise NotFound(f"{field.name!r} is a {field.logical_type} and has no field {name!r}")
    names = [child.name for child in field.children]
    first, rest = (name, "") if name in names else split_path(name)
    number = names.index(first)
    path, leaf = _descend_to(field.children[number], rest)
    return (number, *path), leaf.with_nullable(leaf.nullable or field.nullable)


def _descend(array: pa.Array, path: tuple[int, ...]) -> pa.Array:
    """Return a nested array; it is null where anything above it is."""
    for number in path:
        array = whole(array.flatten()[number])
    return array
