"""Dataset: a table by its URI (face).

Has the names, arguments and defaults of pylance's `lance.dataset` and `LanceDataset`, as far as
they read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from lanceref.context import Context
from lanceref.errors import NotFound
from lanceref.file.schema import LanceSchema
from lanceref.fragment import LanceFragment
from lanceref.limits import DEFAULT_LIMITS, Limits
from lanceref.scanner import LanceScanner
from lanceref.snapshot import Snapshot, open_snapshot, projection_of
from lanceref.storage import IOStats, Store, open_store
from lanceref.table.manifest import open_manifest
from lanceref.table.naming import list_versions
from lanceref.table.refs import Ref, list_branches, list_tags
from lanceref.table.rows import ROW_ADDRESS, ROW_ID


def dataset(
    uri: str | os.PathLike[str],
    version: int | str | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> LanceDataset:
    """Open a table: its latest version, a version by number, or one by tag.

    Raises NotFound (a ValueError) when there is no table or no such version or tag, and a
    `LanceError` when the manifest is broken.
    """
    store = open_store(uri)
    ctx = Context(Path(store.root).name, limits=limits)
    number = _tagged(store, ctx, version) if isinstance(version, str) else version
    return LanceDataset(os.fspath(uri), open_snapshot(store, number, ctx))


def _tagged(store: Store, ctx: Context, tag: str) -> int:
    tags = list_tags(store, ctx)
    if tag not in tags:
        raise NotFound(f"Dataset at path {store.root}: no tag {tag!r}")
    version = tags[tag]["version"]
    assert isinstance(version, int)
    return version


class Tags:
    """The tags of a dataset."""

    def __init__(self, store: Store, ctx: Context) -> None:
        self._store, self._ctx = store, ctx

    def list(self) -> dict[str, Ref]:
        """Return every tag by name."""
        return list_tags(self._store, self._ctx)

    def get_version(self, tag: str) -> int:
        """Return the version a tag names. Raises NotFound."""
        return _tagged(self._store, self._ctx, tag)


class Branches:
    """The branches of a dataset."""

    def __init__(self, store: Store, ctx: Context) -> None:
        self._store, self._ctx = store, ctx

    def list(self) -> dict[str, Ref]:
        """Return every branch by name."""
        return list_branches(self._store, self._ctx)


class LanceDataset:
    """One version of a table."""

    def __init__(self, uri: str, snapshot: Snapshot) -> None:
        self.uri = uri
        self._snapshot = snapshot

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the table."""
        return self._snapshot.manifest.schema.arrow

    @property
    def lance_schema(self) -> LanceSchema:
        """Schema of the table with field ids."""
        return self._snapshot.manifest.schema

    @property
    def version(self) -> int:
        """The version that is open."""
        return self._snapshot.manifest.version

    @property
    def latest_version(self) -> int:
        """The latest version there is now."""
        return list_versions(self._snapshot.store, self._snapshot.ctx)[-1].version

    @property
    def data_storage_version(self) -> str:
        """Name of the data storage version."""
        return self._snapshot.manifest.storage_version

    @property
    def tags(self) -> Tags:
        """The tags."""
        return Tags(self._snapshot.store, self._snapshot.ctx)

    @property
    def branches(self) -> Branches:
        """The branches."""
        return Branches(self._snapshot.store, self._snapshot.ctx)

    def versions(self) -> list[dict[str, object]]:
        """Return every version: number, timestamp (UTC, naive) and metadata, oldest first."""
        found: list[dict[str, object]] = []
        for name in list_versions(self._snapshot.store, self._snapshot.ctx):
            source = self._snapshot.store.open(name.path)
            message = open_manifest(source, Context(name.name)).message
            moment = datetime.fromtimestamp(message.timestamp.seconds, UTC).replace(tzinfo=None)
            moment = moment.replace(microsecond=message.timestamp.nanos // 1000)
            found.append({"version": message.version, "timestamp": moment, "metadata": {}})
        return found

    def checkout_version(self, version: int | str) -> LanceDataset:
        """Return another version of the table. Raises NotFound."""
        return dataset(self.uri, version, limits=self._snapshot.ctx.limits)

    def get_fragments(self) -> list[LanceFragment]:
        """Return every fragment."""
        return [LanceFragment(self._snapshot, rows) for rows in self._snapshot.fragments]

    def get_fragment(self, fragment_id: int) -> LanceFragment | None:
        """Return a fragment by id, None when there is none."""
        for fragment in self.get_fragments():
            if fragment.fragment_id == fragment_id:
                return fragment
        return None

    @property
    def fragments(self) -> list[LanceFragment]:
        """Every fragment."""
        return self.get_fragments()

    def count_rows(self) -> int:
        """Return the rows that are not deleted, without reading a data file."""
        return sum(rows.num_rows for rows in self._snapshot.fragments)

    def scanner(
        self,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        fragments: Iterable[LanceFragment] | None = None,
        *,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
    ) -> LanceScanner:
        """Describe a scan. Raises NotFound for an unknown column, ValueError for a bad number."""
        wanted = ((with_row_id, ROW_ID), (with_row_address, ROW_ADDRESS))
        projection = projection_of(
            self._snapshot.manifest, columns, [name for on, name in wanted if on]
        )
        rows = list(self._snapshot.fragments)
        if fragments is not None:
            by_id = {one.fragment.id: one for one in rows}
            rows = [by_id[fragment.fragment_id] for fragment in fragments]
        return LanceScanner(self._snapshot, rows, projection, batch_size, limit, offset)

    def to_table(
        self,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        *,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
    ) -> pa.Table:
        """Return the rows as a table."""
        return self.scanner(
            columns,
            limit,
            offset,
            batch_size,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
        ).to_table()

    def to_batches(
        self,
        columns: Sequence[str] | None = None,
        limit: int | None = None,
        offset: int | None = None,
        batch_size: int | None = None,
        *,
        with_row_id: bool | None = None,
        with_row_address: bool | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows in batches."""
        return self.scanner(
            columns,
            limit,
            offset,
            batch_size,
            with_row_id=with_row_id,
            with_row_address=with_row_address,
        ).to_batches()

    def head(self, num_rows: int, **kwargs: object) -> pa.Table:
        """Return the first rows; `kwargs` as in `scanner`."""
        return self.scanner(limit=num_rows, **kwargs).to_table()  # type: ignore[arg-type]

    def take(
        self, indices: Sequence[int] | pa.Array, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return rows by position, in any order, repeated if asked. Raises IndexError."""
        offsets = np.asarray(indices, dtype=np.int64)
        rows = self.count_rows()
        if len(offsets) and (offsets.min() < 0 or offsets.max() >= rows):
            raise IndexError(f"row {int(offsets.max())} of a dataset of {rows} rows")
        return self._snapshot.take(offsets, projection_of(self._snapshot.manifest, columns))

    def io_stats_incremental(self) -> IOStats:
        """Return requests and bytes since the last call."""
        return self._snapshot.store.stats.incremental()
