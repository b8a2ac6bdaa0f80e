"""Transaction file: the record of one commit.

`_transactions/{read_version}-{uuid}.txn` is a bare `Transaction` message, without length or footer.
The manifest carries the same message inline; where the two differ, the inline one counts. A reader
needs neither.

Clauses: L.txn.file.message, L.txn.file.name, L.txn.inline.wins

Divergences: D.txn.inline-transaction
"""

from __future__ import annotations

from pathlib import PurePosixPath

from lanceref.context import Context
from lanceref.cursor import Extent, FileBytes
from lanceref.proto.transaction_pb2 import Transaction
from lanceref.storage import Source
from lanceref.wire import parse_message

FOLDER = "_transactions"


def open_transaction(source: Source, ctx: Context) -> Transaction:
    """Parse a transaction file. Raises BadProto."""
    file = FileBytes(source, ctx.during("metadata"))
    clause = "L.txn.file.message"
    cursor = file.cursor(Extent(0, file.size), "transaction", clause)
    return parse_message(cursor, Transaction, "transaction", clause)


def check_transaction(source: Source, ctx: Context) -> None:
    """Parse a transaction file for `explain` and `validate`, and hold its name against it."""
    with ctx.piece():
        check_name(open_transaction(source, ctx), source, ctx)


def check_name(message: Transaction, source: Source, ctx: Context) -> None:
    """Hold the name of a transaction file against what the file says."""
    wanted = f"{message.read_version}-{message.uuid}.txn"
    name = PurePosixPath(source.path).name
    if name != wanted:
        ctx.lint("L.txn.file.name", ctx.at(0, source.size), found=name, wanted=wanted)
