"""Commits: operations that distributed writers commit by hand (face of `lance.commit`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lanceref.core.errors import CommitConflictError, DataRefused, NotStorable
from lanceref.core.file_versions import FROM_WORDS, V0_1, version_named
from lanceref.storage import store_options
from lanceref.storage.protocol import CommitLock
from lanceref.transactions.commit import RETRIES, CommitPolicy, commit
from lanceref.transactions.manifest_builder import Staged, storage_version_of
from lanceref.transactions.transaction import MESSAGE_KEY

from pylanceref.metadata import FragmentMetadata
from pylanceref.operation import LanceOperation, Transaction
from pylanceref.table_handle import OpenTable, T
from pylanceref.transactions import lance_schema, to_message
from pylanceref.write import Destination, Target, committed, open_target

__all__ = ["CommitConflictError", "CommitLock"]


def commit_operation(
    kind: type[T],
    base_uri: Destination,
    operation: LanceOperation.BaseOperation | Transaction,
    read_version: int | None = None,
    commit_lock: CommitLock | None = None,
    storage_options: dict[str, str] | None = None,
    enable_v2_manifest_paths: bool | None = None,
    detached: bool | None = False,
    max_retries: int = RETRIES,
    *,
    commit_message: str | None = None,
    enable_stable_row_ids: bool | None = None,
) -> T:
    """Commit an operation and return the new version, as an object of a class.

    Raises ValueError for an operation without a read version that needs one, TypeError for
    something else than an operation, NotFound without a table, DataRefused for an operation that
    does not fit it, and CommitConflict.
    """
    target = open_target(base_uri, store_options(storage_options, commit_lock))
    if isinstance(operation, Transaction):
        if commit_message is not None:
            raise ValueError("commit_message is not supported with a Transaction")
        given = operation
    elif isinstance(operation, LanceOperation.BaseOperation):
        properties = {} if commit_message is None else {MESSAGE_KEY: commit_message}
        is_free = isinstance(operation, LanceOperation.Overwrite | LanceOperation.Restore)
        if read_version is None and not is_free:
            raise ValueError("read_version is required for all operations but Overwrite, Restore")
        latest = 0 if target.base is None else target.base.version
        read = latest if read_version is None else read_version
        given = Transaction(read, operation, transaction_properties=properties)
    else:
        raise TypeError(f"operation must be an operation, got {type(operation)}")
    policy = CommitPolicy(
        "V1" if enable_v2_manifest_paths is False else "V2",
        retries=max_retries,
        lock=commit_lock,
        detached=bool(detached),
    )
    staged = _stage(target, given, bool(enable_stable_row_ids))
    return committed(kind, target, commit(target.store, staged, policy, target.ctx))


def commit_batch(
    kind: type[OpenTable],
    /,
    dest: Destination,
    transactions: Sequence[Transaction],
    **kwargs: object,
) -> dict[str, object]:
    """Commit several Appends as one, and return the new version and that one.

    Raises ValueError for none, NotImplementedError for others.
    """
    if not transactions:
        raise ValueError("No transactions to commit")
    fragments: list[FragmentMetadata] = []
    for one in transactions:
        if not isinstance(one.operation, LanceOperation.Append):
            raise NotImplementedError("Only Append transactions are supported in batch commits")
        fragments.extend(one.operation.fragments)
    read = min(one.read_version for one in transactions)
    merged = Transaction(read, LanceOperation.Append(fragments))
    made = commit_operation(kind, dest, merged, **kwargs)  # type: ignore[arg-type]
    return {"dataset": made, "merged": merged}


def _stage(target: Target, given: Transaction, stable_row_ids: bool) -> Staged:
    operation, message = given.operation, to_message(given)
    if isinstance(operation, LanceOperation.Overwrite):
        schema = lance_schema(operation.new_schema)
        version = version_named(None)  # unless the table, or else its first file, has another one
        files = [file for one in message.overwrite.fragments for file in one.files]
        if target.base is not None:
            version = storage_version_of(target.base.message)
        elif files:
            words = files[0].file_major_version, files[0].file_minor_version
            if words not in FROM_WORDS:
                raise DataRefused(f"{files[0].path} has the unknown file version {words}")
            version = FROM_WORDS[words]
        if version == V0_1 and any(one.dictionary is not None for one in schema.flat()):
            raise NotStorable("dictionaries of a 0.1 table are committed by write_dataset only")
        return Staged(message, schema, version, stable_row_ids)
    if not isinstance(operation, LanceOperation.Project | LanceOperation.Merge):
        return Staged(message)
    schema, is_merge = lance_schema(operation.schema), isinstance(operation, LanceOperation.Merge)
    if not (is_merge or schema.metadata) and target.base is not None:
        schema = replace(schema, metadata=target.base.schema.metadata)
    return Staged(message, schema)
