"""Writing: new files of a table, committed as its next version or not (face).

`write_dataset` and `write_fragments` share their arguments about files: these decide where files
end, what becomes of blobs, and in which bases files go. The table at the destination is read once,
before any row is written: it decides on the schema and the version of the files.

Clauses: L.table.base.unique, L.table.base.folder
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypedDict, Unpack

import pyarrow as pa
from lanceref.blobs.blob_writer import BlobPolicy, check_thresholds, declared_schema
from lanceref.core.context import Context
from lanceref.core.errors import AlreadyExists, DataRefused, NotFound
from lanceref.core.file_versions import V0_1, FileVersion, version_named
from lanceref.core.integers import unsigned
from lanceref.file.arrow_schema import schema_of
from lanceref.file.column_io import page_policy
from lanceref.file.schema import LanceSchema
from lanceref.operations.cleanup import AutoCleanupConfig, clean_after_commit, cleanup_config
from lanceref.proto import table_pb2
from lanceref.proto import transaction_pb2 as pb
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import Store, StoreOptions, name_of_uri, store_options
from lanceref.storage.manifests.manifest_names import DETACHED
from lanceref.storage.manifests.opening import open_table
from lanceref.storage.protocol import NO_OPTIONS, CommitLock, Draft
from lanceref.table import data_files
from lanceref.table.manifest import Manifest
from lanceref.table.rows import SYSTEM_COLUMNS
from lanceref.transactions.commit import CommitPolicy, commit
from lanceref.transactions.manifest_builder import Staged, storage_version_of
from lanceref.transactions.transaction import MESSAGE_KEY, new_append, new_overwrite

from pylanceref.metadata import FragmentMetadata
from pylanceref.operation import DatasetBasePath, Transaction
from pylanceref.progress import FragmentWriteProgress, Reporter
from pylanceref.table_handle import OpenTable, Session, T, root_of, session_of
from pylanceref.transactions import base_messages, from_message
from pylanceref.types import reader_of

Destination = str | os.PathLike[str] | OpenTable
"""Where to write: a table by its URI, or an opened version of it."""

Bases = Sequence[table_pb2.BasePath]
Written: TypeAlias = "tuple[Plan, Bases, data_files.NewFiles]"


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
        if name in SYSTEM_COLUMNS:
            raise DataRefused(f"The column {name} is a reserved name")
    base = target.base
    if base is not None and mode == "create":
        raise AlreadyExists(f"Dataset already exists: {target.store.root}")
    chosen = version_named(version)
    if base is not None and version is None:
        chosen = storage_version_of(base.message)
    rows = data_files.with_dictionaries(schema_of(declared_schema(schema, chosen)))
    if base is None or mode == "overwrite":
        return Plan(False, chosen, rows, rows)
    check_thresholds(base.schema.fields, rows.fields)
    return Plan(True, chosen, data_files.appended_schema(base.schema, rows, chosen), base.schema)


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


def homes_of(target: Target, bases: Bases, chosen: Sequence[str] | None) -> list[data_files.Home]:
    """Return where files go in turn. Raises DataRefused for a base that there is not."""
    if isinstance(chosen, str):
        raise TypeError(f"target_bases must be a list of names, got {chosen!r}")
    branch = target.base.message.branch if target.base else ""
    return data_files.homes(target.store, target.uri, branch, bases, chosen or ())


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


def write_rows(
    data: object,
    target: Target,
    schema: pa.Schema | None,
    mode: str,
    **arguments: Unpack[FileArguments],
) -> Written:
    """Write data files of a table. Raises TypeError for an argument that there is not."""
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
    files = data_files.write_files(homes, plan.rows, plan.version, reader, limits, known, watcher)
    return plan, bases, files


def file_limits(
    plan: Plan, bases: Bases, **arguments: Unpack[FileArguments]
) -> data_files.FileLimits:
    """Return limits of files and blobs. Raises ValueError, OverflowError, DataRefused."""
    rows = arguments.get("max_rows_per_file", data_files.MAX_ROWS_PER_FILE)
    group = arguments.get("max_rows_per_group")
    group = data_files.GROUP_ROWS if group is None else group
    size = arguments.get("max_bytes_per_file", data_files.MAX_BYTES_PER_FILE)
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
    blobs = BlobPolicy(shared, mode == "ingest", anywhere, tuple(bases), options)
    policy = page_policy(len(plan.rows.fields), cache, page)
    return data_files.FileLimits(rows, size, group, policy, blobs)


def write_table(
    kind: type[T],
    data_obj: object,
    uri: Destination | None = None,
    schema: pa.Schema | None = None,
    mode: str = "create",
    *,
    commit_lock: CommitLock | None = None,
    enable_v2_manifest_paths: bool = True,
    enable_stable_row_ids: bool = False,
    auto_cleanup_options: AutoCleanupConfig | None = None,
    commit_message: str | None = None,
    transaction_properties: dict[str, str] | None = None,
    session: Session | None = None,
    **files: Unpack[FileArguments],
) -> T:
    """Write rows as `write_dataset` does; return the table as an object of a class.

    Raises AlreadyExists for mode `create` where a table exists, SchemaRefused for another schema,
    CommitConflict when a concurrent commit stands in the way, DataRefused and NotStorable for rows
    that cannot be stored. On any error the table is as it was.
    """
    if uri is None:
        raise ValueError("Must specify either 'uri' or both 'namespace_client' and 'table_id'.")
    shared = _session_of(uri, session)
    config = cleanup_config(auto_cleanup_options)
    target = open_target(uri, store_options(files.get("storage_options"), commit_lock))
    plan, _, new = written = write_rows(data_obj, target, schema, mode, **files)
    properties = dict(transaction_properties or {})
    if commit_message is not None:
        properties[MESSAGE_KEY] = commit_message
    transaction = _transaction(target, written, properties)
    if target.base is None:
        transaction.overwrite.config_upsert_values.update(config)
    given = plan.table, plan.version, enable_stable_row_ids, new.dictionaries
    staged = Staged(transaction, *given, draft=Draft(new.paths))
    policy = CommitPolicy(
        "V2" if enable_v2_manifest_paths else "V1", mode == "create", lock=commit_lock
    )
    return committed(kind, target, commit(target.store, staged, policy, target.ctx)).within(shared)


def _transaction(target: Target, written: Written, properties: Mapping[str, str]) -> pb.Transaction:
    plan, bases, new = written
    read = 0 if target.base is None else target.base.version
    if plan.appends:
        return new_append(read, new.fragments, properties)
    made = new_overwrite(read, new.fragments, plan.table, properties)
    made.overwrite.initial_bases.extend(bases if target.base is None else ())
    return made


def _session_of(uri: Destination, session: Session | None) -> Session | None:
    """Return the session of what is written: an opened table has its own. Raises ValueError."""
    given = session_of(session)
    if not isinstance(uri, OpenTable):
        return given
    if given is not None and not given.is_same_as(uri.session()):
        raise ValueError("The given session is not the destination dataset's own session")
    return uri.session()


def write_files(
    data: object,
    dataset_uri: Destination,
    schema: pa.Schema | None = None,
    mode: str = "append",
    session: Session | None = None,
    **files: Unpack[FileArguments],
) -> tuple[Target, Written]:
    """Write rows as data files; return the table as it was, and what was written."""
    _session_of(dataset_uri, session)
    target = open_target(dataset_uri, store_options(files.get("storage_options")))
    return target, write_rows(data, target, schema, mode, **files)


def write_fragments(
    *given: object, return_transaction: bool = False, **files: object
) -> list[FragmentMetadata] | Transaction:
    """Write rows as `write_files`; return their fragments, or the transaction that lists them."""
    target, written = write_files(*given, **files)  # type: ignore[arg-type]
    if return_transaction:
        return from_message(_transaction(target, written, {}))
    return list(map(FragmentMetadata.from_message, written[-1].fragments))
