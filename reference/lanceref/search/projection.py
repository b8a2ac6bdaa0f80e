"""Projection: the columns of a result, how they come from what is read, and their order.

Read are table fields, nested ones pruned to the parts asked for, and system columns. A scan returns
a nested part as a column of its own, `a.b`; a take returns it inside its struct. In an ordered
result rows with the same values keep their order; nulls come last unless asked otherwise, whatever
the direction. Floats have their total order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import whole
from lanceref.core.comparison import total_order
from lanceref.core.compute import pc
from lanceref.core.errors import NotFound
from lanceref.file.arrow_schema import resolved, resolved_batch
from lanceref.file.schema import Field, LanceSchema, project, split_path
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


@dataclass(frozen=True, slots=True)
class ColumnOrdering:
    """A column to order by, its direction, and where nulls go."""

    column_name: str
    ascending: bool = True
    nulls_first: bool = False


def sort_order(keys: Sequence[pa.Array], orderings: Sequence[ColumnOrdering]) -> NDArray[np.int64]:
    """Return the row numbers in the order of the keys, one for each ordering, the first first.

    The result is (rows,).
    """
    order = np.arange(len(keys[0]) if keys else 0)
    for key, one in reversed(list(zip(keys, orderings, strict=True))):
        values = key.storage if isinstance(key, pa.ExtensionArray) else key
        if isinstance(values, pa.DictionaryArray):
            values = values.dictionary_decode()
        values = total_order(values) if pa.types.is_floating(values.type) else values
        values = values.take(pa.array(order))
        null = values.is_null().to_numpy(zero_copy_only=False)
        valid, missing = np.flatnonzero(~null), np.flatnonzero(null)
        direction = "ascending" if one.ascending else "descending"
        table = pa.table({"key": values.take(pa.array(valid))})
        ranked = valid[pc.sort_indices(table, sort_keys=[("key", direction)]).to_numpy()]
        ends = (missing, ranked) if one.nulls_first else (ranked, missing)
        order = order[np.concatenate(ends)]
    return order


def resize_batches(
    batches: Iterable[pa.RecordBatch], rows: int, size_bytes: int | None, *, strict: bool
) -> Iterator[pa.RecordBatch]:
    """Yield batches of about `size_bytes`, or when `strict` of exactly `rows` but for the last."""
    if not strict:
        if not size_bytes:
            yield from batches
            return
        for batch in batches:
            step = max(1, batch.num_rows)
            if batch.nbytes > size_bytes:
                step = max(1, batch.num_rows * size_bytes // batch.nbytes)
            for start in range(0, max(1, batch.num_rows), step):
                yield batch.slice(start, step)
        return
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        while sum(one.num_rows for one in held) >= rows:
            table = pa.Table.from_batches(held)
            yield table.slice(0, rows).combine_chunks().to_batches()[0]
            held = table.slice(rows).to_batches()
    if any(one.num_rows for one in held):
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()
