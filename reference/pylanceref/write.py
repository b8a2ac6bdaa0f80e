"""Writing: new files of a table, committed as its next version or not (face)."""

from __future__ import annotations

from typing import Literal, Unpack

import pyarrow as pa
from lanceref.operations.cleanup import AutoCleanupConfig, cleanup_config
from lanceref.storage import store_options
from lanceref.storage.protocol import CommitLock, Draft
from lanceref.transactions.commit import CommitPolicy, commit
from lanceref.transactions.manifest_builder import Staged
from lanceref.transactions.transaction import MESSAGE_KEY, new_append, new_overwrite

from pylanceref.metadata import FragmentMetadata
from pylanceref.table_handle import OpenTable, Session, T, session_of
from pylanceref.write_rows import (
    Destination,
    FileArguments,
    Written,
    committed,
    open_target,
    write_rows,
)

Mode = Literal["create", "append", "overwrite"]


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
    options = store_options(files.get("storage_options"), commit_lock)
    shared = _session_of(uri, session)
    config = cleanup_config(auto_cleanup_options)
    written = write_rows(data_obj, open_target(uri, options), schema, mode, **files)
    properties = dict(transaction_properties or {})
    if commit_message is not None:
        properties[MESSAGE_KEY] = commit_message
    staged = stage(written, properties, stable_row_ids=enable_stable_row_ids)
    target = written.target
    if target.base is None:
        for key, text in config.items():
            staged.transaction.overwrite.config_upsert_values[key] = text
    scheme: Literal["V1", "V2"] = "V2" if enable_v2_manifest_paths else "V1"
    policy = CommitPolicy(scheme, mode == "create", lock=commit_lock)
    made = committed(kind, target, commit(target.store, staged, policy, target.ctx))
    return made.within(shared)


def _session_of(uri: Destination, session: Session | None) -> Session | None:
    """Return the session of what is written: an opened table has its own. Raises ValueError."""
    given = session_of(session)
    if not isinstance(uri, OpenTable):
        return given
    if given is not None and not given.is_same_as(uri.session()):
        raise ValueError("The given session is not the destination dataset's own session")
    return uri.session()


def stage(
    written: Written, properties: dict[str, str] | None = None, *, stable_row_ids: bool = False
) -> Staged:
    """Return the transaction of new files, ready to be committed."""
    base, plan, new = written.target.base, written.plan, written.files
    read = 0 if base is None else base.version
    if plan.appends:
        transaction = new_append(read, new.fragments, properties)
    else:
        transaction = new_overwrite(read, new.fragments, plan.table, properties)
    if base is None:
        transaction.overwrite.initial_bases.extend(written.bases)
    draft = Draft(new.paths)
    return Staged(
        transaction, plan.table, plan.version, stable_row_ids, new.dictionaries, draft=draft
    )


def write_fragments(
    data: object,
    dataset_uri: Destination,
    schema: pa.Schema | None = None,
    *,
    mode: str = "append",
    session: Session | None = None,
    **files: Unpack[FileArguments],
) -> list[FragmentMetadata]:
    """Write rows as data files and return their fragments, which a transaction may list."""
    _session_of(dataset_uri, session)
    options = store_options(files.get("storage_options"))
    written = write_rows(data, open_target(dataset_uri, options), schema, mode, **files)
    return [FragmentMetadata.from_message(fragment) for fragment in written.files.fragments]
