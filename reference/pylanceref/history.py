"""History and settings: versions of a dataset, their removal, config and metadata (face)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypedDict

from lanceref import operations
from lanceref.core.errors import OperationRefused
from lanceref.core.integers import unsigned
from lanceref.operations.cleanup import Cleanup, CleanupStats
from lanceref.storage.manifests.manifest_names import VersionName, list_versions, name_of
from lanceref.table.manifest import Manifest, open_named, open_version
from lanceref.transactions.commit import transaction_of
from lanceref.transactions.manifest_builder import Staged

from pylanceref.operation import DatasetBasePath, LanceOperation, Transaction
from pylanceref.table_handle import OpenTable, T
from pylanceref.transactions import base_messages, base_of, from_message, map_message, to_message

DEFAULT_AGE = timedelta(days=14)
"""Versions older than this go, unless the caller says otherwise."""


class Version(TypedDict):
    """A version: its number, when it was made in local time without zone, and numbers as text."""

    version: int
    timestamp: datetime
    metadata: dict[str, str]


def latest_version(table: OpenTable) -> int:
    """The number of the latest version that the table has now."""
    return _names(table)[-1].version


def versions(table: OpenTable) -> list[Version]:
    """Return every version of the table, the oldest first."""
    return [_described(_named(table, name)) for name in _names(table)]


def get_version(table: OpenTable) -> Version:
    """Return number, time and metadata of the version that is open."""
    return _described(table._snapshot.manifest)


def version_refs(table: OpenTable) -> list[dict[str, int]]:
    """Return the number of every version, without opening them."""
    return [{"version": name.version} for name in _names(table)]


def checkout_latest(table: OpenTable) -> None:
    """Open the latest version of the branch."""
    table._move_to(None)


def restore(table: OpenTable) -> None:
    """Make this version the latest one. Raises CommitConflict."""
    transaction = table._new_transaction()
    transaction.read_version = latest_version(table)
    transaction.restore.version = table.version
    table._commit(Staged(transaction))


def read_transaction(table: OpenTable, version: int) -> Transaction | None:
    """Return what a version did; None when its transaction is gone. Raises NotFound."""
    return _transaction(table, open_version(table._snapshot.store, version, table._ctx))


def get_transactions(table: OpenTable, recent_transactions: int = 10) -> list[Transaction | None]:
    """Return what the latest versions did, newest first."""
    newest = _names(table)[::-1][:recent_transactions]
    return [_transaction(table, _named(table, name)) for name in newest]


def version_before(table: OpenTable, moment: datetime) -> int:
    """Return the latest version made before a moment. Raises ValueError for none."""
    for manifest in map(partial(_named, table), reversed(_names(table))):
        if made_at(manifest) < moment:
            return manifest.version
    raise ValueError(f"{moment} is earlier than the first version of this dataset")


def migrate_manifest_paths_v2(table: OpenTable) -> None:
    """Give all manifests names of the V2 scheme: a listing starts with the newest."""
    store = table._snapshot.store
    for name in reversed(_names(table)):
        if name.scheme == "V1":
            store.rename(name.path, name_of(name.version, "V2").path)
    table._move_to(table.version)


def _names(table: OpenTable) -> list[VersionName]:
    return list_versions(table._snapshot.store, table._ctx)


def _named(table: OpenTable, name: VersionName) -> Manifest:
    return open_named(table._snapshot.store, name, table._ctx)


def _transaction(table: OpenTable, manifest: Manifest) -> Transaction | None:
    message = transaction_of(table._snapshot.store, manifest, table._ctx)
    return None if message is None else from_message(message)


def cleanup_old_versions(
    table: OpenTable,
    older_than: timedelta | None = None,
    retain_versions: int | None = None,
    *,
    delete_unverified: bool = False,
    error_if_tagged_old_versions: bool = True,
    versions: Sequence[int] | None = None,
) -> CleanupStats:
    """Remove old versions, or those listed, and the files only they need.

    Raises OperationRefused for a version with a tag and for a number below 1.
    """
    if older_than is None and retain_versions is None and versions is None:
        older_than = DEFAULT_AGE
    if retain_versions is not None and unsigned(retain_versions) == 0:
        raise OperationRefused("retain_versions must be greater than 0, got 0")
    cleanup = Cleanup(table._snapshot, table._root)
    plan = cleanup.plan(
        older_than,
        retain_versions,
        versions,
        delete_unverified=delete_unverified,
        error_if_tagged_old_versions=error_if_tagged_old_versions,
    )
    return cleanup.carry_out(plan)


def _described(manifest: Manifest) -> Version:
    return {
        "version": manifest.version,
        "timestamp": made_at(manifest),
        "metadata": summary_of(manifest),
    }


def made_at(manifest: Manifest) -> datetime:
    """Return when a version was made, in local time without a zone: by floats, as in pylance."""
    stamp = manifest.message.timestamp
    nanos = stamp.seconds * 10**9 + stamp.nanos
    return datetime.fromtimestamp(nanos // 1e9) + timedelta(microseconds=(nanos % 1e9) // 1e3)


def summary_of(manifest: Manifest) -> dict[str, str]:
    """Return the numbers of fragments, files, rows and bytes of a version, as text by name."""
    fragments = manifest.fragments
    files = [file for fragment in fragments for file in fragment.files]
    deleted = sum(fragment.num_deleted for fragment in fragments)
    rows = sum(fragment.physical_rows for fragment in fragments)
    counts = {
        "total_data_file_rows": rows,
        "total_data_files": len(files),
        "total_deletion_file_rows": deleted,
        "total_deletion_files": sum(one.deletion_file is not None for one in fragments),
        "total_files_size": sum(file.size_bytes for file in files),
        "total_fragments": len(fragments),
        "total_rows": rows - deleted,
    }
    return {name: str(count) for name, count in counts.items()}


Edit = Mapping[str, str | None]
"""Values by key; None takes the key out."""


def update_config(table: OpenTable, values: Edit, *, replace: bool = False) -> dict[str, str]:
    """Set some keys of the config, and return all of it."""
    return _edit(table, "config_updates", values, replace=replace).config()


def delete_config_keys(table: OpenTable, keys: Sequence[str]) -> None:
    """Commit a version whose config lacks some keys."""
    _edit(table, "config_updates", dict.fromkeys(keys), replace=False)


def update_metadata(table: OpenTable, values: Edit, *, replace: bool = False) -> dict[str, str]:
    """Edit the table metadata and return it."""
    return _edit(table, "table_metadata_updates", values, replace=replace).metadata


def update_schema_metadata(
    table: OpenTable, values: Edit, *, replace: bool = False
) -> dict[str, str]:
    """Edit the metadata of the schema and return it."""
    return _edit(table, "schema_metadata_updates", values, replace=replace).schema_metadata


def update_field_metadata(
    table: OpenTable, field_updates: Mapping[str, Edit], *, replace: bool = False
) -> None:
    """Edit the metadata of fields, given by their paths. Raises OperationRefused."""
    transaction, schema = table._new_transaction(), table._snapshot.manifest.schema
    transaction.update_config.SetInParent()
    updates = transaction.update_config.field_metadata_updates
    for path, values in field_updates.items():
        if not isinstance(path, str):
            raise TypeError(f"field_updates: {type(path).__name__!r} is not 'str'")
        field = operations.alter_table.find_field(schema, path)
        if field is None:
            names = [one.name for one in schema.fields]
            raise OperationRefused(f"Field '{path}' not found.\nAvailable fields: {names}")
        updates[field.id].CopyFrom(map_message(LanceOperation.UpdateMap(values, replace)))
    table._commit(Staged(transaction))


def base_paths(table: OpenTable) -> dict[int, DatasetBasePath]:
    """Return the base paths of the table by their ids."""
    return {one.id: base_of(one) for one in table._snapshot.manifest.message.base_paths}


def add_bases(
    table: T,
    new_bases: Sequence[DatasetBasePath],
    transaction_properties: Mapping[str, str] | None = None,
) -> T:
    """Add base paths, and return the dataset. Raises OperationRefused for one there is."""
    transaction = table._new_transaction()
    transaction.transaction_properties.update(transaction_properties or {})
    transaction.update_bases.SetInParent()
    transaction.update_bases.new_bases.extend(base_messages(new_bases, None))
    table._commit(Staged(transaction))
    return table


def _edit(table: OpenTable, name: str, values: Edit, *, replace: bool) -> OpenTable:
    """Commit an edit of one of the maps, and return the table."""
    operation = LanceOperation.UpdateConfig()
    setattr(operation, name, LanceOperation.UpdateMap(values, replace))
    table._commit(Staged(to_message(Transaction(table.version, operation))))
    return table
