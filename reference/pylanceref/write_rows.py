"""Rows written: the data files of a write, before anything is committed (face).

`write_dataset` and `write_fragments` share their arguments about files: these decide where files
end, what becomes of blobs, and in which bases files go. The table at the destination is read once,
before any row is written: it decides on the schema and the version of the files.

Clauses: L.table.base.unique, L.table.base.folder
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import pyarrow as pa
from lanceref.blobs.blob_writer import BlobPolicy, ExternalBlobs, check_thresholds, declared_schema
from lanceref.core.context import Context
from lanceref.core.errors import AlreadyExists, DataRefused, NotFound
from lanceref.core.file_versions import V0_1, FileVersion, version_named
from lanceref.core.integers import unsigned
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import page_policy
from lanceref.file.schema import LanceSchema
from lanceref.operations.cleanup import clean_after_commit
from lanceref.proto import table_pb2
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import Store, StoreOptions, name_of_uri, store_options
from lanceref.storage.manifests.manifest_names import DETACHED
from lanceref.storage.manifests.opening import open_table
from lanceref.storage.protocol import NO_OPTIONS
from lanceref.table.bases import open_base
from lanceref.table.data_files import (
    FOLDER,
    FileLimits,
    Home,
    NewFiles,
    appended_schema,
    with_dictionaries,
    write_files,
)
from lanceref.table.lineage import CREATED_AT, LAST_UPDATED_AT, ROW_ID
from lanceref.table.manifest import Manifest
from lanceref.table.rows import ROW_ADDRESS
from lanceref.transactions.manifest_builder import storage_version_of

from pylanceref.operation import DatasetBasePath
from pylanceref.progress import FragmentWriteProgress, Reporter
from pylanceref.table_handle import OpenTable, T, root_of
from pylanceref.transactions import base_messages
from pylanceref.types import reader_of

Destination = str | os.PathLike[str] | OpenTable
"""Where to write: a table by its URI, or an opened version of it."""

MAX_ROWS_PER_FILE = 1024 * 1024
MAX_ROWS_PER_GROUP = 1024
MAX_BYTES_PER_FILE = 90 << 30

Bases = Sequence[table_pb2.BasePath]

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
    """Look at a destination; an opened table keeps its options. Raises TypeError for others."""
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
    """Decide on schema and storage version. Raises ValueError, SchemaRefused, AlreadyExists."""
    if mode not in ("create", "append", "overwrite"):
        raise ValueError(f"Invalid mode {mode}")
    for name in schema.names:
        if name in RESERVED:
            raise DataRefused(f"The column {name} is a reserved name")
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


def bases_of(target: Target, mode: str, initial: Sequence[DatasetBasePath] | None) -> Bases:
    """Return the bases of a table or of a new one. Raises DataRefused for one that cannot be."""
    if target.base is not None:
        if initial:
            raise DataRefused(f"Cannot register new bases in {mode.capitalize()} mode")
        return list(target.base.message.base_paths)
    for base in initial or ():
        if not isinstance(base, DatasetBasePath):
            raise ValueError("initial_bases must contain DatasetBasePath objects only")
    made, ids = base_messages([replace(one, id=one.id or None) for one in initial or ()], 1), set()
    for number in (one.id for one in made):
        if number in ids:
            raise DataRefused(f"Duplicate base path ID {number} detected")
        ids.add(number)
    return made


def homes_of(target: Target, bases: Bases, chosen: Sequence[str] | None) -> list[Home]:
    """Return where files go in turn. Raises DataRefused for a base that there is not."""
    if isinstance(chosen, str):
        raise TypeError(f"target_bases must be a list of names, got {chosen!r}")
    homes, branch = [], target.base.message.branch if target.base else ""
    for name in chosen or ():
        named = [base for base in bases if base.HasField("name") and base.name == name]
        named += [base for base in bases if base.path == name]
        if named:
            store = open_base(target.store, named[0], branch)
            homes.append(Home(store, FOLDER if named[0].is_dataset_root else "", named[0].id))
        elif name == target.uri:
            homes.append(Home(target.store))
        else:
            raise DataRefused(f"Base reference '{name}' not found in available bases")
    return homes or [Home(target.store)]


class FileArguments(TypedDict, total=False):
    """Arguments about files, as pylance has them.

    Files end at `max_rows_per_file` (1 Mi) or `max_bytes_per_file` (90 GiB), groups of 0.1 at
    `max_rows_per_group` (1024); `data_cache_bytes` and `max_page_bytes` bound pages. Files go into
    the `target_bases`, by name or path; a new table gets `initial_bases`. URIs of blobs are kept
    (`reference`) below bases, anywhere where that is allowed, or taken in (`ingest`).
    """

    max_rows_per_file: int
    max_rows_per_group: int | None
    max_bytes_per_file: int
    data_cache_bytes: int | None
    max_page_bytes: int | None
    progress: FragmentWriteProgress | Reporter | None
    data_storage_version: str | None
    storage_options: dict[str, str] | None
    initial_bases: Sequence[DatasetBasePath] | None
    target_bases: Sequence[str] | None
    external_blob_mode: str
    allow_external_blob_outside_bases: bool
    blob_pack_file_size_threshold: int | None


@dataclass(frozen=True, slots=True)
class Written:
    """Files that wait for a commit, and the bases of the table they are for."""

    target: Target
    plan: Plan
    bases: Bases
    files: NewFiles


def write_rows(
    data: object,
    target: Target,
    schema: pa.Schema | None,
    mode: str,
    **arguments: Unpack[FileArguments],
) -> Written:
    """Write data files for a table. Raises TypeError for an argument that there is not."""
    unknown = arguments.keys() - FileArguments.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    reader = reader_of(data, schema)
    plan = plan_write(target, reader.schema, mode, arguments.get("data_storage_version"))
    bases = bases_of(target, mode, arguments.get("initial_bases"))
    limits = file_limits(plan, bases, **arguments)
    homes = homes_of(target, bases, arguments.get("target_bases"))
    progress = arguments.get("progress")
    watcher = Reporter(progress) if isinstance(progress, FragmentWriteProgress) else progress
    if watcher is not None and not isinstance(watcher, Reporter):
        raise DataRefused(f"Failed to call begin() on {type(progress).__name__!r}")
    known = target.base.dictionaries if target.base is not None and plan.appends else {}
    files = write_files(homes, plan.rows, plan.version, reader, limits, known, watcher)
    return Written(target, plan, bases, files)


def file_limits(plan: Plan, bases: Bases, **arguments: Unpack[FileArguments]) -> FileLimits:
    """Return limits of files and blobs. Raises ValueError, OverflowError, DataRefused."""
    rows = arguments.get("max_rows_per_file", MAX_ROWS_PER_FILE)
    group = arguments.get("max_rows_per_group")
    group = MAX_ROWS_PER_GROUP if group is None else group
    size = arguments.get("max_bytes_per_file", MAX_BYTES_PER_FILE)
    cache, page = arguments.get("data_cache_bytes"), arguments.get("max_page_bytes")
    shared = arguments.get("blob_pack_file_size_threshold")
    for number in (rows, group, size, cache or 0, page or 0, shared or 0):
        unsigned(number)
    if rows < 1 or (group < 1 and plan.version == V0_1):
        raise ValueError("max_rows_per_file and max_rows_per_group must be at least 1")
    if page == 0 and plan.version != V0_1:
        raise DataRefused("max_page_bytes must be greater than 0, got 0")
    mode = arguments.get("external_blob_mode", "reference")
    anywhere = arguments.get("allow_external_blob_outside_bases", False)
    if mode not in ("reference", "ingest"):
        raise ValueError(f"Invalid external blob mode: {mode}")
    if anywhere and mode == "ingest":
        raise DataRefused(
            'allow_external_blob_outside_bases only applies when external_blob_mode="reference"'
        )
    options = store_options(arguments.get("storage_options"))
    external = ExternalBlobs(mode == "ingest", anywhere, tuple(bases), options)
    policy = page_policy(len(plan.rows.fields), cache, page)
    return FileLimits(rows, size, group, policy, BlobPolicy(shared, external))
