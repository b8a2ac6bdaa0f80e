"""History: the versions of a dataset and what each of them did (face).

Has the names of pylance's `LanceDataset`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from lanceref.storage.manifests.manifest_names import VersionName, list_versions, name_of
from lanceref.table.manifest import Manifest
from lanceref.table.versions import open_named, open_version
from lanceref.transactions.commit import transaction_of
from lanceref.transactions.manifest_builder import Staged

from pylanceref.table_handle import OpenTable

if TYPE_CHECKING:
    from pylanceref.operation import Transaction


class Version(TypedDict):
    """A version: its number, when it was made in local time without zone, and numbers as text."""

    version: int
    timestamp: datetime
    metadata: dict[str, str]


class History(OpenTable):
    """The versions of a dataset."""

    @property
    def latest_version(self) -> int:
        """The latest version there is now."""
        return list_versions(self._snapshot.store, self._snapshot.ctx)[-1].version

    def versions(self) -> list[Version]:
        """Return every version, oldest first."""
        return [_described(manifest) for manifest in self._manifests()]

    def get_version(self) -> Version:
        """Return the version that is open."""
        return _described(self._snapshot.manifest)

    def version_refs(self) -> list[dict[str, int]]:
        """Return the number of every version, without opening them."""
        names = list_versions(self._snapshot.store, self._snapshot.ctx)
        return [{"version": name.version} for name in names]

    def checkout_latest(self) -> None:
        """Open the latest version of the branch."""
        self._move_to(None)

    def restore(self) -> None:
        """Make this version the latest one. Raises CommitConflict."""
        store, ctx = self._snapshot.store, self._ctx
        latest = list_versions(store, ctx)[-1].version
        transaction = self._new_transaction()
        transaction.read_version = latest
        transaction.restore.version = self.version
        self._commit(Staged(transaction))

    def read_transaction(self, version: int) -> Transaction | None:
        """Return what a version did; None when its transaction is gone. Raises NotFound."""
        return self._transaction(self._manifest(version))

    def get_transactions(self, recent_transactions: int = 10) -> list[Transaction | None]:
        """Return what the latest versions did, newest first."""
        newest = reversed(list_versions(self._snapshot.store, self._ctx))
        chosen = itertools.islice(newest, recent_transactions)
        return [self._transaction(self._named(name)) for name in chosen]

    def version_before(self, moment: datetime) -> int:
        """Return the latest version made before a moment. Raises ValueError for none."""
        found = [one.version for one in self._manifests() if one.timestamp < moment]
        if not found:
            raise ValueError(f"{moment} is earlier than the first version of this dataset")
        return max(found)

    def migrate_manifest_paths_v2(self) -> None:
        """Give all manifests names of the V2 scheme: a listing starts with the newest."""
        store = self._snapshot.store
        for name in reversed(list_versions(store, self._ctx)):
            if name.scheme == "V1":
                store.rename(name.path, name_of(name.version, "V2").path)
        self._move_to(self.version)

    def _manifests(self) -> Iterator[Manifest]:
        names = list_versions(self._snapshot.store, self._snapshot.ctx)
        return map(self._named, names)

    def _named(self, name: VersionName) -> Manifest:
        return open_named(self._snapshot.store, name, self._ctx)

    def _manifest(self, version: int) -> Manifest:
        return open_version(self._snapshot.store, version, self._ctx)

    def _transaction(self, manifest: Manifest) -> Transaction | None:
        from pylanceref.read_transaction import from_message

        message = transaction_of(self._snapshot.store, manifest, self._ctx)
        return None if message is None else from_message(message)


def _described(manifest: Manifest) -> Version:
    return {
        "version": manifest.version,
        "timestamp": manifest.timestamp,
        "metadata": manifest.summary(),
    }
