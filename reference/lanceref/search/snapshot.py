"""Snapshot: one version of a table opened for reading: its manifest, fragments and indices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lanceref.core.arrow_buffers import whole_rows
from lanceref.core.context import Context
from lanceref.core.errors import RowNotFound
from lanceref.core.integers import unique_inverse
from lanceref.core.limits import Budget, bound_table
from lanceref.file.arrow_schema import resolved
from lanceref.file.schema import LanceSchema
from lanceref.index.indices import Indices
from lanceref.search.projection import Projection
from lanceref.storage import Store
from lanceref.storage.manifests.manifest_names import find_version
from lanceref.table.bases import Bases
from lanceref.table.flags import STABLE_ROW_IDS
from lanceref.table.logical import BlobHandling, logical_schema
from lanceref.table.manifest import Manifest, open_manifest
from lanceref.table.rows import FragmentRows, Fragments, in_order


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
        """Return the fields of the table, blobs as `blobs` says."""
        return logical_schema(self.manifest.schema, blobs)

    @property
    def stable_row_ids(self) -> bool:
        """Whether rows keep their ids when they move."""
        return bool(self.manifest.message.reader_feature_flags & STABLE_ROW_IDS)

    def with_deleted(self) -> Snapshot:
        """Return the same table with its deleted rows among the live ones."""
        return replace(self, fragments=in_order([rows.with_deleted() for rows in self.fragments]))

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
                    made = projection.batch(rows, arrays)
                    for cut in range(0, rows, batch_size):
                        yield made.slice(cut, batch_size)

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
    fragments = in_order(
        [FragmentRows(fragment, bases, manifest_ctx, stable) for fragment in manifest.fragments]
    )
    indices = Indices(manifest, bases, manifest_ctx)
    return Snapshot(store, manifest, name.path, fragments, indices, manifest_ctx)


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
