"""Clone: the first version of a table whose rows lie in another one.

A shallow clone names the root of its source as a base path and every file of it below that base; a
branch is a shallow clone below the root of its table. A deep clone copies the files. Either keeps
the version number of its source.

Clauses: L.txn.op.clone, L.table.base.unique, L.table.base.resolves

Divergences: D.table.clone-base-zero, D.table.base-id-elsewhere
"""

from __future__ import annotations

from dataclasses import dataclass

from lanceref.core.errors import AlreadyExists
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import Store
from lanceref.storage.manifests.manifest_names import FOLDER, name_of, write_hint
from lanceref.table.file_entries import Based, data_files_of
from lanceref.table.flags import STABLE_ROW_IDS, STICKY, set_flags
from lanceref.table.manifest import Manifest, encode_manifest, stamp
from lanceref.table.uncommitted_files import Draft
from lanceref.transactions.manifest_builder import WRITER, copy_of
from lanceref.transactions.transaction import new_transaction, transaction_name, write_transaction


@dataclass(frozen=True, slots=True)
class Source:
    """What is cloned: a version, and the absolute root of its table."""

    manifest: Manifest
    root: str

    @property
    def branch(self) -> str | None:
        """Its branch, None for the main one."""
        return self.manifest.message.branch or None


def write_shallow(store: Store, source: Source, branch: str | None = None) -> int:
    """Write the first version of a shallow clone, or of a branch; return its size in bytes.

    Raises AlreadyExists where there is a table.
    """
    message, indices, entries = _copy(source.manifest)
    base = max((one.id for one in message.base_paths), default=-1) + 1
    for entry in entries:
        if not entry.HasField("base_id"):
            entry.base_id = base
    message.base_paths.add(id=base, name=source.branch, is_dataset_root=True, path=source.root)
    return _write(store, source, message, indices, shallow=True, branch=branch)


def write_deep(store: Store, source: Source) -> int:
    """Write the version of a deep clone, whose files are there already; return its size."""
    message, indices, entries = _copy(source.manifest)
    for entry in entries:
        entry.ClearField("base_id")
    del message.base_paths[:]
    return _write(store, source, message, indices, shallow=False, branch=None)


def _copy(
    manifest: Manifest,
) -> tuple[table_pb2.Manifest, list[table_pb2.IndexMetadata], list[Based]]:
    """Return copies of a manifest and of its indices, and their entries that may name a base."""
    message, indices = copy_of(manifest.message), list(map(copy_of, manifest.indices))
    entries: list[Based] = [*indices]
    for fragment in message.fragments:
        entries += data_files_of(fragment)
        if fragment.HasField("deletion_file"):
            entries.append(fragment.deletion_file)
    return message, indices, entries


def _write(
    store: Store,
    source: Source,
    message: table_pb2.Manifest,
    indices: list[table_pb2.IndexMetadata],
    *,
    shallow: bool,
    branch: str | None,
) -> int:
    """Write transaction and manifest; return the size of the manifest."""
    version = source.manifest.version
    message.ClearField("branch")
    if branch is not None:
        message.branch = branch
    transaction = new_transaction(version)
    transaction.clone.CopyFrom(
        Transaction.Clone(
            is_shallow=shallow,
            ref_name=source.branch,
            ref_version=version,
            ref_path=source.root,
            branch_name=branch,
        )
    )
    set_flags(message, message.reader_feature_flags & (STABLE_ROW_IDS | STICKY))
    message.transaction_file = transaction_name(transaction)
    message.writer_version.CopyFrom(WRITER)
    stamp(message)
    data = encode_manifest(message, transaction, indices, source.manifest.dictionaries)
    if next(iter(store.list(FOLDER)), None) is not None:
        raise AlreadyExists(f"Dataset already exists: {store.root}")
    with Draft() as draft:
        write_transaction(store, transaction, draft)
        files = draft.hand_over()
        if not store.put_if_absent(name_of(version, "V2").path, data):
            draft.add(*files)
            raise AlreadyExists(f"Dataset already exists: {store.root}")
    write_hint(store, version)
    return len(data)
