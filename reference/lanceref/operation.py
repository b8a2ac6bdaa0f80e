"""Operations: what distributed writers commit by hand (face).

Has the names of pylance's `LanceOperation` and `Transaction`: fragments are written anywhere, by
`write_fragments`, and become part of a table by one commit.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from lanceref.dataset import LanceDataset
from lanceref.errors import DataRefused, NotStorable
from lanceref.file.schema import LanceSchema
from lanceref.file.schema_write import schema_of
from lanceref.file.versions import FROM_WORDS, V0_1, FileVersion, version_named
from lanceref.fragment import FragmentMetadata
from lanceref.proto import table_pb2
from lanceref.table.data_files import with_dictionaries
from lanceref.table.naming import Scheme
from lanceref.txn.commit import RETRIES, CommitPolicy, commit
from lanceref.txn.next_version import Staged, storage_version_of
from lanceref.txn.transaction import new_append, new_overwrite
from lanceref.write import MESSAGE_KEY, Destination, Target, committed, open_target


class LanceOperation:
    """The operations."""

    @dataclass(frozen=True, slots=True)
    class Append:
        """Rows behind those the table has."""

        fragments: Iterable[FragmentMetadata]

    @dataclass(frozen=True, slots=True)
    class Overwrite:
        """Rows and schema in place of those the table has, or of a new table."""

        new_schema: LanceSchema | pa.Schema
        fragments: Iterable[FragmentMetadata]


Operation = LanceOperation.Append | LanceOperation.Overwrite


@dataclass(frozen=True, slots=True)
class Transaction:
    """An operation, and the version it was made for."""

    read_version: int
    operation: Operation
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    transaction_properties: dict[str, str] = field(default_factory=dict)


def commit_operation(
    base_uri: Destination,
    operation: Operation | Transaction,
    read_version: int | None = None,
    *,
    enable_v2_manifest_paths: bool | None = None,
    max_retries: int = RETRIES,
    commit_message: str | None = None,
    enable_stable_row_ids: bool | None = None,
) -> LanceDataset:
    """Commit an operation and return the new version.

    Raises ValueError for an Append without a read version, TypeError for something else than an
    operation, NotFound for an Append to nothing, and CommitConflict.
    """
    target = open_target(base_uri)
    if isinstance(operation, Transaction):
        if commit_message is not None:
            raise ValueError(
                "commit_message is not supported when calling commit with a Transaction"
            )
        given = operation
    elif isinstance(operation, Operation):
        properties = {} if commit_message is None else {MESSAGE_KEY: commit_message}
        read = _read_version(target, operation, read_version)
        given = Transaction(read, operation, transaction_properties=properties)
    else:
        raise TypeError(f"operation must be an operation or Transaction, got {type(operation)}")
    scheme: Scheme = "V1" if enable_v2_manifest_paths is False else "V2"
    staged = _stage(target, given, bool(enable_stable_row_ids))
    policy = CommitPolicy(scheme, retries=max_retries)
    return committed(target, commit(target.store, staged, policy, target.ctx))


def _read_version(target: Target, operation: Operation, read_version: int | None) -> int:
    if read_version is not None:
        return read_version
    if isinstance(operation, LanceOperation.Append):
        raise ValueError("read_version is required for all operations except Overwrite and Restore")
    return 0 if target.base is None else target.base.version


def _stage(target: Target, given: Transaction, stable_row_ids: bool) -> Staged:
    operation = given.operation
    fragments = [fragment.to_message() for fragment in operation.fragments]
    version = _version_of(target, fragments)
    if isinstance(operation, LanceOperation.Append):
        schema = LanceSchema(()) if target.base is None else target.base.schema
        message = new_append(given.read_version, fragments, given.transaction_properties)
    else:
        schema = _schema_of(operation.new_schema)
        message = new_overwrite(given.read_version, fragments, schema, given.transaction_properties)
    if version == V0_1 and any(one.dictionary is not None for one in schema.flat()):
        raise NotStorable("dictionaries of a 0.1 table are committed by write_dataset only")
    message.uuid = given.uuid
    return Staged(message, schema, version, stable_row_ids)


def _schema_of(schema: LanceSchema | pa.Schema) -> LanceSchema:
    return schema if isinstance(schema, LanceSchema) else with_dictionaries(schema_of(schema))


def _version_of(target: Target, fragments: Iterable[table_pb2.DataFragment]) -> FileVersion:
    """Return the storage version of the table: its own, or that of the first file."""
    if target.base is not None:
        return storage_version_of(target.base)
    for fragment in fragments:
        for file in fragment.files:
            words = file.file_major_version, file.file_minor_version
            if words not in FROM_WORDS:
                raise DataRefused(f"{file.path} has the unknown file version {words}")
            return FROM_WORDS[words]
    return version_named(None)
