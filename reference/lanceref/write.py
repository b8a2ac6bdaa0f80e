"""Writing: a stream of rows becomes a version of a table (face).

Has the names, arguments and defaults of pylance's `lance.write_dataset`. The rows are written to
data files first; only the commit at the end makes them part of the table.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa

from lanceref.context import Context
from lanceref.dataset import LanceDataset
from lanceref.errors import AlreadyExists, DataRefused, NotFound
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_write import schema_of
from lanceref.file.versions import V0_1, FileVersion, version_named
from lanceref.file.writer import page_policy
from lanceref.fragment import FragmentMetadata
from lanceref.incoming import reader_of
from lanceref.opened import root_of
from lanceref.snapshot import open_snapshot
from lanceref.storage import Store, open_store
from lanceref.table.appended import appended_schema
from lanceref.table.blob_rows import ExternalBlobs
from lanceref.table.blob_schema import declared_schema
from lanceref.table.blobs_write import IN_PLACE, BlobPolicy
from lanceref.table.data_files import FileLimits, NewFiles, with_dictionaries, write_files
from lanceref.table.manifest import Manifest
from lanceref.txn.commit import CommitPolicy, commit
from lanceref.txn.making import Staged, storage_version_of
from lanceref.txn.transaction import new_append, new_overwrite

MAX_ROWS_PER_FILE = 1024 * 1024
MAX_ROWS_PER_GROUP = 1024
MAX_BYTES_PER_FILE = 90 << 30

MESSAGE_KEY = "__lance_commit_message"
"""Transaction property that holds the message of a commit."""

Mode = Literal["create", "append", "overwrite"]

Destination = str | os.PathLike[str] | LanceDataset
"""Where to write: a table by its URI, or an opened version of it."""


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


def open_target(uri: Destination) -> Target:
    """Look at what stands at a destination. Raises TypeError for something else."""
    if isinstance(uri, LanceDataset):
        snapshot = uri._snapshot
        ctx = Context(Path(snapshot.store.root).name, limits=snapshot.ctx.limits)
        return Target(uri.uri, snapshot.store, snapshot.manifest, ctx)
    if not isinstance(uri, str | os.PathLike):
        raise TypeError(f"dest must be a str, Path, or LanceDataset. Got {type(uri)}")
    store = open_store(uri)
    ctx = Context(Path(store.root).name)
    try:
        base = open_snapshot(store, None, ctx).manifest
    except NotFound:
        base = None
    return Target(os.fspath(uri), store, base, ctx)


def plan_write(target: Target, schema: pa.Schema, mode: str, version: str | None) -> Plan:
    """Decide on schema and storage version. Raises ValueError, AppendRefused, AlreadyExists."""
    if mode not in ("create", "append", "overwrite"):
        raise ValueError(f"Invalid mode {mode}")
    base = target.base
    if base is not None and mode == "create":
        raise AlreadyExists(f"Dataset already exists: {target.store.root}")
    chosen = version_named(version)
    if base is not None and version is None:
        chosen = storage_version_of(base.message)
    rows = with_dictionaries(schema_of(declared_schema(schema, chosen)))
    if base is None or mode == "overwrite":
        return Plan(False, chosen, rows, rows)
    return Plan(True, chosen, appended_schema(base.schema, rows, chosen), base.schema)


def write_rows(
    target: Target,
    plan: Plan,
    reader: pa.RecordBatchReader,
    *,
    max_rows_per_file: int = MAX_ROWS_PER_FILE,
    max_rows_per_group: int | None = MAX_ROWS_PER_GROUP,
    max_bytes_per_file: int = MAX_BYTES_PER_FILE,
    data_cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
    blobs: BlobPolicy = IN_PLACE,
) -> NewFiles:
    """Write the data files of a plan. Raises ValueError for limits that no file can keep."""
    group = MAX_ROWS_PER_GROUP if max_rows_per_group is None else max_rows_per_group
    if max_rows_per_file < 1 or (group < 1 and plan.version == V0_1):
        raise ValueError("max_rows_per_file and max_rows_per_group must be at least 1")
    policy = page_policy(len(plan.rows.fields), data_cache_bytes, max_page_bytes)
    limits = FileLimits(max_rows_per_file, max_bytes_per_file, group, policy, blobs)
    known = target.base.dictionaries if target.base is not None and plan.appends else {}
    return write_files(target.store, plan.rows, plan.version, reader, limits, known)


def blob_policy(mode: str, anywhere: bool, shared_bytes: int | None) -> BlobPolicy:
    """Return how blobs are stored. Raises ValueError for an unknown mode and for both at once."""
    if mode not in ("reference", "ingest"):
        raise ValueError(f"Invalid external blob mode: {mode}")
    if anywhere and mode == "ingest":
        raise DataRefused(
            'allow_external_blob_outside_bases only applies when external_blob_mode="reference"'
        )
    return BlobPolicy(shared_bytes, ExternalBlobs(mode == "ingest", anywhere))


def write_dataset(
    data_obj: object,
    uri: Destination,
    schema: pa.Schema | None = None,
    mode: str = "create",
    *,
    max_rows_per_file: int = MAX_ROWS_PER_FILE,
    max_rows_per_group: int = MAX_ROWS_PER_GROUP,
    max_bytes_per_file: int = MAX_BYTES_PER_FILE,
    data_cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
    data_storage_version: str | None = None,
    enable_v2_manifest_paths: bool = True,
    enable_stable_row_ids: bool = False,
    commit_message: str | None = None,
    transaction_properties: dict[str, str] | None = None,
    external_blob_mode: str = "reference",
    allow_external_blob_outside_bases: bool = False,
    blob_pack_file_size_threshold: int | None = None,
) -> LanceDataset:
    """Write rows as a new table, as its whole content, or behind what it has; return the result.

    Raises AlreadyExists for mode `create` where a table stands, AppendRefused for another schema,
    CommitConflict when a concurrent commit stands in the way, DataRefused and NotStorable for rows
    that cannot be stored. On any error the table is as it was.
    """
    reader = reader_of(data_obj, schema)
    target = open_target(uri)
    plan = plan_write(target, reader.schema, mode, data_storage_version)
    new = write_rows(
        target,
        plan,
        reader,
        max_rows_per_file=max_rows_per_file,
        max_rows_per_group=max_rows_per_group,
        max_bytes_per_file=max_bytes_per_file,
        data_cache_bytes=data_cache_bytes,
        max_page_bytes=max_page_bytes,
        blobs=blob_policy(
            external_blob_mode, allow_external_blob_outside_bases, blob_pack_file_size_threshold
        ),
    )
    properties = dict(transaction_properties or {})
    if commit_message is not None:
        properties[MESSAGE_KEY] = commit_message
    policy = CommitPolicy("V2" if enable_v2_manifest_paths else "V1", mode == "create")
    staged = stage(target, plan, new, properties, stable_row_ids=enable_stable_row_ids)
    return committed(target, commit(target.store, staged, policy, target.ctx))


def stage(
    target: Target,
    plan: Plan,
    new: NewFiles,
    properties: dict[str, str] | None = None,
    *,
    stable_row_ids: bool = False,
) -> Staged:
    """Return the transaction of new files, ready to be committed."""
    read = 0 if target.base is None else target.base.version
    if plan.appends:
        transaction = new_append(read, new.fragments, properties)
    else:
        transaction = new_overwrite(read, new.fragments, plan.table, properties)
    return Staged(transaction, plan.table, plan.version, stable_row_ids, new.dictionaries)


def committed(target: Target, version: int) -> LanceDataset:
    """Open a version that was just committed."""
    snapshot = open_snapshot(target.store, version, target.ctx)
    return LanceDataset(target.uri, snapshot, root_of(snapshot))


def write_fragments(
    data: object,
    dataset_uri: Destination,
    schema: pa.Schema | None = None,
    *,
    mode: str = "append",
    max_rows_per_file: int = MAX_ROWS_PER_FILE,
    max_rows_per_group: int | None = MAX_ROWS_PER_GROUP,
    max_bytes_per_file: int = MAX_BYTES_PER_FILE,
    data_cache_bytes: int | None = None,
    max_page_bytes: int | None = None,
    data_storage_version: str | None = None,
    external_blob_mode: str = "reference",
    allow_external_blob_outside_bases: bool = False,
) -> list[FragmentMetadata]:
    """Write rows as data files beside a table that only a commit makes part of it."""
    reader = reader_of(data, schema)
    target = open_target(dataset_uri)
    new = write_rows(
        target,
        plan_write(target, reader.schema, mode, data_storage_version),
        reader,
        max_rows_per_file=max_rows_per_file,
        max_rows_per_group=max_rows_per_group,
        max_bytes_per_file=max_bytes_per_file,
        data_cache_bytes=data_cache_bytes,
        max_page_bytes=max_page_bytes,
        blobs=blob_policy(external_blob_mode, allow_external_blob_outside_bases, None),
    )
    return [FragmentMetadata.from_message(fragment) for fragment in new.fragments]
