"""Rewrite and ReserveFragments: the same rows in other fragments.

A compaction first reserves the ids of its new fragments by a version of its own, so that it can
write row addresses into indices before it commits; the rewrite then uses them.

Clauses: L.txn.op.reserve, L.txn.op.rewrite, L.txn.op.rewrite-index, L.table.fragments.order
"""

from __future__ import annotations

from lanceref.core.errors import CommitConflict, OperationRefused
from lanceref.transactions.index_entries import move_bitmaps, swap_rewritten, take_overlaid
from lanceref.transactions.manifest_builder import REUSE_INDEX, Making


def reserve_fragments(making: Making) -> None:
    """Raise the highest fragment id by a number."""
    count = making.transaction.reserve_fragments.num_fragments
    highest = making.message.max_fragment_id if making.message.HasField("max_fragment_id") else -1
    if highest + count >= 0:
        making.message.max_fragment_id = highest + count


def rewrite(making: Making) -> None:
    """Put the new fragments of each group in place of its old ones.

    Raises CommitConflict when an old one is gone, OperationRefused for new ones without row ids in
    a table that has them, or for a group that an index covers in part.
    """
    given, groups = making.transaction.rewrite, []
    take_overlaid(making)
    live = {one.id for one in making.message.fragments}
    for group in given.groups:
        old = [one.id for one in group.old_fragments]
        if not live.issuperset(old):
            version = making.message.version - 1
            raise CommitConflict("rewrite", "one without its fragments", version, retryable=False)
        new = making.new_ids(group.new_fragments)
        if making.stable and any(one.WhichOneof("row_id_sequence") is None for one in new):
            raise OperationRefused("rewritten fragments of a table with stable row ids have none")
        kept = (one for one in list(making.message.fragments) if one.id not in old)
        making.replace_fragments([*kept, *new])
        groups.append((old, [one.id for one in new]))
    if making.stable:
        move_bitmaps(making, groups, {one.old_id.uuid for one in given.rewritten_indices})
    swap_rewritten(making, given.rewritten_indices, groups)
    reuse = making.staged.reuse_index
    if reuse is not None:
        others = [one for one in making.indices if one.name != REUSE_INDEX]
        making.indices[:] = [*others, reuse]
