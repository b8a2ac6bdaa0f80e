"""Conflicts: whether a transaction can be committed after another one.

Ours was made from an older version; theirs was committed since. Either both stand, or ours must be
made again from the newer version (retryable), or cannot stand at all (incompatible).

Clauses: L.txn.conflict.append, L.txn.conflict.overwrite, L.txn.conflict.unknown
"""

from __future__ import annotations

from lanceref.errors import CommitConflict
from lanceref.proto.transaction_pb2 import Transaction

REPLACING = ("overwrite", "restore")
"""Operations after which the table is another one."""

RESHAPING = ("merge", "project")
"""Operations after which the schema is another one."""


def operation_of(transaction: Transaction | None) -> str:
    """Return the name of the operation in the message, empty when there is none we know."""
    return "" if transaction is None else transaction.WhichOneof("operation") or ""


def check_conflict(ours: Transaction, theirs: Transaction | None, version: int) -> None:
    """Refuse an Append or Overwrite that cannot follow `theirs` of `version`.

    Raises CommitConflict; `theirs` is None when nobody can tell what that version did.
    """
    own, other = operation_of(ours), operation_of(theirs)
    if not other:
        raise CommitConflict(own, "an unknown operation", version, retryable=False)
    if own == "overwrite":
        if other == "overwrite":
            raise CommitConflict(own, other, version, retryable=True)
    elif other in REPLACING:
        raise CommitConflict(own, other, version, retryable=False)
    elif other in RESHAPING:
        raise CommitConflict(own, other, version, retryable=True)
