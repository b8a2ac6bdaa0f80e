"""Dataset: a table by its URI (face).

Has the names, arguments and defaults of pylance's `lance.dataset`.
"""

from __future__ import annotations

import os
import warnings
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa
from lanceref.core.context import Context
from lanceref.core.integers import unsigned
from lanceref.core.limits import DEFAULT_LIMITS, Limits
from lanceref.operations.cleanup import drop_table
from lanceref.search.snapshot import open_snapshot
from lanceref.storage import name_of_uri, store_options
from lanceref.storage.manifests.opening import open_table
from lanceref.storage.protocol import CommitLock
from lanceref.transactions.transaction import MESSAGE_KEY

from pylanceref import edits, history, index_listing, indexing, reading, references
from pylanceref.commit import commit_batch, commit_operation
from pylanceref.errors import PathMissing
from pylanceref.fragment import LanceFragment
from pylanceref.late_names import late_names
from pylanceref.optimize import DatasetOptimizer
from pylanceref.references import Branches, Tags, open_reference
from pylanceref.scan_arguments import ScanArguments
from pylanceref.table_handle import OpenTable, Session, root_of, session_of
from pylanceref.write import Destination, write_table

if TYPE_CHECKING:
    from lanceref.operations.cleanup import AutoCleanupConfig

    from pylanceref.operation import DatasetBasePath, Index, IndexFile, LanceOperation, Transaction
    from pylanceref.scanner import ColumnOrdering, LanceScanner

LANCE_COMMIT_MESSAGE_KEY = MESSAGE_KEY
"""Transaction property that holds the message of a commit."""

_LATE = {
    "lanceref.operations.cleanup": "AutoCleanupConfig",
    "pylanceref.operation": "DatasetBasePath Index IndexFile LanceOperation Transaction",
    "pylanceref.scanner": "ColumnOrdering LanceScanner",
}
"""Names that other modules define and pylance has in this one."""

__all__ = ["LANCE_COMMIT_MESSAGE_KEY", "AutoCleanupConfig", "Branches", "ColumnOrdering", "Tags"]
__all__ += ["DatasetBasePath", "DatasetOptimizer", "Index", "IndexFile", "LanceDataset"]
__all__ += ["LanceOperation", "LanceScanner", "Session", "Transaction", "dataset", "write_dataset"]

__getattr__ = late_names(__name__, _LATE, "VectorIndexReader")


def dataset(
    uri: str | os.PathLike[str] | None = None,
    version: int | str | None = None,
    asof: datetime | str | None = None,
    **arguments: object,
) -> LanceDataset:
    """Open a table: its latest version, one by number or by tag, or the latest before a moment.

    `arguments` are those of `LanceDataset`: without `allow_external` base paths and URIs of blobs
    raise a `LanceError`; without bytes for metadata none are kept between calls. Raises NotFound (a
    ValueError) for no table, version or tag, ValueError for a moment before the first version.
    """
    if uri is None:
        raise ValueError("Must specify either 'uri' or both 'namespace_client' and 'table_id'.")
    opened = LanceDataset(uri, version, **arguments)  # type: ignore[arg-type]
    if asof is not None and version is None:
        moment = datetime.fromisoformat(asof) if isinstance(asof, str) else asof
        return references.checkout_version(opened, history.version_before(opened, moment))
    return opened


class LanceDataset(OpenTable):
    """One version of a table, and the operations that make further versions.

    The methods are functions of the modules of their topics, with the table as first argument.
    """

    def __len__(self) -> int:
        return reading.count_rows(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows to another library, by Arrow's protocol of streams."""
        return reading.scanner(self).__arrow_c_stream__(requested_schema)

    def __init__(
        self,
        uri: str | os.PathLike[str],
        version: int | str | None = None,
        block_size: int | None = None,
        index_cache_size: int | None = None,
        metadata_cache_size: int | None = None,
        commit_lock: CommitLock | None = None,
        storage_options: dict[str, str] | None = None,
        *,
        default_scan_options: ScanArguments | None = None,
        metadata_cache_size_bytes: int | None = None,
        index_cache_size_bytes: int | None = None,
        read_params: dict[str, object] | None = None,
        session: Session | None = None,
        limits: Limits = DEFAULT_LIMITS,
        allow_external: bool = True,
    ) -> None:
        """Open a table as `dataset` does, whose arguments these are."""
        if index_cache_size is not None:
            told = "The 'index_cache_size' parameter is deprecated: use 'index_cache_size_bytes'"
            warnings.warn(told, DeprecationWarning, stacklevel=4)
        for size in (index_cache_size_bytes, metadata_cache_size_bytes, block_size):
            unsigned(size or 0)
        options = store_options(storage_options, commit_lock, allow_external=allow_external)
        store = open_table(uri, options)
        session = session_of(session, metadata_cache_size_bytes)
        keeps = session is None or session.keeps_metadata
        ctx = Context(name_of_uri(store.root), limits=limits, keeps=keeps)
        self._snapshot = open_snapshot(store, None if isinstance(version, str) else version, ctx)
        self.uri = os.fspath(uri)
        self._root = root_of(self._snapshot)
        self.within(session)
        self._scan_options = default_scan_options or {}
        if isinstance(version, str):
            self._snapshot = open_reference(self, version)

    @staticmethod
    def drop(
        base_uri: str | os.PathLike[str],
        storage_options: dict[str, str] | None = None,
        ignore_not_found: bool | None = None,
    ) -> None:
        """Remove a table with all its files. Raises NotFound, OperationRefused."""
        store = open_table(base_uri, store_options(storage_options))
        if not drop_table(store) and not ignore_not_found:
            raise PathMissing(f"Dataset at path {store.root} was not found")

    @property
    def _ds(self) -> LanceDataset:
        """The dataset itself: what pylance has on the object below its dataset is here."""
        return self

    optimize: DatasetOptimizer = property(DatasetOptimizer)  # type: ignore[assignment]
    stats: reading.LanceStats = property(reading.LanceStats)  # type: ignore[assignment]
    tags: Tags = property(Tags)  # type: ignore[assignment]
    branches: Branches = property(Branches)  # type: ignore[assignment]
    fragments: list[LanceFragment] = property(reading.get_fragments)  # type: ignore[assignment]
    latest_version: int = property(history.latest_version)  # type: ignore[assignment]

    commit = classmethod(commit_operation)  # type: ignore[var-annotated]
    commit_batch = classmethod(commit_batch)

    scanner = reading.scanner
    to_table = reading.to_table
    to_batches = reading.to_batches
    to_pandas = reading.to_pandas
    count_rows = reading.count_rows
    head = reading.head
    slice = reading.slice
    sample = reading.sample
    take = reading.take
    _take_rows = reading._take_rows
    take_blobs = reading.take_blobs
    read_blobs = reading.read_blobs
    read_blob_ranges = reading.read_blob_ranges
    get_fragments = reading.get_fragments
    get_fragment = reading.get_fragment
    validate = reading.validate
    io_stats_incremental = reading.io_stats_incremental

    insert = edits.insert
    delete = edits.delete
    update = edits.update
    truncate_table = edits.truncate_table
    merge_insert = edits.merge_insert
    add_columns = edits.add_columns
    drop_columns = edits.drop_columns
    alter_columns = edits.alter_columns
    merge = edits.merge

    versions = history.versions
    get_version = history.get_version
    version_refs = history.version_refs
    version_before = history.version_before
    checkout_latest = history.checkout_latest
    restore = history.restore
    read_transaction = history.read_transaction
    get_transactions = history.get_transactions
    migrate_manifest_paths_v2 = history.migrate_manifest_paths_v2
    cleanup_old_versions = history.cleanup_old_versions
    update_config = history.update_config
    delete_config_keys = history.delete_config_keys
    update_metadata = history.update_metadata
    update_schema_metadata = history.update_schema_metadata
    update_field_metadata = history.update_field_metadata
    base_paths = history.base_paths
    add_bases = history.add_bases

    checkout_version = references.checkout_version
    create_branch = references.create_branch
    shallow_clone = references.shallow_clone
    deep_clone = references.deep_clone

    create_scalar_index = indexing.create_scalar_index
    create_index = indexing.create_index
    create_index_uncommitted = indexing.create_index_uncommitted
    merge_index_metadata = indexing.merge_index_metadata
    merge_existing_index_segments = indexing.merge_existing_index_segments
    commit_existing_index_segments = indexing.commit_existing_index_segments
    drop_index = indexing.drop_index

    list_indices = index_listing.list_indices
    describe_indices = index_listing.describe_indices
    index_statistics = index_listing.index_statistics
    prewarm_index = index_listing.prewarm_index
    index_cache_hit_rate = index_listing.index_cache_hit_rate


def write_dataset(
    data_obj: object,
    uri: Destination | None = None,
    schema: pa.Schema | None = None,
    mode: str = "create",
    **arguments: object,
) -> LanceDataset:
    """Write rows as a new table, as its whole content, or after what it has; return the result.

    Arguments and errors are those of `write.write_table`.
    """
    return write_table(LanceDataset, data_obj, uri, schema, mode, **arguments)  # type: ignore[arg-type]
