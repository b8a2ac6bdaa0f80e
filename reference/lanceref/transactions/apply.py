"""Next version: the manifest that a transaction makes out of the one before.

Clauses: L.table.naming.version, L.txn.op.known
"""

from __future__ import annotations

from collections.abc import Callable

from lanceref.core.errors import NotFound, OperationRefused
from lanceref.table.manifest import Manifest
from lanceref.transactions.add_rows import append, overwrite
from lanceref.transactions.change_rows import delete, update
from lanceref.transactions.index_entries import bring_forward, create_index
from lanceref.transactions.manifest_builder import Making, Past, Staged, begin, finish
from lanceref.transactions.migration import migrate
from lanceref.transactions.overlay import overlay
from lanceref.transactions.restore import restore
from lanceref.transactions.rewrite import reserve_fragments, rewrite
from lanceref.transactions.schema_operations import merge, project, replace_data
from lanceref.transactions.settings import update_bases, update_config, update_mem_wal

OPERATIONS: dict[str, Callable[[Making], None]] = {
    "append": append,
    "delete": delete,
    "overwrite": overwrite,
    "create_index": create_index,
    "rewrite": rewrite,
    "merge": merge,
    "restore": restore,
    "reserve_fragments": reserve_fragments,
    "update": update,
    "project": project,
    "update_config": update_config,
    "data_replacement": replace_data,
    "data_overlay": overlay,
    "update_mem_wal_state": update_mem_wal,
    "update_bases": update_bases,
}
"""What each operation does; a Clone makes a table of its own instead."""


def encode_next(
    before: Manifest | None, staged: Staged, past: Past, version: int | None = None
) -> bytes:
    """Return the manifest file of the version after `before`, of version 1 without one.

    `version` is the number of a detached version.

    Raises NotFound for an operation that needs a table, OperationRefused for one that cannot be
    applied, AppendRefused for files of 0.1 in a table of 2.x and the other way round.
    """
    name = staged.transaction.WhichOneof("operation") or ""
    if name not in OPERATIONS:
        raise OperationRefused(f"operation {name!r} makes no next version")
    if before is None and name != "overwrite":
        raise NotFound("only Overwrite creates a table")
    making = begin(before, staged, past)
    bring_forward(making.indices)
    if version is not None:
        making.message.version = version
    OPERATIONS[name](making)
    migrate(making)
    return finish(making)
