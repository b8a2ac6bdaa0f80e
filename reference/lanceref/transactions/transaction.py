"""Transaction file: the record of one commit.

`_transactions/{read_version}-{uuid}.txn` is a bare `Transaction` message, without length or footer.
The manifest carries the same message inline; where the two differ, the inline one counts. A reader
needs neither.

Clauses: L.txn.file.message, L.txn.file.name, L.txn.inline.wins, L.txn.inline.same

Divergences: D.txn.inline-transaction
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from lanceref.core.context import Context
from lanceref.core.cursor import FileBytes, parse_message
from lanceref.core.errors import OperationRefused
from lanceref.file.arrow_schema import field_message
from lanceref.file.schema import LanceSchema
from lanceref.proto import table_pb2
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import Source, Store
from lanceref.storage.protocol import Draft

FOLDER = "_transactions"

MESSAGE_KEY = "__lance_commit_message"
"""Property that holds the message of a commit."""


def open_transaction(source: Source, ctx: Context) -> Transaction:
    """Read and parse one transaction file. Raises BadProto."""
    clause = "L.txn.file.message"
    cursor = FileBytes(source, ctx.during("metadata")).whole("transaction", clause)
    return parse_message(cursor, Transaction, "transaction", clause)


def new_append(
    read_version: int,
    fragments: Iterable[table_pb2.DataFragment],
    properties: Mapping[str, str] | None = None,
) -> Transaction:
    """Return an Append of fragments without ids, under a UUID of its own."""
    message = new_transaction(read_version, properties)
    message.append.CopyFrom(Transaction.Append(fragments=fragments))
    return message


def new_overwrite(
    read_version: int,
    fragments: Iterable[table_pb2.DataFragment],
    schema: LanceSchema,
    properties: Mapping[str, str] | None = None,
) -> Transaction:
    """Return an Overwrite, `read_version` 0 where there was no table."""
    message = new_transaction(read_version, properties)
    fields = [field_message(field) for field in schema.flat()]
    message.overwrite.CopyFrom(Transaction.Overwrite(fragments=fragments, schema=fields))
    return message


def new_transaction(read_version: int, properties: Mapping[str, str] | None = None) -> Transaction:
    """Return a transaction without an operation, under a UUID of its own."""
    return Transaction(
        read_version=read_version,
        uuid=str(uuid.uuid4()),
        transaction_properties=dict(properties or {}),
    )


def transaction_name(message: Transaction) -> str:
    """Return the name of a transaction's file."""
    return f"{message.read_version}-{message.uuid}.txn"


def write_transaction(store: Store, message: Transaction, draft: Draft) -> str:
    """Write the file of a transaction; return its name below the folder.

    Raises OperationRefused for an id that cannot be part of a file's name.
    """
    name = transaction_name(message)
    if "/" in name or "\0" in name:
        raise OperationRefused(f"transaction id {message.uuid!r:.80} is no part of a file's name")
    draft.add((store, f"{FOLDER}/{name}"))
    store.put(f"{FOLDER}/{name}", message.SerializeToString(deterministic=True))
    return name


def check_transaction(source: Source, ctx: Context) -> None:
    """Parse a transaction file, and compare its name. Raises BadProto."""
    check_name(open_transaction(source, ctx), source, ctx)


def check_name(message: Transaction, source: Source, ctx: Context) -> None:
    """Compare the name of a transaction file with its content."""
    name, wanted = PurePosixPath(source.path).name, transaction_name(message)
    if name != wanted:
        ctx.lint("L.txn.file.name", ctx.at(0, source.size), name, wanted)
