"""Rows, written: the data files of a write, before anything is committed.

What `write_dataset` and `write_fragments` have in common: their arguments about files, and how
these decide where files end, what becomes of blobs, and in which bases files go.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

import pyarrow as pa
from lanceref.blobs.blob_rows import ExternalBlobs
from lanceref.blobs.blob_writer import BlobPolicy
from lanceref.core.errors import DataRefused
from lanceref.core.file_versions import V0_1
from lanceref.core.integers import unsigned
from lanceref.file.column_writer import page_policy
from lanceref.storage import store_options
from lanceref.table.data_files import FileLimits, NewFiles, write_files

from pylanceref.input_rows import reader_of
from pylanceref.operation import DatasetBasePath
from pylanceref.progress import FragmentWriteProgress, Reporter
from pylanceref.write_bases import Bases, bases_of, homes_of
from pylanceref.write_target import Plan, Target, plan_write

MAX_ROWS_PER_FILE = 1024 * 1024
MAX_ROWS_PER_GROUP = 1024
MAX_BYTES_PER_FILE = 90 << 30


class FileArguments(TypedDict, total=False):
    """Arguments about files, as pylance has them.

    Files end at `max_rows_per_file` (1 Mi) or `max_bytes_per_file` (90 GiB), groups of 0.1 at
    `max_rows_per_group` (1024); `data_cache_bytes` and `max_page_bytes` bound pages. Files go into
    the `target_bases`, by name or path, or into all bases (`target_all_bases`, true: the root too);
    a new table gets `initial_bases`. URIs of blobs are kept (`reference`) below bases, anywhere
    where that is allowed, or taken in (`ingest`).
    """

    max_rows_per_file: int
    max_rows_per_group: int | None
    max_bytes_per_file: int
    data_cache_bytes: int | None
    max_page_bytes: int | None
    progress: FragmentWriteProgress | None
    data_storage_version: str | None
    use_legacy_format: bool | None
    storage_options: dict[str, str] | None
    initial_bases: Sequence[DatasetBasePath] | None
    target_bases: Sequence[str] | None
    target_all_bases: bool | None
    base_store_params: dict[str, dict[str, str]] | None
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
    version = _version(arguments)
    reader = reader_of(data, schema)
    plan = plan_write(target, reader.schema, mode, version)
    bases = bases_of(target, mode, arguments.get("initial_bases"))
    limits = file_limits(plan, bases, **arguments)
    chosen, everywhere = arguments.get("target_bases"), arguments.get("target_all_bases")
    homes = homes_of(target, bases, chosen, everywhere)
    progress = arguments.get("progress")
    if progress is not None and not isinstance(progress, FragmentWriteProgress):
        raise DataRefused(f"Failed to call begin() on {type(progress).__name__!r}")
    known = target.base.dictionaries if target.base is not None and plan.appends else {}
    watcher = None if progress is None else Reporter(progress)
    files = write_files(homes, plan.rows, plan.version, reader, limits, known, watcher)
    return Written(target, plan, bases, files)


def _version(arguments: FileArguments) -> str | None:
    """Return the storage version that was asked for, the old way too."""
    legacy = arguments.get("use_legacy_format")
    if legacy is None:
        return arguments.get("data_storage_version")
    warnings.warn(
        "use_legacy_format is deprecated, use data_storage_version instead",
        DeprecationWarning,
        stacklevel=5,
    )
    return "legacy" if legacy else "stable"


def file_limits(plan: Plan, bases: Bases, **arguments: Unpack[FileArguments]) -> FileLimits:
    """Return when a file is full, and how blobs are stored.

    Raises ValueError, OverflowError and DataRefused for limits that no file can keep.
    """
    rows = arguments.get("max_rows_per_file", MAX_ROWS_PER_FILE)
    group = arguments.get("max_rows_per_group")
    group = MAX_ROWS_PER_GROUP if group is None else group
    size = arguments.get("max_bytes_per_file", MAX_BYTES_PER_FILE)
    cache, page = arguments.get("data_cache_bytes"), arguments.get("max_page_bytes")
    for number in (rows, group, size, cache or 0, page or 0):
        unsigned(number)
    if rows < 1 or (group < 1 and plan.version == V0_1):
        raise ValueError("max_rows_per_file and max_rows_per_group must be at least 1")
    if page == 0 and plan.version != V0_1:
        raise DataRefused("max_page_bytes must be greater than 0, got 0")
    policy = page_policy(len(plan.rows.fields), cache, page)
    return FileLimits(rows, size, group, policy, blob_policy(bases, **arguments))


def blob_policy(bases: Bases, **arguments: Unpack[FileArguments]) -> BlobPolicy:
    """Return how blobs are stored. Raises ValueError for an unknown mode and for both at once."""
    mode = arguments.get("external_blob_mode", "reference")
    anywhere = arguments.get("allow_external_blob_outside_bases", False)
    if mode not in ("reference", "ingest"):
        raise ValueError(f"Invalid external blob mode: {mode}")
    if anywhere and mode == "ingest":
        raise DataRefused(
            'allow_external_blob_outside_bases only applies when external_blob_mode="reference"'
        )
    shared = arguments.get("blob_pack_file_size_threshold")
    unsigned(shared or 0)
    options = store_options(arguments.get("storage_options"))
    return BlobPolicy(shared, ExternalBlobs(mode == "ingest", anywhere, tuple(bases), options))
