"""History and settings: versions of a dataset, their removal, config and metadata (face).

Has the names of pylance's `LanceDataset`. Config, table metadata, schema metadata and the metadata
of fields are maps of their own, each edited by a commit.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self, TypedDict

from lanceref import operations
from lanceref.core.errors import CleanupRefused, OperationRefused
from lanceref.core.integers import unsigned
from lanceref.operations.cleanup import Cleanup, CleanupExplanation, CleanupPlan, CleanupStats
from lanceref.storage.manifests.manifest_names import VersionName, list_versions, name_of
from lanceref.table.manifest import Manifest, open_named, open_version
from lanceref.transactions.commit import transaction_of
from lanceref.transactions.manifest_builder import Staged

from pylanceref.signatures import parameters
from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    from lanceref.proto import transaction_pb2

    from pylanceref.operation import DatasetBasePath, Transaction


DEFAULT_AGE = timedelta(days=14)
"""Versions older than this go, unless the caller says otherwise."""


CLEANUP = (
    "self older_than retain_versions * delete_unverified error_if_tagged_old_versions "
    "delete_rate_limit versions"
)
CLEANUP_DEFAULTS = {"delete_unverified": False, "error_if_tagged_old_versions": True}
"""Parameters of a cleanup, and defaults."""


class Version(TypedDict):
    """A version: its number, when it was made in local time without zone, and numbers as text."""

    version: int
    timestamp: datetime
    metadata: dict[str, str]


class History(OpenTable):
    """The versions of a dataset, and going back to one of them."""

    @property
    def latest_version(self) -> int:
        """The number of the latest version that the table has now."""
        return self._names()[-1].version

    def versions(self) -> list[Version]:
        """Return every version of the table, the oldest first."""
        return [_described(self._named(name)) for name in self._names()]

    def get_version(self) -> Version:
        """Return number, time and metadata of the version that is open."""
        return _described(self._snapshot.manifest)

    def version_refs(self) -> list[dict[str, int]]:
        """Return the number of every version, without opening them."""
        return [{"version": name.version} for name in self._names()]

    def checkout_latest(self) -> None:
        """Open the latest version of the branch."""
        self._move_to(None)

    def restore(self) -> None:
        """Make this version the latest one. Raises CommitConflict."""
        transaction = self._new_transaction()
        transaction.read_version = self.latest_version
        transaction.restore.version = self.version
        self._commit(Staged(transaction))

    def read_transaction(self, version: int) -> Transaction | None:
        """Return what a version did; None when its transaction is gone. Raises NotFound."""
        return self._transaction(open_version(self._snapshot.store, version, self._ctx))

    def get_transactions(self, recent_transactions: int = 10) -> list[Transaction | None]:
        """Return what the latest versions did, newest first."""
        newest = self._names()[::-1][:recent_transactions]
        return [self._transaction(self._named(name)) for name in newest]

    def version_before(self, moment: datetime) -> int:
        """Return the latest version made before a moment. Raises ValueError for none."""
        for manifest in map(self._named, reversed(self._names())):
            if manifest.timestamp < moment:
                return manifest.version
        raise ValueError(f"{moment} is earlier than the first version of this dataset")

    def migrate_manifest_paths_v2(self) -> None:
        """Give all manifests names of the V2 scheme: a listing starts with the newest."""
        store = self._snapshot.store
        for name in reversed(self._names()):
            if name.scheme == "V1":
                store.rename(name.path, name_of(name.version, "V2").path)
        self._move_to(self.version)

    def _names(self) -> list[VersionName]:
        return list_versions(self._snapshot.store, self._ctx)

    def _named(self, name: VersionName) -> Manifest:
        return open_named(self._snapshot.store, name, self._ctx)

    def _transaction(self, manifest: Manifest) -> Transaction | None:
        from pylanceref.transactions import from_message

        message = transaction_of(self._snapshot.store, manifest, self._ctx)
        return None if message is None else from_message(message)

    @parameters(f"{CLEANUP} delete_concurrency", **CLEANUP_DEFAULTS)
    def cleanup_old_versions(
        self,
        *,
        delete_rate_limit: int | None = None,
        delete_concurrency: int | None = None,
        **which: object,
    ) -> CleanupStats:
        """Remove old versions and the files only they need.

        A version goes when it is older than the open one and than `older_than` and not among the
        latest `retain_versions`, or listed in `versions`. At most `delete_rate_limit` files go in a
        second, one after the other whatever `delete_concurrency` says. Raises CleanupRefused for a
        version with a tag and for a number below 1.
        """
        if delete_rate_limit is not None and unsigned(delete_rate_limit) == 0:
            raise CleanupRefused("delete_rate_limit must be greater than 0, got 0")
        if delete_concurrency is not None and not 0 < unsigned(delete_concurrency) < 2**61:
            raise CleanupRefused(f"delete_concurrency must be from 1 on, got {delete_concurrency}")
        plan = self._cleanup_plan(**which)  # type: ignore[arg-type]
        return Cleanup(self._snapshot, self._root).carry_out(plan, delete_rate_limit)

    @parameters(f"{CLEANUP} include_files max_files", **CLEANUP_DEFAULTS)
    def explain_cleanup_old_versions(
        self,
        *,
        include_files: bool = False,
        max_files: int = 1000,
        delete_rate_limit: int | None = None,
        **which: object,
    ) -> CleanupExplanation:
        """Return what a cleanup with the same arguments would remove; up to `max_files` are named.

        Raises as `cleanup_old_versions`, and ValueError for no files at most.
        """
        if max_files <= 0:
            raise ValueError("max_files must be positive")
        plan = self._cleanup_plan(**which)  # type: ignore[arg-type]
        files = plan.candidates if include_files else []
        cut, branches = len(files) > max_files, Cleanup(self._snapshot, self._root).branches
        return CleanupExplanation(
            self.version, plan.stats, files[:max_files], cut, max_files, branches
        )

    def _cleanup_plan(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        versions: Sequence[int] | None = None,
        **kinds: bool,
    ) -> CleanupPlan:
        """Return what a cleanup removes. Raises CleanupRefused."""
        if older_than is None and retain_versions is None and versions is None:
            older_than = DEFAULT_AGE
        if retain_versions is not None and unsigned(retain_versions) == 0:
            raise CleanupRefused("retain_versions must be greater than 0, got 0")
        plan, given = Cleanup(self._snapshot, self._root).plan, {**CLEANUP_DEFAULTS, **kinds}
        return plan(older_than, retain_versions, versions, **given)


def _described(manifest: Manifest) -> Version:
    return {
        "version": manifest.version,
        "timestamp": manifest.timestamp,
        "metadata": manifest.summary(),
    }


def sanitize_ts(ts: datetime | str) -> datetime:
    """Return a moment; text is in the form of ISO 8601. Raises TypeError, ValueError."""
    if isinstance(ts, str):
        return datetime.fromisoformat(ts)
    if not isinstance(ts, datetime):
        raise TypeError(f"Unrecognized version timestamp {ts} of type {type(ts)}")
    to_pydatetime = getattr(ts, "to_pydatetime", None)  # a moment of pandas
    return ts if to_pydatetime is None else to_pydatetime()


Edit = Mapping[str, str | None]
"""Values by key; None takes the key out."""


class Settings(OpenTable):
    """The settings of a dataset: config, metadata of table and schema, bases."""

    def config(self) -> dict[str, str]:
        """Return the config of the table, text by text."""
        return dict(self._snapshot.manifest.message.config)

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of the table, text by text."""
        return dict(self._snapshot.manifest.message.table_metadata)

    @property
    def schema_metadata(self) -> dict[str, str]:
        """The metadata of the table's schema, text by text."""
        return dict(self._snapshot.manifest.schema.metadata)

    def update_config(self, values: Edit, *, replace: bool = False) -> dict[str, str]:
        """Set some keys of the config, and return all of it."""
        self._edit("config_updates", values, replace=replace)
        return self.config()

    def delete_config_keys(self, keys: Sequence[str]) -> None:
        """Commit a version whose config lacks some keys."""
        self._edit("config_updates", dict.fromkeys(keys), replace=False)

    def update_metadata(self, values: Edit, *, replace: bool = False) -> dict[str, str]:
        """Edit the table metadata and return it."""
        self._edit("table_metadata_updates", values, replace=replace)
        return self.metadata

    def update_schema_metadata(self, values: Edit, *, replace: bool = False) -> dict[str, str]:
        """Edit the metadata of the schema and return it."""
        self._edit("schema_metadata_updates", values, replace=replace)
        return self.schema_metadata

    def replace_schema_metadata(self, new_metadata: Mapping[str, str]) -> None:
        """Put other metadata in place of that of the schema."""
        told = (
            "replace_schema_metadata is deprecated: use update_schema_metadata(..., replace=True)"
        )
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        self._edit("schema_metadata_updates", new_metadata, replace=True)

    def update_field_metadata(
        self, field_updates: Mapping[str, Edit], *, replace: bool = False
    ) -> None:
        """Edit the metadata of fields, given by their paths. Raises OperationRefused."""
        transaction, schema = self._new_transaction(), self._snapshot.manifest.schema
        transaction.update_config.SetInParent()
        updates = transaction.update_config.field_metadata_updates
        for path, values in field_updates.items():
            if not isinstance(path, str):
                raise TypeError(f"field_updates: {type(path).__name__!r} is not 'str'")
            field = operations.schema_evolution.find_field(schema, path)
            if field is None:
                names = [one.name for one in schema.fields]
                raise OperationRefused(f"Field '{path}' not found.\nAvailable fields: {names}")
            updates[field.id].CopyFrom(_update(values, replace=replace))
        self._commit(Staged(transaction))

    def replace_field_metadata(self, field_name: str, new_metadata: Mapping[str, str]) -> None:
        """Put other metadata in place of that of a field. Raises OperationRefused."""
        told = "replace_field_metadata is deprecated: use update_field_metadata(..., replace=True)"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        self.update_field_metadata({field_name: new_metadata}, replace=True)

    def base_paths(self) -> dict[int, DatasetBasePath]:
        """Return the base paths of the table by their ids."""
        from pylanceref.transactions import base_of

        return {one.id: base_of(one) for one in self._snapshot.manifest.message.base_paths}

    def add_bases(
        self,
        new_bases: Sequence[DatasetBasePath],
        transaction_properties: Mapping[str, str] | None = None,
    ) -> Self:
        """Add base paths, and return the dataset. Raises OperationRefused for one there is."""
        from pylanceref.transactions import base_messages

        transaction = self._new_transaction()
        transaction.transaction_properties.update(transaction_properties or {})
        transaction.update_bases.SetInParent()
        transaction.update_bases.new_bases.extend(base_messages(new_bases, None))
        self._commit(Staged(transaction))
        return self

    def _edit(self, name: str, values: Edit, *, replace: bool) -> None:
        transaction = self._new_transaction()
        transaction.update_config.SetInParent()
        getattr(transaction.update_config, name).CopyFrom(_update(values, replace=replace))
        self._commit(Staged(transaction))


def _update(values: Edit, *, replace: bool) -> transaction_pb2.Transaction.UpdateMap:
    """Return an edit as a transaction holds it."""
    from pylanceref.operation import LanceOperation
    from pylanceref.transactions import map_message

    return map_message(LanceOperation.UpdateMap(values, replace))
