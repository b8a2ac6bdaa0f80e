"""Tables: what a program opens and writes through the names of the package.

A table is opened at one version; writing commits the next one. Filters, updates, indices and
searches are in `lanceref.search` and `lanceref.operations`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from lanceref.blobs.blob_writer import declared_schema
from lanceref.core.context import Context, Item, plain_forms
from lanceref.core.errors import AlreadyExists, NotFound
from lanceref.core.file_versions import version_named
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.file.arrow_schema import schema_of
from lanceref.search.snapshot import Snapshot, open_snapshot, scan_projection
from lanceref.storage import name_of_uri, store_options
from lanceref.storage.manifests.opening import open_table as open_store
from lanceref.storage.protocol import Draft
from lanceref.table import data_files
from lanceref.table.logical import BlobHandling
from lanceref.transactions.commit import CommitPolicy, commit
from lanceref.transactions.manifest_builder import Staged, storage_version_of
from lanceref.transactions.transaction import new_append, new_overwrite

BATCH_ROWS = 8192
"""Rows of a batch that is read."""

Path = str | os.PathLike[str]
"""A local path, or a URI."""


@dataclass(frozen=True, slots=True)
class Table:
    """One version of a table; `plain` reads it without fast forms (`core.context`)."""

    snapshot: Snapshot
    plain: bool = False

    @property
    def version(self) -> int:
        """The number of the version that is open."""
        return self.snapshot.manifest.version

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the table's rows, blobs as descriptions."""
        return self.snapshot.arrow_schema

    def count_rows(self) -> int:
        """Return the number of live rows, deleted ones not counted."""
        return self.snapshot.fragments.num_rows

    def to_batches(
        self, columns: Sequence[str] | None = None, batch_size: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Yield the live rows; `columns` (None: all fields) may be nested or system columns."""
        snapshot = self.snapshot
        projection = scan_projection(snapshot.schema(BlobHandling.DESCRIPTIONS), columns)
        fragments, end = snapshot.fragments, self.count_rows()
        batches = snapshot.scan(fragments, projection, batch_size, 0, end)
        bounded = snapshot.bounded(batches, fragments)
        return plainly(bounded) if self.plain else bounded

    def to_table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the live rows. Raises LimitExceeded for more bytes than the limits allow."""
        schema = self.snapshot.schema(BlobHandling.DESCRIPTIONS)
        wanted = scan_projection(schema, columns).schema
        return pa.Table.from_batches(self.to_batches(columns), wanted)


def open_table(
    path: Path,
    version: int | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    storage_options: dict[str, str] | None = None,
    plain: bool = False,
) -> Table:
    """Open a version (None: the latest); `plain` reads it without fast forms (`core.context`).

    Raises NotFound, and FormatError for broken bytes.
    """
    store = open_store(path, store_options(storage_options))
    return Table(open_snapshot(store, version, Context(name_of_uri(path), limits=limits)), plain)


def write_table(
    path: Path,
    rows: pa.Table,
    mode: Literal["create", "append", "overwrite"] = "create",
    *,
    version: str | None = None,
    storage_options: dict[str, str] | None = None,
) -> Table:
    """Write rows, commit them and return the new version.

    `version` is that of the data files (None: the table's own, or the default). Raises
    AlreadyExists where `create` finds a table, NotFound where `append` finds none, SchemaRefused
    for columns that the table does not have.
    """
    store, ctx = open_store(path, store_options(storage_options)), Context(name_of_uri(path))
    try:
        base = open_snapshot(store, None, ctx).manifest
    except NotFound:
        base = None
    if base is not None and mode == "create":
        raise AlreadyExists(f"Dataset already exists: {store.root}")
    if base is None and mode == "append":
        raise NotFound(f"no table at {store.root}")
    stored, read = version_named(version), 0 if base is None else base.version
    if base is not None and version is None:
        stored = storage_version_of(base.message)
    schema = written = data_files.with_dictionaries(schema_of(declared_schema(rows.schema, stored)))
    known: Mapping[int, pa.Array] = {}
    if base is not None and mode == "append":
        known, schema = base.dictionaries, base.schema
        written = data_files.appended_schema(schema, written, stored)
    homes, batches, limits = [data_files.Home(store)], rows.to_batches(), data_files.FileLimits()
    files = data_files.write_files(homes, written, stored, batches, limits, known)
    transaction = new_overwrite(read, files.fragments, schema)
    if mode == "append":
        transaction = new_append(read, files.fragments)
    dictionaries, draft = files.dictionaries, Draft(files.paths)
    staged = Staged(transaction, schema, stored, dictionaries=dictionaries, draft=draft)
    committed = commit(store, staged, CommitPolicy(create_only=mode == "create"), ctx)
    return Table(open_snapshot(store, committed, ctx))


def plainly(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items, each made by plain forms."""
    end = object()
    while True:
        with plain_forms():
            item = next(items, end)
        if item is end:
            return
        yield item  # type: ignore[misc]
