"""Restore: an older version's content as the newest version.

Fragments, schema, indices, settings and bases are those of the older version; what may never go
back stays: the highest fragment id, the next row id and the flags that stay set.

Clauses: L.txn.op.restore, L.table.fragments.max-id, L.table.row-ids.next, L.table.flags.sticky
"""

from __future__ import annotations

from lanceref.proto import table_pb2
from lanceref.transactions.manifest_builder import Making


def restore(making: Making) -> None:
    """Put the content of an older version in place. Raises VersionNotFound."""
    old = making.past.manifest(making.transaction.restore.version)
    latest, message = making.message, table_pb2.Manifest()
    message.CopyFrom(old.message)
    message.version = latest.version
    message.next_row_id = max(message.next_row_id, latest.next_row_id)
    if latest.HasField("branch"):
        message.branch = latest.branch
    making.message = message
    making.indices = list(old.indices)
    making.dictionaries = dict(old.dictionaries)
    if latest.HasField("max_fragment_id"):
        making.note_id(latest.max_fragment_id)
