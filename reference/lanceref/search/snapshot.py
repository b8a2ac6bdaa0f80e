"""Snapshot: one version of a table opened for reading: its manifest, fragments and indices.

A projection says which columns a result has, and how they come from what is read: table fields,
nested ones pruned to the parts asked for, and system columns. A scan returns a nested part as a
column of its own, `a.b`; a take returns it inside its struct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import RetainedBytes, whole
from lanceref.core.context import Context
from lanceref.core.errors import NotFound, RowNotFound
from lanceref.core.file_versions import V0_1
from lanceref.core.integers import unique_inverse
from lanceref.core.limits import Budget, Limits, refuse_table
from lanceref.file.schema import Field, LanceSchema
from lanceref.file.schema_view import next_name, project, resolved, resolved_batch, whole_rows
from lanceref.index.indices import Indices
from lanceref.storage import Store
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table.bases import Bases
from lanceref.table.flags import STABLE_ROW_IDS
from lanceref.table.logical import BlobHandling, logical_schema
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.table.rows import ROW_OFFSET, SYSTEM_COLUMNS, FragmentRows, Fragments, in_order
from lanceref.transactions.manifest_builder import storage_version_of

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
    requested = [field.name for field in schema.fields] if columns is None else list(columns)
    if len(set(requested)) != len(requested):
        twice = next(name for name in requested if requested.count(name) > 1)
        raise ValueError(f"Invalid user input: Duplicate column name: {twice}")
    names = [name for name in requested if name not in system] + list(system)
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
        top, rest = next_name(name, tops)
        path, leaf = _descend_to(fields[tops[top]], rest)
        origins.append((tops[top], path))
        arrow.append(leaf.with_name(name))
    return _projection(fields, chosen, origins, arrow, schema)


def take_projection(schema: LanceSchema, columns: Sequence[str] | None) -> Projection:
    """Resolve the columns of a take (None: all fields); each row has an offset. Raises NotFound."""
    names = [field.name for field in schema.fields] if columns is None else list(columns)
    projected = project(schema, [name for name in names if name not in SYSTEM_COLUMNS])
    whole_fields = {field.name: field for field in schema.fields}
    fields = tuple(_as_in_schema(field, whole_fields[field.name]) for field in projected)
    chosen = tuple(dict.fromkeys(name for name in names if name in SYSTEM_COLUMNS))
    read = [*(field.name for field in fields), *chosen]
    order = [next_name(name, read)[0] for name in names]
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
    remaining = {child.id: child for child in pruned.children}
    if not remaining or pruned.logical_type != "struct":
        return pruned
    pairs = ((remaining.get(child.id), child) for child in complete.children)
    children = tuple(_as_in_schema(one, child) for one, child in pairs if one is not None)
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
    first, rest = next_name(name, names)
    number = names.index(first)
    path, leaf = _descend_to(field.children[number], rest)
    return (number, *path), leaf.with_nullable(leaf.nullable or field.nullable)


def _descend(array: pa.Array, path: tuple[int, ...]) -> pa.Array:
    """Return a nested array; it is null where anything above it is."""
    for number in path:
        array = whole(array.flatten()[number])
    return array


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A version of the table in `store`: `manifest_path` is below its root."""

    store: Store
    manifest: Manifest
    manifest_path: str
    fragments: Fragments
    indices: Indices
    ctx: Context

    def schema(self, blobs: BlobHandling) -> LanceSchema:
        """Return the fields of the table, blobs as `blobs` says; 0.1 has bytes alone."""
        schema, message = self.manifest.schema, self.manifest.message
        described = blobs is BlobHandling.DESCRIPTIONS and any(one.is_blob for one in schema.flat())
        if described and storage_version_of(message) == V0_1:
            blobs = BlobHandling.BYTES
        return logical_schema(schema, blobs)

    @property
    def stable_row_ids(self) -> bool:
        """Whether rows keep their ids when they move."""
        return bool(self.manifest.message.reader_feature_flags & STABLE_ROW_IDS)

    def with_deleted(self) -> Snapshot:
        """Return the same table with its deleted rows among the live ones, and without indices."""
        fragments = in_order([rows.with_deleted() for rows in self.fragments])
        return replace(self, fragments=fragments, indices=self.indices.of(()))

    @property
    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema of the table's rows, blobs as descriptions."""
        return resolved(self.schema(BlobHandling.DECLARED).arrow)

    def scan(
        self,
        fragments: Sequence[FragmentRows],
        projection: Projection,
        batch_size: int,
        start: int,
        end: int,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows start..end of the fragments in their order; no batch crosses a fragment."""
        before = 0
        for fragment in fragments:
            first = min(max(start - before, 0), fragment.num_rows)
            last = min(max(end - before, 0), fragment.num_rows)
            before += fragment.num_rows
            if first < last:
                fields, system = projection.fields, projection.system
                parts = fragment.scan(fields, system, batch_size, first, last, uncut=True)
                for rows, arrays in parts:
                    batch = projection.batch(rows, arrays)
                    for cut in range(0, rows, batch_size):
                        yield batch.slice(cut, batch_size)

    def bounded(
        self,
        batches: Iterable[pa.RecordBatch],
        fragments: Sequence[FragmentRows],
        asked_bytes: int = 0,
    ) -> Iterator[pa.RecordBatch]:
        """Yield batches of fragments that are all kept. Raises LimitExceeded for too many bytes.

        `asked_bytes` is the size of what names the rows, which allows more like a file.
        """

        def read_bytes() -> int:
            sizes: dict[str, int] = {}
            for rows in fragments:
                sizes |= rows.columns.sizes
            return asked_bytes + sum(sizes.values())

        return bound_table(batches, self.ctx.limits, self.ctx.file, read_bytes)

    def take(self, positions: NDArray[np.int64], projection: Projection) -> pa.Table:
        """Return the rows at any live `positions` of the table, in the order asked for.

        `positions` (n,).
        """
        if not projection.origins:
            return pa.Table.from_batches([projection.batch(len(positions), [])])
        unique, back = unique_inverse(positions)

        def taken() -> Iterator[pa.RecordBatch]:
            for rows, chosen in self.fragments.split(unique):
                arrays = rows.take(chosen, projection.fields, projection.system)
                yield projection.batch(len(chosen), arrays)

        batches = self.bounded(taken(), self.fragments, unique.nbytes)
        table = pa.Table.from_batches(batches, schema=projection.schema)
        return table if unique is positions else whole_rows(table).take(back)


def open_snapshot(store: Store, version: int | None, ctx: Context) -> Snapshot:
    """Open a version (None: the latest). Raises NotFound, and FormatError for a broken manifest."""
    name = find_version(store, ctx, version)
    budget = Budget(ctx.limits)
    manifest_ctx = replace(ctx, file=PurePosixPath(name.path).name, budget=budget)
    manifest = open_manifest(store.open(name.path), manifest_ctx)
    bases = Bases(store, manifest)
    stable = bool(manifest.message.reader_feature_flags & STABLE_ROW_IDS)
    rows = [FragmentRows(one, bases, manifest_ctx, stable) for one in manifest.fragments]
    indices = Indices(manifest, bases, manifest_ctx)
    return Snapshot(store, manifest, name.path, in_order(rows), indices, manifest_ctx)


def positions_of(rows: Sequence[int] | pa.Array, num_rows: int) -> NDArray[np.int64]:
    """Return row numbers as an array.

    Raises TypeError for what is no integer, OverflowError below 0, RowNotFound from `num_rows`.
    int64 (n,).
    """
    if len(rows) and np.asarray(rows).dtype.kind == "f":
        raise TypeError("'float' object cannot be interpreted as an integer")
    positions = np.asarray(rows, dtype=np.uint64)
    if len(positions) and int(positions.max()) >= num_rows:
        raise RowNotFound(f"row {int(positions.max())} of {num_rows} rows")
    return positions.astype(np.int64)


def bound_table(
    batches: Iterable[pa.RecordBatch], limits: Limits, file: str, read_bytes: Callable[[], int]
) -> Iterator[pa.RecordBatch]:
    """Yield batches that are all kept. Raises LimitExceeded before they take too much memory.

    `read_bytes` gives the bytes of the files that are read so far.
    """
    retained = RetainedBytes()
    for batch in batches:
        for array in batch.columns:
            retained.add(array)
        if retained.total > limits.expansion_bytes:
            refuse_table(retained.total, read_bytes(), limits, file)
        yield batch
