"""Snapshot: one version of a table, opened for reading.

Ties together what the table format parsed: the manifest, the bases its files lie below, and the
live rows of each fragment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.context import Context
from lanceref.file.schema import Field, project
from lanceref.storage import Store
from lanceref.table.bases import Bases
from lanceref.table.flags import STABLE_ROW_IDS
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.table.naming import find_version
from lanceref.table.rows import SYSTEM_COLUMNS, FragmentRows


@dataclass(frozen=True)
class Snapshot:
    """A version of the table in `store`; `manifest_path` is below its root."""

    store: Store
    manifest: Manifest
    manifest_path: str
    ctx: Context

    @cached_property
    def fragments(self) -> tuple[FragmentRows, ...]:
        """The live rows of every fragment, in the order of the manifest."""
        bases = Bases(self.store, self.manifest.message)
        stable = bool(self.manifest.message.reader_feature_flags & STABLE_ROW_IDS)
        return tuple(
            FragmentRows(fragment, bases, self.ctx, stable) for fragment in self.manifest.fragments
        )

    def take(self, offsets: NDArray[np.int64], projection: Projection) -> pa.Table:
        """Return the rows at any live `offsets` of the table, in the order asked for."""
        unique, back = np.unique(offsets, return_inverse=True)
        ends = np.cumsum([fragment.num_rows for fragment in self.fragments], dtype=np.int64)
        parts = []
        for number, owner in enumerate(self.fragments):
            start = int(ends[number]) - owner.num_rows
            first, last = np.searchsorted(unique, [start, int(ends[number])])
            if last > first:
                physical = owner.physical(unique[first:last] - start)
                arrays = owner.take(physical, projection.fields, projection.system)
                parts.append(
                    pa.Table.from_arrays(projection.arrange(arrays), schema=projection.schema)
                )
        if not parts:
            return projection.schema.empty_table()
        table = pa.concat_tables(parts)
        return table if np.array_equal(unique, offsets) else table.take(back)


@dataclass(frozen=True, slots=True)
class Projection:
    """What a scan returns: table fields and system columns, and the order of both."""

    fields: tuple[Field, ...]
    system: tuple[str, ...]
    order: tuple[str, ...]
    schema: pa.Schema

    def arrange(self, arrays: list[pa.Array]) -> list[pa.Array]:
        """Put arrays (fields, then system columns) into the order asked for."""
        names = [*(field.name for field in self.fields), *self.system]
        return [arrays[names.index(name)] for name in self.order]


def open_snapshot(store: Store, version: int | None, ctx: Context) -> Snapshot:
    """Open a version (None: the latest). Raises NotFound, and FormatError for a broken manifest."""
    name = find_version(store, ctx, version)
    manifest_ctx = replace(ctx, file=PurePosixPath(name.path).name)
    manifest = open_manifest(store.open(name.path), manifest_ctx)
    return Snapshot(store, manifest, name.path, manifest_ctx)


def projection_of(
    manifest: Manifest, columns: Sequence[str] | None, system: Sequence[str] = ()
) -> Projection:
    """Resolve column names (None: all fields) and wanted system columns. Raises NotFound."""
    schema = manifest.schema
    names = [field.name for field in schema.fields] if columns is None else list(columns)
    fields = project(schema, [name for name in names if name not in SYSTEM_COLUMNS])
    chosen = tuple(dict.fromkeys([*(n for n in names if n in SYSTEM_COLUMNS), *system]))
    tops = [name.partition(".")[0] if name not in SYSTEM_COLUMNS else name for name in names]
    known = {field.name for field in fields} | set(chosen)
    order = [name if name in known else top for name, top in zip(names, tops, strict=True)]
    order = list(dict.fromkeys([*order, *chosen]))
    arrow = {field.name: field.arrow for field in fields}
    arrow |= {name: pa.field(name, pa.uint64()) for name in chosen}
    return Projection(
        fields, chosen, tuple(order), pa.schema([arrow[n] for n in order], schema.metadata or None)
    )
