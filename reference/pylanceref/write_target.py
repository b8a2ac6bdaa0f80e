"""Target: the table that rows are written to, and what is to be written there.

A destination is looked at once, before any row is written: what stands there decides on the schema
and the version of the files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa
from lanceref.blobs.blob_schema import declared_schema
from lanceref.blobs.blob_writer import check_thresholds
from lanceref.core.context import Context
from lanceref.core.errors import AlreadyExists, DataRefused, NotFound
from lanceref.core.file_versions import FileVersion, version_named
from lanceref.file.schema import LanceSchema, schema_of
from lanceref.operations.auto_cleanup import clean_after_commit
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import NO_OPTIONS, Store, StoreOptions, name_of_uri
from lanceref.storage.manifests.manifest_names import DETACHED
from lanceref.storage.manifests.opening import open_table
from lanceref.table.data_files import appended_schema, with_dictionaries
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID
from lanceref.table.manifest import Manifest
from lanceref.table.rows import ROW_ADDRESS
from lanceref.transactions.manifest_builder import storage_version_of

from pylanceref.table_handle import OpenTable, root_of

T = TypeVar("T", bound=OpenTable)

Destination = str | os.PathLike[str] | OpenTable
"""Where to write: a table by its URI, or an opened version of it."""

RESERVED = (ROW_ID, ROW_ADDRESS, "_rowoffset", CREATED_AT, LAST_UPDATED_AT)
"""Names of columns that every table has."""


@dataclass(frozen=True, slots=True)
class Target:
    """A table to be written: its store, and the version that was read (None: there is none)."""

    uri: str
    store: Store
    base: Manifest | None
    ctx: Context


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written: `rows` is the schema of the files, `table` that of an overwrite."""

    appends: bool
    version: FileVersion
    rows: LanceSchema
    table: LanceSchema


def open_target(uri: Destination, options: StoreOptions = NO_OPTIONS) -> Target:
    """Look at what stands at a destination. Raises TypeError for something else.

    An opened table keeps the options it was opened with.
    """
    if isinstance(uri, OpenTable):
        snapshot = uri._snapshot
        ctx = Context(name_of_uri(snapshot.store.root), limits=snapshot.ctx.limits)
        return Target(uri.uri, snapshot.store, snapshot.manifest, ctx)
    if not isinstance(uri, str | os.PathLike):
        raise TypeError(f"dest must be a str, Path, or LanceDataset. Got {type(uri)}")
    store = open_table(uri, options)
    ctx = Context(name_of_uri(store.root))
    try:
        base = open_snapshot(store, None, ctx).manifest
    except NotFound:
        base = None
    return Target(os.fspath(uri), store, base, ctx)


def plan_write(target: Target, schema: pa.Schema, mode: str, version: str | None) -> Plan:
    """Decide on schema and storage version. Raises ValueError, AppendRefused, AlreadyExists."""
    if mode not in ("create", "append", "overwrite"):
        raise ValueError(f"Invalid mode {mode}")
    for name in schema.names:
        if name in RESERVED:
            raise DataRefused(
                f"The column {name} is a reserved name and cannot be used in a Lance dataset"
            )
    base = target.base
    if base is not None and mode == "create":
        raise AlreadyExists(f"Dataset already exists: {target.store.root}")
    chosen = version_named(version)
    if base is not None and version is None:
        chosen = storage_version_of(base.message)
    rows = with_dictionaries(schema_of(declared_schema(schema, chosen)))
    if base is None or mode == "overwrite":
        return Plan(False, chosen, rows, rows)
    check_thresholds(base.schema.fields, rows.fields)
    return Plan(True, chosen, appended_schema(base.schema, rows, chosen), base.schema)


def committed(kind: type[T], target: Target, version: int) -> T:
    """Open a version that was just committed, as an object of a class."""
    snapshot = open_snapshot(target.store, version, target.ctx)
    made = kind.of(target.uri, snapshot, root_of(snapshot))
    if target.base is not None and version < DETACHED:
        clean_after_commit(made._snapshot, made._root, target.base.version)
    return made
